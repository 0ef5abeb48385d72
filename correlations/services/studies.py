"""Create studies: settle what a specification names, and write a unique signature."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

from annotation.core.canonical import canonical_json
from annotation.models import Campaign, Criterion, Dataset, Project, Release, SourceKind, System, User
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import campaign_criteria, rater_places, rating_log
from annotation.rating.services.ratings import ratings_await
from annotation.references.releases.selectors import releases
from correlations.errors import StudyRefused
from correlations.models import Study
from correlations.selectors.inputs import rated_items, rating_marks, referenced_items
from correlations.selectors.lists import AnyStudy
from correlations.services.stored import imported_run, with_runs_named
from correlations.specification import LAST_RATING, NAMED, SEEN, WITHOUT_RATERS, Specification, StudySpecification
from correlations.stats.units import fitting_unit_size
from metrics.errors import ScoreRunRefused
from metrics.scoring import VERSION
from metrics.scoring.external import External
from metrics.scoring.metric import Metric
from metrics.selectors.corpus import texts_digests
from metrics.selectors.seen import seen_of_systems
from metrics.services.models import parameters_with_models
from metrics.services.runs import RunTexts, checked_subset
from metrics.services.scoring import model_store
from metrics.subsets import Subset

AnySpecification = TypeVar("AnySpecification", bound=StudySpecification)
AnyNamed = TypeVar("AnyNamed", Campaign, System)


def study_create(
    *, project: Project, name: str, specification: Mapping[str, Any], by: User | None
) -> tuple[Study, bool]:
    """Return the study with this specification, and whether it is new. The caller enqueues the task of a new study."""
    named, settled = settled_study(project, specification)
    # Built again, this refuses two names of one trained model: one metric twice.
    return study_store(Study, named, settled, settled.built_metrics(), name=name, by=by)


def settled_study(project: Project, specification: Mapping[str, Any]) -> tuple["NamedInputs", Specification]:
    """Return what a specification names in a project, and the specification with every value as it is stored."""
    if isinstance(specification.get("metrics"), list | tuple):
        specification = {**specification, "metrics": with_runs_named(project, specification["metrics"])}
    named, requested = NamedInputs.read(project, Specification.from_mapping(specification))
    metrics = (_row_metric(named, metric, requested.systems) for metric in requested.built_metrics())
    settled = replace(requested, metrics=tuple(metrics))
    for metric, subset in settled.built_rows():
        check_references(named, metric, subset, field="subsets")
    for metric in settled.built_metrics() if settled.sweeps else ():
        check_references(named, metric, settled.built_sweep_subset, field="sweep_subset")
    return named, _with_pairs(named, settled)


@dataclass(frozen=True)
class NamedInputs:
    """The campaigns, systems and, if there is one, the release that a specification names; all are of one data set."""

    project: Project
    dataset: Dataset
    release: Release | None
    campaigns: list[Campaign]
    systems: list[System]
    criteria: list[Criterion]
    excluded: list[int]  # ids of raters whom the campaigns' managers excluded

    @classmethod
    def read(cls, project: Project, requested: AnySpecification) -> tuple["NamedInputs", AnySpecification]:
        """Return them, and the specification with the release's full name and the names of all criteria."""
        of_project = Campaign.objects.filter(project=project).select_related("dataset")
        release = None
        if requested.release:
            release = releases.release_named(project, requested.release)
            if release is None:
                accepted = releases.release_names(project)
                raise StudyRefused.of("release", f"found {requested.release[:40]!r}; accepted: {accepted}")
            of_project = of_project.filter(dataset=release.reference_set.dataset_id)
            requested = replace(requested, release=releases.release_name(release))
        campaigns = _named("campaigns", of_project, requested.campaigns)
        other = next((campaign for campaign in campaigns if campaign.dataset_id != campaigns[0].dataset_id), None)
        if other is not None:
            datasets = f"{campaigns[0]} is of {campaigns[0].dataset}, {other} of {other.dataset}"
            raise StudyRefused.of("campaigns", f"found two data sets: {datasets}; accepted: campaigns of one")
        dataset = campaigns[0].dataset
        criteria = campaign_criteria(campaigns, requested.criteria or None)
        settled = replace(requested, criteria=tuple(sorted({criterion.name for criterion in criteria})))
        systems = study_systems(dataset.pk, requested.systems)
        excluded = excluded_rater_ids(campaigns)
        return cls(project, dataset, release, campaigns, systems, criteria, excluded), settled

    def rated_items(self) -> dict[str, set[int]]:
        """Return the items on which each system's output is rated."""
        names = [system.name for system in self.systems]
        return rated_items(self.dataset.pk, names, self.criteria, self.excluded)

    @property
    def campaigns_text(self) -> str:
        return ", ".join(campaign.name for campaign in self.campaigns)


def study_systems(dataset_id: int, names: Sequence[str]) -> list[System]:
    """Return the named systems in the order of their names."""
    return _named("systems", System.objects.filter(dataset=dataset_id), names)


