"""Create studies: settle what a specification names, and write a unique signature."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

from annotation.core.canonical import canonical_json
from annotation.models import Campaign, Project, Release, System, User
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.rating.services.ratings import ratings_await
from annotation.references.releases.selectors import releases
from correlations.errors import StudyRefused
from correlations.models import Study
from correlations.selectors.inputs import fewest_shared_items, rating_marks
from correlations.selectors.lists import AnyStudy
from correlations.services.stored import imported_run, with_runs_named
from correlations.specification import NAMED, WITHOUT_RATERS, Specification, StudySpecification
from correlations.stats.units import fitting_unit_size
from metrics.errors import ScoreRunRefused
from metrics.scoring import VERSION
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.selectors.corpus import texts_digests
from metrics.services.models import parameters_with_models

AnySpecification = TypeVar("AnySpecification", bound=StudySpecification)
AnyNamed = TypeVar("AnyNamed", Campaign, System)


def study_create(
    *, project: Project, name: str, specification: Mapping[str, Any], by: User | None
) -> tuple[Study, bool]:
    """Return the study with this specification, and whether it is new. The caller enqueues the task of a new study."""
    if isinstance(specification.get("metrics"), list | tuple):
        specification = {**specification, "metrics": with_runs_named(project, specification["metrics"])}
    named, requested = NamedInputs.read(project, Specification.from_mapping(specification))
    metrics = (_row_metric(named, metric, requested.systems) for metric in requested.built_metrics())
    settled = replace(requested, metrics=tuple(metrics))
    if settled.unit_size is None:
        n_items = fewest_shared_items(named.release, named.campaigns, settled.pairs)
        settled = replace(settled, unit_size=fitting_unit_size(n_items, len(settled.pairs)))
    # Built again, this refuses two names of one trained model: one metric twice.
    sources = any(metric.needs_sources for metric in settled.built_metrics())
    return study_store(Study, named, settled, sources=sources, name=name, by=by)


@dataclass(frozen=True)
class NamedInputs:
    """The release, campaigns and systems that a specification names."""

    project: Project
    release: Release
    campaigns: list[Campaign]
    systems: list[System]

    @classmethod
    def read(cls, project: Project, requested: AnySpecification) -> tuple["NamedInputs", AnySpecification]:
        """Return them, and the specification with the release's full name and the names of all criteria."""
        release = releases.release_named(project, requested.release)
        if release is None:
            accepted = releases.release_names(project)
            raise StudyRefused.of("release", f"found {requested.release[:40]!r}; accepted: {accepted}")
        dataset = release.reference_set.dataset_id
        of_dataset = Campaign.objects.filter(project=project, dataset=dataset)
        campaigns = _named("campaigns", of_dataset, requested.campaigns)
        criteria = {criterion.name for criterion in campaign_criteria(campaigns, requested.criteria or None)}
        settled = replace(requested, release=releases.release_name(release), criteria=tuple(sorted(criteria)))
        return cls(project, release, campaigns, study_systems(release, requested.systems)), settled


def study_systems(release: Release, names: Sequence[str]) -> list[System]:
    """Return the named systems in the order of their names."""
    return _named("systems", System.objects.filter(dataset=release.reference_set.dataset_id), names)


def _named(field: str, rows: QuerySet[AnyNamed], names: Sequence[str]) -> list[AnyNamed]:
    by_name = {row.name: row for row in rows}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise StudyRefused.of(field, f"found {missing[0]!r}; accepted: {', '.join(sorted(by_name)) or 'none'}")
    return [by_name[name] for name in sorted(names)]


@transaction.atomic
def study_store(
    kind: type[AnyStudy],
    inputs: NamedInputs,
    specification: StudySpecification,
    *,
    sources: bool,
    name: str,
    by: User | None,
) -> tuple[AnyStudy, bool]:
    """Return the study with this specification over the current texts and ratings, and whether it is new."""
    if not name.strip():
        raise StudyRefused.of("name", "found nothing; accepted: up to 120 characters")
    ratings_await(campaigns=inputs.campaigns)
    named: dict[str, Any] = {
        "release": inputs.release.content_hash,
        **texts_digests(inputs.systems, sources=sources),
        "ratings": rating_marks(inputs.campaigns),
        "version": VERSION,
        "format": kind.RESULT.VERSION,
    }
    if without := excluded_rater_ids(inputs.campaigns):  # only then, so that older studies keep their signatures
        named[WITHOUT_RATERS] = without
    written = specification.as_dict() | {NAMED: named}
    # The unique constraint decides a race: the loser reads the winner's row once that is committed.
    study, created = kind.objects.get_or_create(
        project=inputs.project,
        signature=hashlib.sha256(canonical_json(written)).hexdigest(),
        defaults={
            "name": name.strip()[:120],
            "dataset_id": inputs.release.reference_set.dataset_id,
            "release": inputs.release,
            "specification": written,
            "requested_by": by,
        },
    )
    if created:
        study.campaigns.set(inputs.campaigns)
    return study, created


def _row_metric(inputs: NamedInputs, metric: Metric, systems: Sequence[str]) -> dict[str, Any]:
    """Settle a metric as ``settled_metric``; for imported scores, check that the project has them."""
    if metric.name == External.name:
        imported_run(inputs.project, inputs.release.reference_set.dataset_id, metric, systems)
        return {"name": metric.name, "parameters": metric.parameters()}
    return settled_metric("metrics", inputs.project, metric)


def settled_metric(field: str, project: Project, metric: Metric) -> dict[str, Any]:
    """Return name and parameters, trained models by their content; refuse a metric that cannot be computed here."""
    if reason := metric.unavailable():
        raise StudyRefused.of(field, f"{metric.name}: cannot be computed here. {reason}")
    return {"name": metric.name, "parameters": settled_parameters(field, project, metric)}


def settled_parameters(field: str, project: Project, metric: Metric, **changes: Any) -> dict[str, Any]:
    """Return a metric's parameters with changes, trained models by their content."""
    try:
        return parameters_with_models(project, metric.name, metric.parameters() | changes)
    except ScoreRunRefused as refusal:
        raise StudyRefused.of(field, f"{metric.name}: {refusal.message}") from refusal
