"""Specifications of studies, without a database: their fields, defaults and canonical form."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

from correlations.errors import StudyRefused, refuse_all
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.units import USUAL, Orientation, Remainder
from metrics.scoring.metric import Metric
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.settings import SHARED
from metrics.scoring.texts import TOKENIZERS
from metrics.subsets import Subset


class Option(NamedTuple):
    """A value of a field, as forms label it and as it reads within the methods paragraph."""

    label: str
    sentence: str


ORIENTATIONS = {
    "both": Option(
        "Both: every difference with its mirror image",
        ", entered together with its mirror image so that the order of a pair's systems is without effect",
    ),
    "fixed": Option("Fixed: pairs as listed", ""),
    "random": Option("Random sign for each unit", ", its sign drawn at random"),
}
REMAINDERS = {
    "keep": Option("Keep it", "the last, shorter one kept"),
    "drop": Option("Drop it", "a last, shorter one dropped"),
}
COMPARED = {
    "best": "Rows with the same references, and the best rows of all metrics",
    "all": "Every two rows",
}
ORDER = "max_order"  # the parameter of n-gram metrics that the order sweep varies
POOLS = "whose score is over all outputs as one pool, which no unit's sums can give"
# In a stored specification: which ratings and outputs it named. Not part of the request, so ignored when read.
NAMED = "named"
# Within it: the raters who were excluded in the campaigns at the study's creation, by their place among the project's
# raters; absent if there was none.
WITHOUT_RATERS = "without_raters"
SEEN = "seen"  # by trained model: how many of the outputs it was trained on, and of how many
# In a stored specification, not in its signature: the id of the newest rating that existed, in this database.
LAST_RATING = "last_rating_id"
SCHEMA = "$schema"  # by which editors find the schema of a specification
NOT_REQUESTED = {
    NAMED: "In a stored specification: hashes of what was named. Ignored when it is read.",
    LAST_RATING: "In a stored specification: the newest rating that existed. Ignored when it is read.",
    SCHEMA: "The address of this schema, for editors. Ignored when it is read.",
}


@dataclass(frozen=True, kw_only=True)
class StudySpecification:
    """What studies of both kinds specify, and how it is checked.

    Without a release the references are the data set's own; metrics that read weights cannot be used then.
    """

    campaigns: tuple[str, ...]
    systems: tuple[str, ...]
    release: str = ""
    criteria: tuple[str, ...] = ()
    bootstrap: int = 500
    seed: int

    NEEDED: ClassVar[tuple[str, ...]] = ("campaigns", "systems")
    TEXTS: ClassVar[tuple[str, ...]] = ("release",)
    NAME_LISTS: ClassVar[tuple[str, ...]] = ("campaigns", "systems", "criteria")
    FITTED: ClassVar[tuple[str, ...]] = ()  # fields that may be left out until the data are known
    LIMITS: ClassVar[dict[str, tuple[int, int]]] = {"bootstrap": (0, 10_000), "seed": (0, 2**63 - 1)}
    MEANINGS: ClassVar[dict[str, str]] = {  # of the fields, for the API, the schema and the documents
        "campaigns": "Whose ratings of the systems count.",
        "systems": "The hypotheses.",
        "release": "A finished release: `reference-set/v2`, or its newest: `reference-set`. Without one the references "
        "are the data set's own, and metrics that read weights cannot be used.",
        "criteria": "By default all that the campaigns share.",
        "bootstrap": "Replicates of each interval; 0 for none.",
        "seed": "Every random choice follows from it.",
    }

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """Check types and ranges, and fill in defaults; the error names all problems at once."""
        known = sorted(field.name for field in fields(cls))
        given = {name: value for name, value in given.items() if name not in NOT_REQUESTED}
        problems = {name: [f"found; accepted: {', '.join(known)}"] for name in given if name not in known}
        problems |= {name: ["found nothing; it is needed"] for name in cls.NEEDED if not given.get(name)}
        refuse_all(problems | cls._shape_problems(given))
        specification = cls(**cls._converted({name: _tupled(value) for name, value in given.items()}))
        refuse_all(specification._problems())
        return specification._completed()

    @classmethod
    def _shape_problems(cls, given: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return problems of fields whose type the further checks cannot read."""
        problems = {}
        for name in cls.TEXTS:
            if not isinstance(given.get(name, ""), str):
                problems[name] = [f"found {given[name]!r}; accepted: text"]
        for name in cls.NAME_LISTS:
            listed = given.get(name, [])
            if not isinstance(listed, list | tuple) or any(not isinstance(entry, str) for entry in listed):
                problems[name] = [f"found {listed!r}; accepted: a list of names"]
        return problems

    @classmethod
    def _converted(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values of fields, of which some may be written in several ways."""
        return values

    def _problems(self) -> dict[str, list[str]]:
        problems: dict[str, list[str]] = {}
        for name, (low, high) in self.LIMITS.items():
            value = getattr(self, name)
            if value is None and name in self.FITTED:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                problems[name] = [f"found {value!r}; accepted: a whole number from {low} to {high}"]
        for name in self.NAME_LISTS:
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                problems[name] = ["found a name twice; accepted: each once"]
        return problems

    def _completed(self) -> Self:
        """Return the canonical form, which lists every value, so that it does not depend on defaults."""
        campaigns, systems, criteria = (tuple(sorted(names)) for names in (self.campaigns, self.systems, self.criteria))
        return replace(self, campaigns=campaigns, systems=systems, criteria=criteria)

    @classmethod
    def requested(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return a stored specification as it can be requested anywhere, without what it named."""
        return {name: value for name, value in stored.items() if name not in NOT_REQUESTED}

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data, which ``from_mapping`` reads."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


@dataclass(frozen=True, kw_only=True)
class Specification(StudySpecification):
    """A study. ``metrics`` holds registry names, or mappings with a name and parameters; ``subsets`` as written.

    ``coefficients`` holds keys; the first leads: sweeps and comparisons of metrics are of it. ``pairs`` and
    ``unit_size`` may be left out until the data are known.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    metrics: tuple[dict[str, Any], ...] = ()
    subsets: tuple[str, ...] = ()
    sweep_subset: str = ""
    order: int = 2
    tokenize: str = "whitespace"
    lowercase: bool = True
    unit_size: int | None = None  # the usual size, or one that fits the data, once the study is created
    assignments: int = 1000
    orientation: Orientation = "both"
    remainder: Remainder = "keep"
    sweeps: bool = True
    sensitivity: bool = False
    compare: str = "best"
    coefficients: tuple[str, ...] = USUAL
    seed: int = 20150726

    TEXTS: ClassVar = ("release", "sweep_subset")
    NAME_LISTS: ClassVar = (*StudySpecification.NAME_LISTS, "subsets", "coefficients")
    FITTED: ClassVar = ("unit_size",)
    # By default, with and without a release.
    USUAL_METRICS: ClassVar = {True: ("bleu", "sbleu", "delta_bleu"), False: ("bleu", "sbleu")}
    USUAL_SUBSETS: ClassVar = {True: ("original", "w>0", "all"), False: ("all",)}
    CHOICES: ClassVar = {
        "orientation": ORIENTATIONS,
        "remainder": REMAINDERS,
        "tokenize": TOKENIZERS,
        "compare": COMPARED,
    }
    LIMITS: ClassVar = StudySpecification.LIMITS | {
        "order": (1, 4),
        "unit_size": (1, 100_000),
        "assignments": (1, 10_000),
    }
    MEANINGS: ClassVar = StudySpecification.MEANINGS | {
        "systems": "The hypotheses, two or more.",
        "pairs": "By default all pairs of systems that share rated items.",
        "metrics": "A name, a name with parameters, or the run that holds imported scores.",
        "subsets": "References, one row of the table each: original, all, w>0, w>=0.6, …",
        "sweep_subset": "References of the sweeps; by default the last of the subsets.",
        "order": "Longest n-gram, of every metric that sets no other.",
        "tokenize": "How texts are split into tokens, for every metric that sets nothing else.",
        "lowercase": "Whether texts are lowercased first, for every metric that sets nothing else.",
        "unit_size": "Items of an observation unit; by default 100, or fewer if the items are few.",
        "assignments": "Random assignments of items to units.",
        "orientation": "Which of a pair's two differences count: both, fixed or random.",
        "remainder": "A last, shorter unit: keep or drop.",
        "sweeps": "Whether thresholds, orders and unit sizes are swept.",
        "sensitivity": "Whether to compute how many raters were needed, too; takes longer.",
        "compare": "best: rows with the same references, and the best rows of all metrics; all: every two rows.",
        "coefficients": f"Of {', '.join(COEFFICIENTS)}; the first leads sweeps and comparisons. "
        f"By default {', '.join(USUAL)}.",
    }

    @classmethod
    def _shape_problems(cls, given: Mapping[str, Any]) -> dict[str, list[str]]:
        problems = super()._shape_problems(given)
        for name in ("pairs", "metrics"):
            if not isinstance(given.get(name, []), list | tuple):
                problems[name] = [f"found {given[name]!r}; accepted: a list"]
        for entry in given.get("metrics", []) if "metrics" not in problems else []:
            if not is_metric(entry):
                problems["metrics"] = [f"found {entry!r}; accepted: a name, or a mapping with name and parameters"]
        if "subsets" in given and not given["subsets"]:
            problems["subsets"] = ["found none; accepted: original, all, or a threshold such as w>0"]
        if "metrics" in given and not given["metrics"]:
            problems["metrics"] = [f"found none; accepted: {', '.join(METRICS)}"]
        return problems

    @classmethod
    def _converted(cls, values: dict[str, Any]) -> dict[str, Any]:
        weighted = bool(values.get("release"))
        return {
            **values,
            "metrics": tuple(map(metric_entry, values.get("metrics", cls.USUAL_METRICS[weighted]))),
            "subsets": values.get("subsets", cls.USUAL_SUBSETS[weighted]),
        }

    def _problems(self) -> dict[str, list[str]]:
        problems = super()._problems()
        for name, accepted in self.CHOICES.items():
            if getattr(self, name) not in accepted:
                problems[name] = [f"found {getattr(self, name)!r}; accepted: {', '.join(accepted)}"]
        for name in ("lowercase", "sweeps", "sensitivity"):
            if not isinstance(getattr(self, name), bool):
                problems[name] = [f"found {getattr(self, name)!r}; accepted: true or false"]
        if not self.coefficients or not set(self.coefficients) <= set(COEFFICIENTS):
            problems["coefficients"] = [f"found {list(self.coefficients)}; accepted: {', '.join(COEFFICIENTS)}"]
        return problems | self._pair_problems() if "systems" not in problems else problems

    def _pair_problems(self) -> dict[str, list[str]]:
        if len(self.systems) < 2:
            return {"systems": [f"found {len(self.systems)}; accepted: two or more, since pairs are compared"]}
        unordered = set()
        for pair in self.pairs:
            if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
                return {"pairs": [f"found {pair!r}; accepted: two different systems"]}
            unknown = [name for name in pair if name not in self.systems]
            if unknown:
                return {"pairs": [f"found {unknown[0]!r}; accepted: {', '.join(self.systems)}"]}
            if frozenset(pair) in unordered:
                return {"pairs": [f"found {' – '.join(pair)} twice; accepted: each pair once"]}
            unordered.add(frozenset(pair))
        return {}

    def _completed(self) -> Self:
        specification = super()._completed()
        subsets = tuple(str(subset) for subset in self.built_subsets())
        metrics = tuple({"name": metric.name, "parameters": metric.parameters()} for metric in self.built_metrics())
        return replace(
            specification,
            metrics=metrics,
            subsets=subsets,
            sweep_subset=str(self.built_sweep_subset) if self.sweep_subset else subsets[-1],
        )

    def built_metrics(self) -> list[Metric]:
        """Return the metrics, with the study's shared parameters."""
        metrics = [self._built(entry) for entry in self.metrics]
        for metric in metrics:
            if metric.pools:
                raise StudyRefused.of("metrics", f"{metric.name}: found a metric {POOLS}; accepted: others")
        if len(set(metrics)) < len(metrics):
            raise StudyRefused.of("metrics", "found one metric twice with equal parameters; accepted: each once")
        return metrics

    def metrics_at_order(self, order: int) -> list[Metric]:
        """Return the metrics that have a longest n-gram, at this order, without duplicates."""
        metrics = [metric for metric in self.built_metrics() if ORDER in metric.parameters()]
        return list(dict.fromkeys(get_metric(each.name, **(each.parameters() | {ORDER: order})) for each in metrics))

    def built_rows(self) -> list[tuple[Metric, Subset]]:
        """Return the table's rows: every metric with every subset; a metric without references once."""
        whole = self._subset("all")
        return [
            (metric, subset)
            for metric in self.built_metrics()
            for subset in (self.built_subsets() if metric.needs_references else [whole])
        ]

    def _built(self, entry: Mapping[str, Any]) -> Metric:
        name, parameters = entry.get("name", ""), entry_parameters(entry)
        known = {parameter.name for parameter in METRICS[name].parameter_list()} if name in METRICS else set()
        shared = {key: getattr(self, field) for key, field in SHARED.items() if key in known}
        return build_metric("metrics", name, shared | parameters)

    def _subset(self, text: str) -> Subset:
        return parse_subset("subsets", text)

    def built_subsets(self) -> list[Subset]:
        return [self._subset(text) for text in self.subsets]

    @property
    def built_sweep_subset(self) -> Subset:
        return self._subset(self.sweep_subset)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data, which ``from_mapping`` reads.

        The usual coefficients are not part of a signature, nor is a sensitivity that is not computed.
        """
        plain = super().as_dict()
        if not self.sensitivity:
            del plain["sensitivity"]
        if self.coefficients == USUAL:
            del plain["coefficients"]
        return plain


def is_metric(entry: object) -> bool:
    """Return whether an entry has the shape of a metric: a name, or a mapping with a name and parameters."""
    if isinstance(entry, Mapping):
        return isinstance(entry.get("parameters", {}), Mapping)
    return isinstance(entry, str)


def metric_entry(written: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"name": written} if isinstance(written, str) else dict(written)


def entry_parameters(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a metric's parameters, which may also be written beside its name."""
    beside = {name: value for name, value in entry.items() if name not in ("name", "parameters")}
    return {**entry.get("parameters", {}), **beside}


def build_metric(field: str, name: str, parameters: Mapping[str, Any]) -> Metric:
    try:
        return get_metric(name, **parameters)
    except ValueError as error:
        raise StudyRefused.of(field, str(error)) from error


def parse_subset(field: str, text: str) -> Subset:
    try:
        return Subset.parse(text)
    except ValueError as error:
        raise StudyRefused.of(field, str(error).removeprefix("subset: ")) from error


def _tupled(value: Any) -> Any:
    return tuple(_tupled(entry) for entry in value) if isinstance(value, list | tuple) else value
