"""A parameter study's specification: a metric, the parameters to vary, and their values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from correlations.errors import StudyRefused, refuse_all
from correlations.specification import NAMED
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.system_level import USUAL
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import get_metric
from metrics.scoring.written import read_value
from metrics.subsets import Subset

LIMITS = {"bootstrap": (0, 10_000), "halves": (0, 5000), "seed": (0, 2**63 - 1)}
MAX_VALUES = 200
MAX_SWEEPS = 6
# Dimensions worth a look, of any space; a model's own number of them is added.
DIMENSIONS = (
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    12,
    15,
    20,
    25,
    30,
    40,
    50,
    60,
    80,
    100,
    150,
    200,
    300,
    400,
    500,
    700,
    1000,
    1500,
    2000,
)
NUMBERS = ("whole", "real")


@dataclass(frozen=True)
class ParameterSpecification:
    """A study of one metric's parameters. ``sweeps`` holds mappings with ``parameter`` and ``values``."""

    release: str
    campaigns: tuple[str, ...]
    systems: tuple[str, ...]
    metric: dict[str, Any]
    criteria: tuple[str, ...] = ()
    subset: str = "all"
    sweeps: tuple[dict[str, Any], ...] = ()
    coefficient: str = "pearson"
    choose_on: str = ""
    judge_on: str = ""
    bootstrap: int = 500
    halves: int = 200
    seed: int = 20190501

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """Check types and ranges, and fill in defaults; the error names all problems at once."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in given.items() if name != NAMED}
        problems = {name: [f"found; accepted: {', '.join(sorted(known))}"] for name in given if name not in known}
        for name in ("release", "campaigns", "systems", "metric"):
            if not given.get(name):
                problems[name] = ["found nothing; it is needed"]
        refuse_all(problems | _shape_problems(given))
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
        }
        if isinstance(values["metric"], str):
            values["metric"] = {"name": values["metric"]}
        specification = cls(**values)
        refuse_all(specification._problems())
        return specification._completed()

    def _problems(self) -> dict[str, list[str]]:
        problems: dict[str, list[str]] = {}
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                problems[name] = [f"found {value!r}; accepted: a whole number from {low} to {high}"]
        for name in ("campaigns", "systems", "criteria"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                problems[name] = ["found a name twice; accepted: each once"]
        if len(self.systems) < 3 and "systems" not in problems:
            problems["systems"] = [f"found {len(self.systems)}; accepted: three or more, to correlate over them"]
        if self.coefficient not in COEFFICIENTS:
            problems["coefficient"] = [f"found {self.coefficient!r}; accepted: {', '.join(COEFFICIENTS)}"]
        if bool(self.choose_on) != bool(self.judge_on) or (self.choose_on and self.choose_on == self.judge_on):
            problems["judge_on"] = [
                "found one split; accepted: two different ones, to choose on and to judge on, or none"
            ]
        if len(self.sweeps) > MAX_SWEEPS:
            problems["sweeps"] = [f"found {len(self.sweeps)}; accepted: up to {MAX_SWEEPS}"]
        return problems

    def _completed(self) -> Self:
        metric = self.built_metric()
        if metric.name == External.name:
            raise StudyRefused.of("metric", "found scores made elsewhere; accepted: a metric that is computed here")
        sweeps = tuple(_checked_sweep(metric, sweep) for sweep in self.sweeps)
        if len({sweep["parameter"] for sweep in sweeps}) < len(sweeps):
            raise StudyRefused.of("sweeps", "found a parameter twice; accepted: each once")
        return replace(
            self,
            campaigns=tuple(sorted(self.campaigns)),
            systems=tuple(sorted(self.systems)),
            criteria=tuple(sorted(self.criteria)),
            metric={"name": metric.name, "parameters": metric.parameters()},
            subset=str(self.built_subset),
            sweeps=sweeps,
        )

    def built_metric(self, **changes: Any) -> Metric:
        """Return the metric at its values in use, with some changed."""
        parameters = {name: value for name, value in self.metric.items() if name not in ("name", "parameters")}
        try:
            name = self.metric.get("name", "")
            return get_metric(name, **{**self.metric.get("parameters", {}), **parameters, **changes})
        except ValueError as error:
            raise StudyRefused.of("metric", str(error)) from error

    @property
    def coefficients(self) -> tuple[str, ...]:
        """Return the keys of the usual coefficients, and of the one that decides which value is best."""
        return tuple(dict.fromkeys((*USUAL, self.coefficient)))

    @property
    def built_subset(self) -> Subset:
        try:
            return Subset.parse(self.subset)
        except ValueError as error:
            raise StudyRefused.of("subset", str(error).removeprefix("subset: ")) from error

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data, which ``from_mapping`` reads."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def parameter_named(metric: Metric, name: object) -> Parameter:
    """Return the metric's parameter by its name or its key in signatures."""
    for parameter in metric.parameter_list():
        if name in (parameter.name, parameter.key):
            return parameter
    accepted = ", ".join(parameter.name for parameter in metric.parameter_list()) or "none, it has no parameter"
    raise StudyRefused.of("sweeps", f"{metric.name}: found parameter {name!r}; accepted: {accepted}")


