"""A study's specification, without a database: its fields, defaults and canonical form."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from typing import Any, Self

from correlations.errors import StudyRefused, refuse_all
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.sampled_units import USUAL
from metrics.scoring.metric import Metric
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.texts import TOKENIZERS
from metrics.subsets import Subset

ORIENTATIONS = ("both", "fixed", "random")
REMAINDERS = ("keep", "drop")
LIMITS = {
    "order": (1, 4),
    "unit_size": (1, 100_000),
    "assignments": (1, 10_000),
    "bootstrap": (0, 10_000),
    "seed": (0, 2**63 - 1),
}
ORDER = "max_order"  # the parameter of n-gram metrics that the order sweep turns
POOLS = "whose score is over all outputs as one pool, which no unit's sums can give"
# In a stored specification: which ratings and outputs it named. Not part of what is asked, so ignored when read.
NAMED = "named"
# Within it: ids of the raters who were excluded in the campaigns when the study was asked for; absent where none was.
WITHOUT_RATERS = "without_raters"


@dataclass(frozen=True)
class Specification:
    """A study. ``metrics`` holds registry names, or mappings with a name and parameters; ``subsets`` as written.

    ``coefficients`` holds keys; the first leads: sweeps and comparisons of metrics are of it.
    """

    release: str
    campaigns: tuple[str, ...]
    systems: tuple[str, ...]
    criteria: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    metrics: tuple[dict[str, Any], ...] = ({"name": "bleu"}, {"name": "sbleu"}, {"name": "delta_bleu"})
    subsets: tuple[str, ...] = ("original", "w>0", "all")
    sweep_subset: str = ""
    order: int = 2
    tokenize: str = "whitespace"
    lowercase: bool = True
    unit_size: int = 100
    assignments: int = 1000
    orientation: str = "both"
    remainder: str = "keep"
    bootstrap: int = 500
    sweeps: bool = True
    coefficients: tuple[str, ...] = USUAL
    seed: int = 20150726

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """Check types and ranges, and fill in defaults; the error names all problems at once."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in given.items() if name != NAMED}
        problems: dict[str, list[str]] = {
            name: [f"found; accepted: {', '.join(sorted(known))}"] for name in given if name not in known
        }
        for name in ("release", "campaigns", "systems"):
            if not given.get(name):
                problems[name] = ["found nothing; it is needed"]
        refuse_all(problems | _shape_problems(given))
        values = {name: _tupled(value) for name, value in given.items()}
        values["metrics"] = tuple(
            {"name": entry} if isinstance(entry, str) else dict(entry) for entry in values.get("metrics", cls.metrics)
        )
        specification = cls(**values)
        refuse_all(specification._problems())
        return specification._completed()

    def _problems(self) -> dict[str, list[str]]:
        problems: dict[str, list[str]] = {}
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                problems[name] = [f"found {value!r}; accepted: a whole number from {low} to {high}"]
        for name, accepted in (
            ("orientation", ORIENTATIONS),
            ("remainder", REMAINDERS),
            ("tokenize", TOKENIZERS),
        ):
            if getattr(self, name) not in accepted:
                problems[name] = [f"found {getattr(self, name)!r}; accepted: {', '.join(accepted)}"]
        for name in ("lowercase", "sweeps"):
            if not isinstance(getattr(self, name), bool):
                problems[name] = [f"found {getattr(self, name)!r}; accepted: true or false"]
        for name in ("campaigns", "systems", "criteria", "subsets", "coefficients"):
            listed = getattr(self, name)
            if not isinstance(listed, tuple) or any(not isinstance(entry, str) for entry in listed):
                problems[name] = [f"found {listed!r}; accepted: a list of names"]
            elif len(set(listed)) < len(listed):
                problems[name] = ["found a name twice; accepted: each once"]
        if "coefficients" not in problems and (
            not self.coefficients or not set(self.coefficients) <= set(COEFFICIENTS)
        ):
            problems["coefficients"] = [f"found {list(self.coefficients)}; accepted: {', '.join(COEFFICIENTS)}"]
        if "systems" not in problems:
            problems |= self._pair_problems()
        return problems

    def _pair_problems(self) -> dict[str, list[str]]:
        if len(self.systems) < 2:
            return {"systems": [f"found {len(self.systems)}; accepted: two or more, since pairs are compared"]}
        seen = set()
        for pair in self.pairs:
            if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
                return {"pairs": [f"found {pair!r}; accepted: two different systems"]}
            unknown = [name for name in pair if name not in self.systems]
            if unknown:
                return {"pairs": [f"found {unknown[0]!r}; accepted: {', '.join(self.systems)}"]}
            if frozenset(pair) in seen:
                return {"pairs": [f"found {' – '.join(pair)} twice; accepted: each pair once"]}
            seen.add(frozenset(pair))
        return {}

    def _completed(self) -> Self:
        """Return the canonical form, which lists every value, so that it does not depend on defaults."""
        systems = tuple(sorted(self.systems))
        subsets = tuple(str(self._subset(text)) for text in self.subsets)
        values = {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "systems": systems,
            "pairs": tuple((a, b) for a, b in self.pairs) or tuple(combinations(systems, 2)),
            "metrics": tuple({"name": m.name, "parameters": m.parameters()} for m in self.built_metrics()),
            "subsets": subsets,
            "sweep_subset": str(self._subset(self.sweep_subset)) if self.sweep_subset else subsets[-1],
            "campaigns": tuple(sorted(self.campaigns)),
            "criteria": tuple(sorted(self.criteria)),
        }
        if not values["metrics"]:
            raise StudyRefused.of("metrics", f"found none; accepted: {', '.join(METRICS)}")
        return type(self)(**values)

    def built_metrics(self) -> list[Metric]:
        """Return the metrics, with the study's shared parameters."""
        built = [self._built(entry) for entry in self.metrics]
        for metric in built:
            if metric.pools:
                raise StudyRefused.of("metrics", f"{metric.name}: found a metric {POOLS}; accepted: others")
        if len(set(built)) < len(built):
            raise StudyRefused.of("metrics", "found one metric twice with equal parameters; accepted: each once")
        return built

    def metrics_at_order(self, order: int) -> list[Metric]:
        """Return the metrics that have a longest n-gram, at this order, without duplicates."""
        built = [metric for metric in self.built_metrics() if ORDER in metric.parameters()]
        return list(dict.fromkeys(get_metric(each.name, **(each.parameters() | {ORDER: order})) for each in built))

    def built_rows(self) -> list[tuple[Metric, Subset]]:
        """Return the table's rows: every metric with every subset; a metric without references once."""
        whole = self._subset("all")
        return [
            (metric, subset)
            for metric in self.built_metrics()
            for subset in (self.built_subsets() if metric.needs_references else [whole])
        ]

    def _built(self, entry: Mapping[str, Any]) -> Metric:
        name = entry.get("name", "")
        parameters = {
            **entry.get("parameters", {}),
            **{k: v for k, v in entry.items() if k not in ("name", "parameters")},
        }
        shared = self._shared_parameters(name)
        for key in shared:
            # Texts are split alike for all metrics; a metric may set only its longest n-gram.
            if key != ORDER and parameters.get(key, shared[key]) != shared[key]:
                message = f"{name}: found {key} {parameters[key]!r}; accepted: the study's own, {shared[key]!r}"
                raise StudyRefused.of("metrics", message)
        try:
            return get_metric(name, **(shared | parameters))
        except ValueError as error:
            raise StudyRefused.of("metrics", str(error)) from error

    def _shared_parameters(self, metric: str) -> dict[str, Any]:
        """Return the study's shared parameters that this metric has."""
        known = {parameter.name for parameter in METRICS[metric].parameter_list()} if metric in METRICS else set()
        shared = {ORDER: self.order, "tokenize": self.tokenize, "lowercase": self.lowercase}
        return {name: value for name, value in shared.items() if name in known}

    def _subset(self, text: str) -> Subset:
        try:
            return Subset.parse(text, items="positive")
        except ValueError as error:
            raise StudyRefused.of("subsets", str(error).removeprefix("subset: ")) from error

    def built_subsets(self) -> list[Subset]:
        return [self._subset(text) for text in self.subsets]

    @property
    def built_sweep_subset(self) -> Subset:
        return self._subset(self.sweep_subset)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON; ``from_mapping`` reads it back. The usual coefficients are not part of a signature."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        if self.coefficients == USUAL:
            del plain["coefficients"]
        return plain


def _shape_problems(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return problems of fields whose type the further checks cannot read."""
    problems = {}
    for name in ("release", "sweep_subset"):
        if not isinstance(given.get(name, ""), str):
            problems[name] = [f"found {given[name]!r}; accepted: text"]
    for name in ("campaigns", "systems", "criteria", "pairs", "metrics", "subsets", "coefficients"):
        if not isinstance(given.get(name, []), list | tuple):
            problems[name] = [f"found {given[name]!r}; accepted: a list"]
    for entry in given.get("metrics", []) if "metrics" not in problems else []:
        parameters = entry.get("parameters", {}) if isinstance(entry, Mapping) else {}
        if not isinstance(entry, str | Mapping) or not isinstance(parameters, Mapping):
            problems["metrics"] = [f"found {entry!r}; accepted: a name, or a mapping with name and parameters"]
    if "subsets" in given and not given["subsets"]:
        problems["subsets"] = ["found none; accepted: original, all, or a threshold such as w>0"]
    return problems


def _tupled(value: Any) -> Any:
    return tuple(_tupled(entry) for entry in value) if isinstance(value, list | tuple) else value
