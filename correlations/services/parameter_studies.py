"""Create parameter studies: settle metric, models and values, and write a unique signature."""

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
    """Return the study with this specification, and whether it is new. The caller enqueues the task of a new study."""
    if not name.strip():
        raise StudyRefused.of("name", "found nothing; accepted: up to 120 characters")
    requested = ParameterSpecification.from_mapping(specification)
    release = release_named(project, requested.release)
    campaigns = named_campaigns(project, release, requested.campaigns)
    systems = study_systems(release, requested.systems)
    settled = _settled(project, requested)
    settled = replace(
        settled,
        release=releases.release_name(release),
        criteria=tuple(
            sorted({criterion.name for criterion in campaign_criteria(campaigns, requested.criteria or None)})
        ),
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


def _settled(project: Project, requested: ParameterSpecification) -> ParameterSpecification:
    """Return the specification with models named by content and all values listed."""
    metric = requested.built_metric()
    try:
        metric_with_models = settled_metric(project, metric)
    except StudyRefused as refusal:
        raise StudyRefused.of("metric", refusal.message.removeprefix("metrics: ")) from refusal
    settled = replace(requested, metric=metric_with_models)
    metric = settled.built_metric()
    limits = model_limits(project, metric.name, metric.parameters())
    names = [sweep["parameter"] for sweep in requested.sweeps] or _usual_sweeps(metric)
    given = {sweep["parameter"]: tuple(sweep["values"]) for sweep in requested.sweeps}
    sweeps = [_settled_sweep(project, metric, name, given.get(name, ()), limits) for name in names]
    if not sweeps:
        raise StudyRefused.of("sweeps", f"{metric.name}: it has no parameter to vary")
    return replace(settled, sweeps=tuple(sweeps))


def _usual_sweeps(metric: Metric) -> list[str]:
    """Return the metric's numbers, or its choices if it has no numbers."""
    numbers = [parameter.name for parameter in metric.parameter_list() if parameter.kind in ("whole", "real")]
    choices = [
        parameter.name
        for parameter in metric.parameter_list()
        if parameter.kind in ("choice", "flag") and not parameter.optional
    ]
    return numbers or choices


def _settled_sweep(
    project: Project, metric: Metric, name: str, given: tuple[Any, ...], limits: Mapping[str, int]
) -> dict[str, Any]:
    parameter = parameter_named(metric, name)
    values = given or usual_values(parameter, limits.get(name))
    if parameter.kind == "model":
        values = tuple(_model(project, metric, name, value) for value in values)
    values = with_own_value(metric, name, values)
    beyond = beyond_limit(values, limits.get(name))
    if beyond is not None:
        message = f"{name}: {beyond_words(beyond, limits[name])}"
        raise StudyRefused.of("sweeps" if beyond in given else "metric", message)
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


def _check_splits(requested: ParameterSpecification, known: set[str]) -> None:
    for field in ("choose_on", "judge_on"):
        split = getattr(requested, field)
        if split and split not in known:
            accepted = ", ".join(sorted(known)) or "none, since this data set has no splits"
            raise StudyRefused.of(field, f"found {split!r}; accepted: {accepted}")