def _with_pairs(named: NamedInputs, settled: Specification) -> Specification:
    """Return the specification with its pairs, by default all that share rated items, and its unit size."""
    rated = named.rated_items()
    shared = {
        pair: rated[pair[0]] & rated[pair[1]] for pair in settled.pairs or tuple(combinations(settled.systems, 2))
    }
    pairs = tuple(pair for pair, items in shared.items() if items)
    if settled.pairs and len(pairs) < len(settled.pairs):
        a, b = next(pair for pair, items in shared.items() if not items)
        message = f"found {a} – {b}, of which no item has ratings of both outputs in {named.campaigns_text}"
        accepted = ", ".join(f"{first} – {second}" for first, second in pairs) or "none of these"
        raise StudyRefused.of("pairs", f"{message}; accepted: {accepted}")
    alone = [name for name in settled.systems if not any(name in pair for pair in pairs)]
    if alone and not settled.pairs:
        unrated = next((name for name in alone if not rated[name]), None)
        message = f"found {unrated}, whose outputs have no rating in {named.campaigns_text}"
        if unrated is None:
            message = f"found {alone[0]}, which shares no rated item of {named.campaigns_text} with another system"
        accepted = ", ".join(name for name in settled.systems if name not in alone) or "systems rated on the same items"
        raise StudyRefused.of("systems", f"{message}; accepted: {accepted}")
    if settled.unit_size is not None:
        return replace(settled, pairs=pairs)
    usable = _usable_items(named, settled.built_metrics())
    n_items = min(len(shared[pair] if usable is None else shared[pair] & usable) for pair in pairs)
    return replace(settled, pairs=pairs, unit_size=fitting_unit_size(n_items, len(pairs)))


def _usable_items(named: NamedInputs, metrics: Sequence[Metric]) -> set[int] | None:
    """Return the items that every metric can use with all references of the release; None for all items."""
    if named.release is None or not any(metric.needs_references for metric in metrics):
        return None
    return referenced_items(named.release, positive=any(metric.needs_weights for metric in metrics))


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
    metrics: Sequence[Metric],
    *,
    name: str,
    by: User | None,
) -> tuple[AnyStudy, bool]:
    """Return the study with this specification over the current texts and ratings, and whether it is new.

    ``metrics`` are those whose texts the signature names.
    """
    if not name.strip():
        raise StudyRefused.of("name", "found nothing; accepted: up to 120 characters")
    ratings_await(campaigns=inputs.campaigns)
    logs = [(campaign, rating_log(campaign)) for campaign in inputs.campaigns]
    named: dict[str, Any] = {
        **texts_named(inputs, metrics),
        "ratings": rating_marks(logs),
        "version": VERSION,
        "format": kind.RESULT.VERSION,
    }
    if seen := seen_named(inputs, metrics):
        named[SEEN] = seen
    if inputs.excluded:
        places = rater_places(inputs.project.pk)
        named[WITHOUT_RATERS] = [places[pk] for pk in inputs.excluded]
    written = specification.as_dict() | {NAMED: named}
    # The unique constraint decides a race: the loser reads the winner's row once that is committed.
    study, created = kind.objects.get_or_create(
        project=inputs.project,
        signature=hashlib.sha256(canonical_json(written)).hexdigest(),
        defaults={
            "name": name.strip()[:120],
            "dataset": inputs.dataset,
            "release": inputs.release,
            "specification": written | {LAST_RATING: max((log.last or 0 for _, log in logs), default=0)},
            "requested_by": by,
        },
    )
    if created:
        study.campaigns.set(inputs.campaigns)
    return study, created


def texts_named(inputs: NamedInputs, metrics: Sequence[Metric]) -> dict[str, str]:
    """Return the hashes of the release and of the texts that metrics read."""
    plain = inputs.release is None and any(metric.needs_references for metric in metrics)
    return {
        **({"release": inputs.release.content_hash} if inputs.release else {}),
        **texts_digests(
            inputs.systems,
            sources=any(metric.needs_sources for metric in metrics),
            prompts=any(metric.needs_prompts for metric in metrics),
            reference_kinds=SourceKind.of_references() if plain else (),
        ),
    }


def seen_named(inputs: NamedInputs, metrics: Sequence[Metric]) -> dict[str, dict[str, int]]:
    """Return by trained model on how many outputs of the systems it was trained, and of how many."""
    models = model_store()
    seen: dict[str, dict[str, int]] = {}
    for metric in metrics:
        counts = seen_of_systems(metric, inputs.systems, models)
        if counts is not None:
            seen[metric.parameters()["model"]] = counts._asdict()
    return seen


def _row_metric(inputs: NamedInputs, metric: Metric, systems: Sequence[str]) -> dict[str, Any]:
    """Settle a metric as ``settled_metric``; for imported scores, check that the project has them."""
    if metric.name == External.name:
        imported_run(inputs.project, inputs.dataset.pk, metric, systems)
        return {"name": metric.name, "parameters": metric.parameters()}
    return settled_metric("metrics", inputs.project, metric)


def check_references(inputs: NamedInputs, metric: Metric, subset: Subset, *, field: str) -> None:
    """Refuse a metric or a choice of references that needs a release if there is none."""
    try:
        checked_subset(RunTexts(inputs.dataset, inputs.release, inputs.systems), metric, subset)
    except ScoreRunRefused as refusal:
        raise StudyRefused.of("metrics" if metric.needs_weights else field, refusal.message) from refusal


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
