"""Create parameter studies: settle metric, models and values, write the signature, never hold two of one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.models import Item, Project, User
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.references.releases.selectors import releases
from correlations.errors import StudyRefused
from correlations.models import ParameterStudy
from correlations.parameter_specification import (
    ParameterSpecification,
    parameter_named,
    usual_values,
    with_own_value,
)
from correlations.results.parameters import ParameterResult
from correlations.services.studies import named_campaigns, release_named, settled_metric, study_store, study_systems
from metrics.errors import ScoreRunRefused
from metrics.scoring.metric import Metric
from metrics.selectors.models import beyond_limit, beyond_words, model_limits
from metrics.services.models import parameters_with_models


def parameter_study_create(
    *, project: Project, name: str, specification: Mapping[str, Any], by: User | None
) -> tuple[ParameterStudy, bool]:
    """The study with this specification, and whether it is new. A new one is queued; the caller enqueues its task."""
    if not name.strip():
        raise StudyRefused.of("name", "found nothing; accepted: up to 120 characters")
    asked = ParameterSpecification.from_mapping(specification)
    release = release_named(project, asked.release)
    campaigns = named_campaigns(project, release, asked.campaigns)
    systems = study_systems(release, asked.systems)
    settled = _settled(project, asked)
    settled = replace(
        settled,
        release=releases.release_name(release),
        criteria=tuple(sorted({one.name for one in campaign_criteria(campaigns, asked.criteria or None)})),
    )
    dataset = release.reference_set.dataset
    _check_splits(settled, set(Item.objects.filter(dataset=dataset).values_list("split", flat=True)) - {""})
    return study_store(
        ParameterStudy,
        project=project,
        name=name,
        release=release,
        campaigns=campaigns,
        systems=systems,
        specification=settled.as_dict(),
        sources=settled.built_metric().needs_sources,
        result_version=ParameterResult.VERSION,
        by=by,
    )


def _settled(project: Project, asked: ParameterSpecification) -> ParameterSpecification:
    """The metric with its models by content, and every sweep with its values spelled out."""
    metric = asked.built_metric()
    try:
        found = settled_metric(project, metric)
    except StudyRefused as refusal:
        raise StudyRefused.of("metric", refusal.message.removeprefix("metrics: ")) from refusal
    settled = replace(asked, metric=found)
    metric = settled.built_metric()
    limits = model_limits(project, metric.name, metric.parameters())
    names = [sweep["parameter"] for sweep in asked.sweeps] or _usual_sweeps(metric)
    given = {sweep["parameter"]: tuple(sweep["values"]) for sweep in asked.sweeps}
    sweeps = [_settled_sweep(project, metric, name, given.get(name, ()), limits) for name in names]
    if not sweeps:
        raise StudyRefused.of("sweeps", f"{metric.name}: it has no parameter that could be turned")
    return replace(settled, sweeps=tuple(sweeps))


def _usual_sweeps(metric: Metric) -> list[str]:
    """Its numbers; of a metric that has none, its choices."""
    numbers = [one.name for one in metric.parameter_list() if one.kind in ("whole", "real")]
    choices = [one.name for one in metric.parameter_list() if one.kind in ("choice", "flag") and not one.optional]
    return numbers or choices


def _settled_sweep(
    project: Project, metric: Metric, name: str, given: tuple[Any, ...], limits: Mapping[str, int]
) -> dict[str, Any]:
    parameter = parameter_named(metric, name)
    values = given or usual_values(parameter, limits.get(name))
    if parameter.kind == "model":
        values = tuple(_model(project, metric, name, value) for value in values)
    values = with_own_value(metric, name, values)
    found = beyond_limit(values, limits.get(name))
    if found is not None:
        message = f"{name}: {beyond_words(found, limits[name])}"
        raise StudyRefused.of("sweeps" if found in given else "metric", message)
    if len(values) < 2:
        raise StudyRefused.of("sweeps", f"{name}: found {len(values)} value; accepted: two or more, to compare")
    return {"parameter": name, "values": values}


def _model(project: Project, metric: Metric, name: str, written: str) -> str:
    try:
        settled = parameters_with_models(project, metric.name, metric.parameters() | {name: written})
    except ScoreRunRefused as refusal:
        raise StudyRefused.of("sweeps", refusal.message) from refusal
    reference: str = settled[name]
    return reference


def _check_splits(asked: ParameterSpecification, known: set[str]) -> None:
    for field in ("choose_on", "judge_on"):
        split = getattr(asked, field)
        if split and split not in known:
            accepted = ", ".join(sorted(known)) or "none, since this data set has no splits"
            raise StudyRefused.of(field, f"found {split!r}; accepted: {accepted}")
