"""A parameter study's specification: a metric, the parameters to vary, and their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from correlations import specification
from correlations.errors import StudyRefused
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.system_level import USUAL
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import get_metric
from metrics.scoring.written import read_value
from metrics.subsets import Subset

MAX_VALUES = 200
MAX_SWEEPS = 6
# Dimensions worth a look, of any space; the number of a model's dimensions is added.
DIMENSIONS = (*range(1, 7), 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500, 700)
DIMENSIONS += (1000, 1500, 2000)
NUMBERS = ("whole", "real")
# Varied like a parameter of the metric: which references of a release it reads.
SUBSET = Parameter("subset", "refs", "References", "text", "all", hint="Of a release: all, original or a threshold.")


@dataclass(frozen=True, kw_only=True)
class ParameterSpecification(specification.StudySpecification):
    """A study of one metric's parameters. ``sweeps`` holds mappings with ``parameter`` and ``values``."""

    metric: dict[str, Any]
    subset: str = "all"
    sweeps: tuple[dict[str, Any], ...] = ()
    coefficient: str = "pearson"
    choose_on: str = ""
    judge_on: str = ""
    halves: int = 200
    seed: int = 20190501

    NEEDED: ClassVar = (*specification.StudySpecification.NEEDED, "metric")
    TEXTS: ClassVar = ("release", "subset", "coefficient", "choose_on", "judge_on")
    LIMITS: ClassVar = specification.StudySpecification.LIMITS | {"halves": (0, 5000)}

    @classmethod
    def _shape_problems(cls, given: Mapping[str, Any]) -> dict[str, list[str]]:
        problems = super()._shape_problems(given)
        metric, sweeps = given.get("metric", ""), given.get("sweeps", [])
        if not specification.is_metric(metric):
            problems["metric"] = [f"found {metric!r}; accepted: a name, or a mapping with name and parameters"]
        if not isinstance(sweeps, list | tuple) or not all(map(_is_sweep, sweeps)):
            problems["sweeps"] = [f"found {sweeps!r}; accepted: a list of mappings with parameter and values"]
        return problems

    @classmethod
    def _converted(cls, values: dict[str, Any]) -> dict[str, Any]:
        return values | {"metric": specification.metric_entry(values["metric"])}

    def _problems(self) -> dict[str, list[str]]:
        problems = super()._problems()
        if len(self.systems) < 3 and "systems" not in problems:
            problems["systems"] = [f"found {len(self.systems)}; accepted: three or more, to correlate over them"]
        if self.coefficient not in COEFFICIENTS:
            problems["coefficient"] = [f"found {self.coefficient!r}; accepted: {', '.join(COEFFICIENTS)}"]
        if bool(self.choose_on) != bool(self.judge_on) or (self.choose_on and self.choose_on == self.judge_on):
            message = "found one split; accepted: two different ones, to choose on and to judge on, or none"
            problems["judge_on"] = [message]
        if len(self.sweeps) > MAX_SWEEPS:
            problems["sweeps"] = [f"found {len(self.sweeps)}; accepted: up to {MAX_SWEEPS}"]
        return problems

    def _completed(self) -> Self:
        metric = self.built_metric()
        if metric.name == External.name:
            raise StudyRefused.of("metric", "found scores made elsewhere; accepted: a metric that is computed here")
        sweeps = tuple(_checked_sweep(metric, sweep, with_release=bool(self.release)) for sweep in self.sweeps)
        if len({sweep["parameter"] for sweep in sweeps}) < len(sweeps):
            raise StudyRefused.of("sweeps", "found a parameter twice; accepted: each once")
        entry = {"name": metric.name, "parameters": metric.parameters()}
        return replace(super()._completed(), metric=entry, subset=str(self.built_subset), sweeps=sweeps)

    def built_metric(self, **changes: Any) -> Metric:
        """Return the metric at its values in use, with some changed."""
        parameters = specification.entry_parameters(self.metric) | changes
        return specification.build_metric("metric", self.metric.get("name", ""), parameters)

    def value_in_use(self, parameter: Parameter) -> Any:
        return self.subset if parameter == SUBSET else getattr(self.built_metric(), parameter.name)

    def varied(self, parameter: Parameter, value: Any) -> tuple[Metric, Subset]:
        """Return the metric and the references with a parameter at another value."""
        if parameter == SUBSET:
            return self.built_metric(), specification.parse_subset("sweeps", value)
        return self.built_metric(**{parameter.name: value}), self.built_subset

    @property
    def coefficients(self) -> tuple[str, ...]:
        """Return the keys of the usual coefficients, and of the one that decides which value is best."""
        return tuple(dict.fromkeys((*USUAL, self.coefficient)))

    @property
    def built_subset(self) -> Subset:
        return specification.parse_subset("subset", self.subset)


def varied_parameters(metric: type[Metric]) -> tuple[Parameter, ...]:
    """Return the metric's parameters and, if it reads references, which of them it reads."""
    return (*metric.parameter_list(), *([SUBSET] if metric.needs_references else []))


def parameter_named(metric: Metric, name: object) -> Parameter:
    """Return the metric's parameter by its name or its key in signatures."""
    parameters = varied_parameters(type(metric))
    for parameter in parameters:
        if name in (parameter.name, parameter.key):
            return parameter
    accepted = ", ".join(parameter.name for parameter in parameters) or "none, it has no parameter"
    raise StudyRefused.of("sweeps", f"{metric.name}: found parameter {name!r}; accepted: {accepted}")


def with_value_in_use(parameter: Parameter, in_use: Any, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the values and the value in use, without duplicates; numbers in rising order."""
    all_values = list(dict.fromkeys([*values, in_use] if in_use is not None else values))
    return tuple(sorted(all_values) if parameter.kind in NUMBERS else all_values)


def usual_values(parameter: Parameter, limit: int | None = None) -> tuple[Any, ...]:
    """Return values to try by default; ``limit`` is the maximum of a trained model.

    >>> from metrics.scoring.am_fm import AmFm
    >>> balance, k = (each for each in AmFm.parameter_list() if each.name in ("k", "balance"))
    >>> usual_values(k, 15)
    (1, 2, 3, 4, 5, 6, 8, 10, 12, 15)
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


def _checked_sweep(metric: Metric, sweep: Mapping[str, Any], *, with_release: bool) -> dict[str, Any]:
    parameter = parameter_named(metric, sweep.get("parameter"))
    values = tuple(dict.fromkeys(sweep.get("values") or ()))
    if parameter == SUBSET:
        if not with_release:
            raise StudyRefused.of("sweeps", "subset: found no release; accepted: a release, whose references vary")
        values = tuple(dict.fromkeys(str(specification.parse_subset("sweeps", str(value))) for value in values))
    for value in values if parameter != SUBSET else ():
        try:
            parameter.check(value)
            get_metric(metric.name, **(metric.parameters() | {parameter.name: value}))
        except ValueError as error:
            raise StudyRefused.of("sweeps", str(error)) from error
    if len(values) > MAX_VALUES:
        raise StudyRefused.of("sweeps", f"{parameter.name}: found {len(values)} values; accepted: up to {MAX_VALUES}")
    return {"parameter": parameter.name, "values": values}


def _is_sweep(sweep: Any) -> bool:
    if not isinstance(sweep, Mapping) or not set(sweep) <= {"parameter", "values"}:
        return False
    values = sweep.get("values", [])
    if not isinstance(sweep.get("parameter"), str) or not isinstance(values, list | tuple):
        return False
    return all(isinstance(value, str | int | float | bool) for value in values)
