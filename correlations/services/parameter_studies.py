"""Create parameter studies: settle metric, models and values, and write a unique signature."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.models import Item, Project, User
from correlations.errors import StudyRefused
from correlations.models import ParameterStudy
from correlations.parameter_specification import (
    NUMBERS,
    SUBSET,
    ParameterSpecification,
    parameter_named,
    usual_values,
    with_value_in_use,
)
from correlations.services.studies import (
    NamedInputs,
    check_references,
    settled_metric,
    settled_parameters,
    study_store,
)
from metrics.scoring.metric import Metric
from metrics.selectors.models import beyond_limit, beyond_words, model_limits
from metrics.subsets import Subset


def parameter_study_create(
    *, project: Project, name: str, specification: Mapping[str, Any], by: User | None
) -> tuple[ParameterStudy, bool]:
    """Return the study with this specification, and whether it is new. The caller enqueues the task of a new study."""
    named, settled = settled_parameter_study(project, specification)
    return study_store(ParameterStudy, named, settled, [settled.built_metric()], name=name, by=by)


def settled_parameter_study(
    project: Project, specification: Mapping[str, Any]
) -> tuple[NamedInputs, ParameterSpecification]:
    """Return what a specification names in a project, and the specification with every value as it is stored."""
    named, requested = NamedInputs.read(project, ParameterSpecification.from_mapping(specification))
    settled = _settled(project, requested)
    check_references(named, settled.built_metric(), settled.built_subset, field="subset")
    for subset in (value for sweep in settled.sweeps if sweep["parameter"] == SUBSET.name for value in sweep["values"]):
        check_references(named, settled.built_metric(), Subset.parse(subset), field="sweeps")
    _check_splits(settled, set(Item.objects.filter(dataset=named.dataset).values_list("split", flat=True)) - {""})
    unrated = [name for name, items in named.rated_items().items() if not items]
    if unrated:
        rated = ", ".join(name for name in settled.systems if name not in unrated) or "none of these"
        message = f"found {unrated[0]}, whose outputs have no rating in {named.campaigns_text}; accepted: {rated}"
        raise StudyRefused.of("systems", message)
    return named, settled


def _settled(project: Project, requested: ParameterSpecification) -> ParameterSpecification:
    """Return the specification with models named by content and all values listed."""
    settled = replace(requested, metric=settled_metric("metric", project, requested.built_metric()))
    metric = settled.built_metric()
    limits = model_limits(project, metric.name, metric.parameters())
    names = [sweep["parameter"] for sweep in requested.sweeps] or _usual_sweeps(metric)
    given = {sweep["parameter"]: tuple(sweep["values"]) for sweep in requested.sweeps}
    sweeps = [_settled_sweep(project, settled, name, given.get(name, ()), limits) for name in names]
    if not sweeps:
        raise StudyRefused.of("sweeps", f"{metric.name}: it has no parameter to vary")
    return replace(settled, sweeps=tuple(sweeps))


def _usual_sweeps(metric: Metric) -> list[str]:
    """Return the metric's numbers, or its choices if it has no numbers."""
    parameters = metric.parameter_list()
    numbers = [parameter.name for parameter in parameters if parameter.kind in NUMBERS]
    choices = [each.name for each in parameters if each.kind in ("choice", "flag") and not each.optional]
    return numbers or choices


def _settled_sweep(
    project: Project, settled: ParameterSpecification, name: str, given: tuple[Any, ...], limits: Mapping[str, int]
) -> dict[str, Any]:
    metric = settled.built_metric()
    parameter = parameter_named(metric, name)
    values = given or usual_values(parameter, limits.get(name))
    if parameter.kind == "model":
        values = tuple(settled_parameters("sweeps", project, metric, **{name: value})[name] for value in values)
    values = with_value_in_use(parameter, settled.value_in_use(parameter), values)
    beyond = beyond_limit(values, limits.get(name))
    if beyond is not None:
        message = f"{name}: {beyond_words(beyond, limits[name])}"
        raise StudyRefused.of("sweeps" if beyond in given else "metric", message)
    if len(values) < 2:
        raise StudyRefused.of("sweeps", f"{name}: found {len(values)} value; accepted: two or more, to compare")
    return {"parameter": name, "values": values}


def _check_splits(requested: ParameterSpecification, known: set[str]) -> None:
    accepted = ", ".join(sorted(known)) or "none, since this data set has no splits"
    for field in ("choose_on", "judge_on"):
        split = getattr(requested, field)
        if split and split not in known:
            raise StudyRefused.of(field, f"found {split!r}; accepted: {accepted}")