def with_own_value(metric: Metric, name: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values and the value in use, without duplicates; numbers in rising order."""
    parameter = parameter_named(metric, name)
    in_use = getattr(metric, parameter.name)
    all_values = list(dict.fromkeys([*values, in_use] if in_use is not None else values))
    return tuple(sorted(all_values) if parameter.kind in NUMBERS else all_values)


def usual_values(parameter: Parameter, limit: int | None = None) -> tuple[Any, ...]:
    """Return values to try by default; ``limit`` is the maximum of a trained model.

    >>> from metrics.scoring.am_fm import AmFm
    >>> k, balance = (each for each in AmFm.parameter_list() if each.name in ("k", "balance"))
    >>> usual_values(k, 12)
    (1, 2, 3, 4, 5, 6, 8, 10, 12)
    >>> usual_values(balance)[:4]
    (0.0, 0.1, 0.2, 0.3)
    """
    if parameter.kind == "flag":
        return (False, True)
    if parameter.kind == "choice":
        return parameter.choices
    if parameter.kind == "whole":
        return _whole_numbers(parameter, limit)
    if parameter.kind == "real":
        return _numbers(parameter)
    return ()


def _whole_numbers(parameter: Parameter, limit: int | None) -> tuple[int, ...]:
    low, high = max(parameter.low, 0), parameter.high if limit is None else min(parameter.high, limit)
    if high - low < 12:
        return tuple(range(int(low), int(high) + 1))
    within = [number for number in DIMENSIONS if low <= number <= high]
    return tuple(sorted({*within, limit} if limit is not None else within))


def _numbers(parameter: Parameter) -> tuple[float, ...]:
    if (parameter.low, parameter.high) == (0, 1):
        return tuple(step / 10 for step in range(11))
    default = float(parameter.default or 1)
    factors = (0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)
    return tuple(round(default * by, 6) for by in factors if parameter.low <= default * by <= parameter.high)


def read_values(parameter: Parameter, written: str) -> tuple[Any, ...]:
    """Read values as people write them: ``1, 2, 5`` or, for numbers, ``0..1 by 0.1``.

    >>> from metrics.scoring.am_fm import AmFm
    >>> balance = AmFm.parameter_list()[0]
    >>> read_values(balance, "0..1 by 0.25")
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    values: list[Any] = []
    for part in filter(None, map(str.strip, written.split(","))):
        ends, _, step = part.partition(" by ")
        low, dots, high = ends.partition("..")
        if not dots or parameter.kind not in NUMBERS:
            values.append(read_value(parameter, part))
            continue
        try:
            first, last, by = float(low), float(high), float(step or 1)
        except ValueError as error:
            raise ValueError(f"{parameter.name}: found {part!r}; accepted: such as 0..1 by 0.1") from error
        if not by > 0 or not last >= first or (last - first) / by > MAX_VALUES:
            raise ValueError(f"{parameter.name}: found {part!r}; accepted: up to {MAX_VALUES} rising steps")
        steps = [round(first + by * n, 9) for n in range(int((last - first) / by + 1e-9) + 1)]
        values += [int(number) if parameter.kind == "whole" and number.is_integer() else number for number in steps]
    return tuple(values)


def _checked_sweep(metric: Metric, sweep: Mapping[str, Any]) -> dict[str, Any]:
    parameter = parameter_named(metric, sweep.get("parameter"))
    values = tuple(dict.fromkeys(sweep.get("values") or ()))
    for value in values:
        try:
            parameter.check(value)
            get_metric(metric.name, **(metric.parameters() | {parameter.name: value}))
        except ValueError as error:
            raise StudyRefused.of("sweeps", str(error)) from error
    if len(values) > MAX_VALUES:
        raise StudyRefused.of("sweeps", f"{parameter.name}: found {len(values)} values; accepted: up to {MAX_VALUES}")
    return {"parameter": parameter.name, "values": values}


def _shape_problems(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return problems of fields whose type the further checks cannot read."""
    problems = {}
    for name in ("release", "subset", "coefficient", "choose_on", "judge_on"):
        if not isinstance(given.get(name, ""), str):
            problems[name] = [f"found {given[name]!r}; accepted: text"]
    for name in ("campaigns", "systems", "criteria"):
        listed = given.get(name, [])
        if not isinstance(listed, list | tuple) or any(not isinstance(entry, str) for entry in listed):
            problems[name] = [f"found {listed!r}; accepted: a list of names"]
    metric = given.get("metric", "")
    parameters = metric.get("parameters", {}) if isinstance(metric, Mapping) else {}
    if not isinstance(metric, str | Mapping) or not isinstance(parameters, Mapping):
        problems["metric"] = [f"found {metric!r}; accepted: a name, or a mapping with name and parameters"]
    sweeps = given.get("sweeps", [])
    if not isinstance(sweeps, list | tuple) or any(_is_no_sweep(sweep) for sweep in sweeps):
        problems["sweeps"] = [f"found {sweeps!r}; accepted: a list of mappings with parameter and values"]
    return problems


def _is_no_sweep(sweep: Any) -> bool:
    if not isinstance(sweep, Mapping) or not set(sweep) <= {"parameter", "values"}:
        return True
    values = sweep.get("values", [])
    if not isinstance(sweep.get("parameter"), str) or not isinstance(values, list | tuple):
        return True
    return any(not isinstance(value, str | int | float | bool) for value in values)
