"""Reads over reference sets and releases: which responses are references, and which ratings count."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Case, Count, Max, OuterRef, Q, QuerySet, Subquery, When

from annotation.core.caching import cached
from annotation.models import (
    Campaign,
    CheckAnswer,
    Dataset,
    JobState,
    Project,
    QualityRules,
    Rating,
    ReferenceSet,
    Release,
    Response,
    ResponseSource,
)
from annotation.quality.selectors.checks import check_log, quality_log
from annotation.rating.selectors.ratings import (
    BoolArray,
    IntArray,
    JudgementTable,
    RatingColumns,
    campaign_criteria,
    judgements,
    rating_columns,
)
from annotation.weighting.exclusion.applying import apply_rules
from annotation.weighting.exclusion.registry import rules_from_data

_NONE = np.array([], dtype=np.int64)
# The scale of an imported release is not known; that of the weights stands in for it.
NO_JUDGEMENTS = JudgementTable(_NONE, _NONE, _NONE, _NONE.astype(float), _NONE.astype(float), -1.0, 1.0, 0)
DEPRECATED_LAST = Case(When(deprecated_at__isnull=True, then=0), default=1)
# The columns of a weight that the content hash of its release covers, in this order.
HASHED_COLUMNS = ("weight", "rating_mean", "n_ratings", "standard_error", "low", "high", "is_original")
WRITTEN_RELEASE = re.compile(r"([-a-zA-Z0-9_]+)(?:/v([0-9]{1,10}))?")


class References(NamedTuple):
    """References of a set, ordered by external id of the item, then by the key of the text: the same everywhere."""

    response_id: IntArray
    item_id: IntArray
    external_id: list[str]
    text_key: list[str]
    is_original: BoolArray


class UsedRatings(NamedTuple):
    """The ratings that a release read, and those that count."""

    read: RatingColumns  # current ratings of the references, extra ones included
    keep: BoolArray  # those that no rule excludes
    counts: tuple[int, ...]  # excluded by each rule, in order
    judgements: JudgementTable
    criteria: list[str]


def reference_sets(project: Project) -> QuerySet[ReferenceSet]:
    finished = Count("releases", filter=Q(releases__state=JobState.DONE), distinct=True)
    latest = Max("releases__number", filter=Q(releases__state=JobState.DONE))
    return (
        ReferenceSet.objects.filter(project=project)
        .select_related("dataset")
        .prefetch_related("campaigns")
        .annotate(n_releases=finished, latest_number=latest, deprecation=latest_deprecation())
    )


def latest_deprecation() -> Subquery:
    """Return, for each reference set, why its newest finished release is deprecated; empty if it is not."""
    newest = Release.objects.filter(reference_set=OuterRef("pk"), state=JobState.DONE).order_by("-number")
    return Subquery(newest.values("deprecation_reason")[:1])


def releases(reference_set: ReferenceSet) -> QuerySet[Release]:
    """Return releases, newest first; ``first_alike`` is the number of the earliest other one of the same content."""
    alike = _alike(OuterRef("reference_set"), OuterRef("content_hash"), OuterRef("number"))
    return (
        reference_set.releases.select_related("requested_by", "deprecated_by", "reference_set")
        .annotate(first_alike=Subquery(alike.values("number")[:1]))
        .order_by("-number")
    )


def same_content(release: Release) -> Release | None:
    """Return the first of the earlier releases of the set with the same content hash."""
    return _alike(release.reference_set_id, release.content_hash, release.number).first()


def _alike(reference_set: int | OuterRef, content_hash: str | OuterRef, number: int | OuterRef) -> QuerySet[Release]:
    """Return the earlier finished releases of a set with a content hash, first the earliest."""
    earlier = Release.objects.filter(reference_set=reference_set, number__lt=number, state=JobState.DONE)
    return earlier.filter(content_hash=content_hash).exclude(content_hash="").order_by("number")


def finished_releases(project: Project) -> QuerySet[Release]:
    """Return finished releases, newest first, deprecated ones after all others."""
    finished = Release.objects.filter(reference_set__project=project, state=JobState.DONE)
    finished = finished.select_related("reference_set__dataset", "reference_set__project")
    return finished.order_by(DEPRECATED_LAST, "-finished_at", "-pk")


def release_name(release: Release) -> str:
    """Return the name that people write for a release; ``release_named`` reads it."""
    return f"{release.reference_set.slug}/v{release.number}"


def latest_release(reference_set: ReferenceSet) -> Release | None:
    """Return the newest finished release of a set that is not deprecated."""
    finished = reference_set.releases.filter(state=JobState.DONE, deprecated_at__isnull=True)
    return finished.order_by("-number").first()


def newest_release(dataset: Dataset) -> Release | None:
    """Return the finished release of a data set that was finished last."""
    finished = Release.objects.filter(reference_set__dataset=dataset, state=JobState.DONE)
    return finished.select_related("reference_set").order_by("-finished_at", "-pk").first()


def release_named(project: Project, written: str) -> Release | None:
    """Return the finished release that ``reference-set/v2`` names.

    ``reference-set`` names the set's newest release that is not deprecated, or its newest if all are.
    """
    parts = WRITTEN_RELEASE.fullmatch(written)
    if parts is None:
        return None
    slug, number = parts.groups()
    finished = finished_releases(project).filter(reference_set__slug=slug).order_by(DEPRECATED_LAST, "-number")
    return (finished.filter(number=int(number)) if number else finished).first()


def release_names(project: Project) -> str:
    """List the newest finished releases by name, for a refusal."""
    return ", ".join(map(release_name, finished_releases(project)[:20])) or "none yet: release weights first"


def _from(kinds: Sequence[str], systems: Sequence[str]) -> Q:
    return Q(kind__in=kinds) | Q(system__name__in=systems)


def references(reference_set: ReferenceSet) -> References:
    """Return the responses with a source that the set chooses; identical texts are one response."""
    chosen = _from(reference_set.source_kinds, reference_set.source_systems)
    original = _from(reference_set.original_kinds, reference_set.original_systems)
    sources = ResponseSource.objects.filter(item__dataset=reference_set.dataset_id)
    originals = set(sources.filter(original).values_list("response_id", flat=True))
    rows = (
        Response.objects.filter(pk__in=sources.filter(chosen).values("response_id"))
        .order_by()
        .values_list("item__external_id", "text_key", "pk", "item_id")
    )
    ordered = sorted(rows)
    return References(
        response_id=np.array([row[2] for row in ordered], dtype=np.int64),
        item_id=np.array([row[3] for row in ordered], dtype=np.int64),
        external_id=[row[0] for row in ordered],
        text_key=[row[1] for row in ordered],
        is_original=np.array([row[2] in originals for row in ordered], dtype=np.bool_),
    )


def release_campaigns(release: Release) -> list[Campaign]:
    """Return the campaigns whose ratings a release reads: those of its set when the release was requested."""
    if "campaigns" in release.report:
        return list(Campaign.objects.filter(pk__in=[campaign["id"] for campaign in release.report["campaigns"]]))
    return list(release.reference_set.campaigns.all())


def last_ids(campaigns: Sequence[Campaign]) -> dict[str, int]:
    """Return the newest rating and the newest answer to a check in some campaigns, for a report; 0 if there is none."""
    models = {"last_rating_id": Rating.objects, "last_check_answer_id": CheckAnswer.objects}
    newest = {key: rows.filter(campaign__in=campaigns).aggregate(last=Max("id")) for key, rows in models.items()}
    return {key: row["last"] or 0 for key, row in newest.items()}


def registered_rules(reference_set: ReferenceSet) -> list[QualityRules]:
    """Return the newest rules of each campaign that has any, by campaign."""
    versions = QualityRules.objects.filter(campaign__in=reference_set.campaigns.all())
    return list(versions.order_by("campaign_id", "-version").distinct("campaign_id").select_related("campaign"))


def used_ratings(release: Release, response_ids: IntArray, last: Mapping[str, int]) -> UsedRatings:
    """Return the ratings behind a release's weights, as they were at ``last``: ``last_ids``, or its report."""
    campaigns = release_campaigns(release)
    criteria = campaign_criteria(campaigns, release.parameters.get("criteria"))
    read = rating_columns(campaigns, response_ids.tolist(), include_extra=True, up_to=last["last_rating_id"])
    read = read.select(np.isin(read.criterion_id, [criterion.pk for criterion in criteria]))
    checks = check_log(campaigns, criteria, up_to=last.get("last_check_answer_id", 0))
    outcome = apply_rules(rules_from_data(release.exclusion_rules), quality_log(read, criteria, checks))
    table = judgements(read.select(outcome.keep), criteria)
    return UsedRatings(read, outcome.keep, outcome.counts, table, sorted({criterion.name for criterion in criteria}))


