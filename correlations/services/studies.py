"""Create studies: settle what a specification names, and write a unique signature."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from annotation.core.canonical import canonical_json
from annotation.models import Campaign, Project, Release, System, User
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.rating.services.ratings import ratings_await
from annotation.references.releases.selectors import releases
from correlations.errors import StudyRefused
from correlations.models import Study
from correlations.results.study import StudyResult
from correlations.selectors.inputs import rating_marks
from correlations.selectors.lists import AnyStudy
from correlations.services.stored import imported_run, with_runs_named
from correlations.specification import NAMED, WITHOUT_RATERS, Specification
from metrics.errors import ScoreRunRefused
from metrics.scoring import VERSION
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.selectors.corpus import texts_digests
from metrics.services.models import parameters_with_models


def study_create(
    *, project: Project, name: str, specification: Mapping[str, Any], by: User | None
) -> tuple[Study, bool]:
    """Return the study with this specification, and whether it is new. The caller enqueues the task of a new study."""
    if not name.strip():
        raise StudyRefused.of("name", "found nothing; accepted: up to 120 characters")
    if isinstance(specification.get("metrics"), list | tuple):
        specification = {**specification, "metrics": with_runs_named(project, specification["metrics"])}
    requested = Specification.from_mapping(specification)
    release = release_named(project, requested.release)
    campaigns = named_campaigns(project, release, requested.campaigns)
    criteria = sorted({criterion.name for criterion in campaign_criteria(campaigns, requested.criteria or None)})
    settled = replace(
        requested,
        release=releases.release_name(release),
        criteria=tuple(criteria),
        metrics=tuple(_row_metric(project, release, metric, requested.systems) for metric in requested.built_metrics()),
    )
    metrics = settled.built_metrics()  # refuses two names of one trained model: one metric twice
    systems = study_systems(release, settled.systems)
    return study_store(
        Study,
        project=project,
        name=name,
        release=release,
        campaigns=campaigns,
        systems=systems,
        specification=settled.as_dict(),
        sources=any(metric.needs_sources for metric in metrics),
        result_version=StudyResult.VERSION,
        by=by,
    )


@transaction.atomic
def study_store(
    kind: type[AnyStudy],
    *,
    project: Project,
    name: str,
    release: Release,
    campaigns: Sequence[Campaign],
    systems: Sequence[System],
    specification: dict[str, Any],
    sources: bool,
    result_version: int,
    by: User | None,
) -> tuple[AnyStudy, bool]:
    """Return the study with this specification over the current texts and ratings, and whether it is new."""
    ratings_await(campaigns=campaigns)
    named: dict[str, Any] = {
        "release": release.content_hash,
        **texts_digests(systems, sources=sources),
        "ratings": rating_marks(campaigns),
        "version": VERSION,
        "format": result_version,
    }
    if without := excluded_rater_ids(campaigns):  # only then, so that studies of before keep their signatures
        named[WITHOUT_RATERS] = without
    written = specification | {NAMED: named}
    # The unique constraint decides a race: the loser reads the winner's row once that is committed.
    study, created = kind.objects.get_or_create(
        project=project,
        signature=hashlib.sha256(canonical_json(written)).hexdigest(),
        defaults={
            "name": name.strip()[:120],
            "dataset_id": release.reference_set.dataset_id,
            "release": release,
            "specification": written,
            "requested_by": by,
        },
    )
    if created:
        study.campaigns.set(campaigns)
    return study, created


def _row_metric(project: Project, release: Release, metric: Metric, systems: Sequence[str]) -> dict[str, Any]:
    """As `settled_metric`; of scores made elsewhere, those that the project has."""
    if metric.name == External.name:
        imported_run(project, release.reference_set.dataset_id, metric, systems)
        return {"name": metric.name, "parameters": metric.parameters()}
    return settled_metric(project, metric)


def settled_metric(project: Project, metric: Metric) -> dict[str, Any]:
    """Name and parameters, trained models by their content; a refusal where it cannot be computed here."""
    if reason := metric.unavailable():
        raise StudyRefused.of("metrics", f"{metric.name}: cannot be computed here. {reason}")
    try:
        parameters = parameters_with_models(project, metric.name, metric.parameters())
    except ScoreRunRefused as refusal:
        raise StudyRefused.of("metrics", f"{metric.name}: {refusal.message}") from refusal
    return {"name": metric.name, "parameters": parameters}


def release_named(project: Project, written: str) -> Release:
    release = releases.release_named(project, written)
    if release is None:
        raise StudyRefused.of("release", f"found {written[:40]!r}; accepted: {releases.release_names(project)}")
    return release


def named_campaigns(project: Project, release: Release, names: Sequence[str]) -> list[Campaign]:
    of_dataset = Campaign.objects.filter(project=project, dataset=release.reference_set.dataset_id)
    by_name = {campaign.name: campaign for campaign in of_dataset}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise StudyRefused.of("campaigns", f"found {missing[0]!r}; accepted: {', '.join(sorted(by_name)) or 'none'}")
    return [by_name[name] for name in sorted(names)]


def study_systems(release: Release, names: Sequence[str]) -> list[System]:
    """Return the named systems in the order of their names."""
    by_name = {system.name: system for system in System.objects.filter(dataset=release.reference_set.dataset_id)}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise StudyRefused.of("systems", f"found {missing[0]!r}; accepted: {', '.join(sorted(by_name)) or 'none'}")
    return [by_name[name] for name in sorted(names)]