def numbers_of_judgements(ratings: QuerySet[Rating]) -> set[int]:
    """Return the numbers of ratings that a rule can name; of the ratings of a dialogue's turns, the first one's."""
    rows = list(ratings.values_list("pk", "turn", "response", "campaign"))
    numbers = {pk for pk, turn, _, _ in rows if turn is None}
    about_turns = [row for row in rows if row[1] is not None]
    if about_turns:
        campaigns = Campaign.objects.filter(pk__in={row[3] for row in about_turns})
        read = rating_columns(campaigns, {row[2] for row in about_turns}, include_extra=True, timed=False)
        numbers |= {row[0] for row in about_turns} & set(read.rating_id.tolist())
    return numbers


def release_judgements(release: Release) -> JudgementTable:
    """Return the judgements that a finished release was computed from: an empty table for an imported release."""
    if release.is_imported:
        return NO_JUDGEMENTS

    def compute() -> JudgementTable:
        weighed = np.array(release.weights.values_list("response_id", flat=True), dtype=np.int64)
        return used_ratings(release, weighed, release.report).judgements

    return cached(f"release-judgements-{release.pk}-{release.content_hash}", compute, 3600)


def source_counts(dataset: Dataset) -> list[tuple[str, str, int]]:
    """Return (kind, system or "", responses) of a data set: kinds first, then systems by name."""
    counted = (
        ResponseSource.objects.filter(item__dataset=dataset)
        .order_by()
        .values_list("kind", "system__name")
        .annotate(n=Count("response", distinct=True))
    )
    rows = [(kind, system or "", n) for kind, system, n in counted]
    return sorted(rows, key=lambda row: (bool(row[1]), row[1], row[0]))
