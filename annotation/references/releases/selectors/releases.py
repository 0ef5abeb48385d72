"""Reads over reference sets and releases: what is a reference, which ratings count, what a page shows."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from django.db.models import Case, Count, Max, OuterRef, Q, QuerySet, Subquery, When

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
# The scale is unknown, too: a weight's own, so that whoever walks its points finds some.
NO_JUDGEMENTS = JudgementTable(_NONE, _NONE, _NONE, _NONE.astype(float), _NONE.astype(float), -1.0, 1.0, 0)
DEPRECATED_LAST = Case(When(deprecated_at__isnull=True, then=0), default=1)
WRITTEN_RELEASE = re.compile(r"([-a-zA-Z0-9_]+)(?:/v([0-9]{1,10}))?")


class References(NamedTuple):
    """References of a set, ordered by external id of the item, then by the key of the text: the same everywhere."""

    response_id: IntArray
    item_id: IntArray
    external_id: list[str]
    text_key: list[str]
    is_original: BoolArray


class UsedRatings(NamedTuple):
    """Which ratings a release rests on, and what became of the others."""

    read: RatingColumns  # current ratings of the references, extra ones included
    keep: BoolArray  # which of them the exclusion rules leave
    counts: tuple[int, ...]  # taken by each rule, in order
    judgements: JudgementTable  # of those kept
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
    """Of each reference set, the reason why its newest finished release is deprecated; empty where it is not."""
    newest = Release.objects.filter(reference_set=OuterRef("pk"), state=JobState.DONE).order_by("-number")
    return Subquery(newest.values("deprecation_reason")[:1])


def releases(reference_set: ReferenceSet) -> QuerySet[Release]:
    """Newest first; ``first_alike`` is the number of the earliest with the same content, where that is another."""
    alike = Release.objects.filter(
        reference_set=OuterRef("reference_set"),
        content_hash=OuterRef("content_hash"),
        state=JobState.DONE,
        number__lt=OuterRef("number"),
    ).exclude(content_hash="")
    return (
        reference_set.releases.select_related("requested_by", "deprecated_by", "reference_set")
        .annotate(first_alike=Subquery(alike.order_by("number").values("number")[:1]))
        .order_by("-number")
    )


def finished_releases(project: Project) -> QuerySet[Release]:
    """Newest first, deprecated ones after all others."""
    found = Release.objects.filter(reference_set__project=project, state=JobState.DONE)
    return found.select_related("reference_set__dataset", "reference_set__project").order_by(
        DEPRECATED_LAST, "-finished_at", "-pk"
    )


def release_name(release: Release) -> str:
    """What people write to name a release; ``release_named`` reads it."""
    return f"{release.reference_set.slug}/v{release.number}"


def same_content(release: Release) -> Release | None:
    """The first release of the set with the same content hash, where that is an earlier one."""
    same = Release.objects.filter(
        reference_set=release.reference_set_id,
        content_hash=release.content_hash,
        state=JobState.DONE,
        number__lt=release.number,
    )
    return same.order_by("number").first() if release.content_hash else None


def latest_release(reference_set: ReferenceSet) -> Release | None:
    """The newest finished release of a set that is not deprecated."""
    finished = reference_set.releases.filter(state=JobState.DONE, deprecated_at__isnull=True)
    return finished.order_by("-number").first()


def release_named(project: Project, written: str) -> Release | None:
    """The finished release that ``reference-set/v2`` names.

    ``reference-set`` names its newest that is not deprecated; where all are, the newest.
    """
    parts = WRITTEN_RELEASE.fullmatch(written)
    if parts is None:
        return None
    slug, number = parts.groups()
    found = finished_releases(project).filter(reference_set__slug=slug).order_by(DEPRECATED_LAST, "-number")
    return (found.filter(number=int(number)) if number else found).first()


def release_names(project: Project) -> str:
    """What a refusal offers: the newest finished releases by name."""
    return ", ".join(map(release_name, finished_releases(project)[:20])) or "none yet: release weights first"


def _from(kinds: Sequence[str], systems: Sequence[str]) -> Q:
    return Q(kind__in=kinds) | Q(system__name__in=systems)


def references(reference_set: ReferenceSet) -> References:
    """Every response one of whose sources makes it a reference; identical texts are one response."""
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
    """Those whose ratings a release reads: the ones its set had when it was asked for."""
    if "campaigns" in release.report:
        return list(Campaign.objects.filter(pk__in=[one["id"] for one in release.report["campaigns"]]))
    return list(release.reference_set.campaigns.all())


def last_rating_id(campaigns: Sequence[Campaign]) -> int:
    """The newest rating of some campaigns; 0 where there is none."""
    found = Rating.objects.filter(campaign__in=campaigns).aggregate(last=Max("id"))["last"]
    return int(found or 0)


def last_check_answer_id(campaigns: Sequence[Campaign]) -> int:
    """The newest answer to a check in some campaigns; 0 where there is none."""
    found = CheckAnswer.objects.filter(campaign__in=campaigns).aggregate(last=Max("id"))["last"]
    return int(found or 0)


def registered_rules(reference_set: ReferenceSet) -> list[QualityRules]:
    """The newest rules of each campaign that registered any, by campaign."""
    versions = QualityRules.objects.filter(campaign__in=reference_set.campaigns.all())
    return list(versions.order_by("campaign_id", "-version").distinct("campaign_id").select_related("campaign"))


def used_ratings(
    release: Release, campaigns: Sequence[Campaign], response_ids: IntArray, up_to: int, checks_up_to: int
) -> UsedRatings:
    """The ratings behind a release's weights: current when ``up_to`` was the last, and left by its rules.

    Rules that look at checks see the answers up to ``checks_up_to``.
    """
    criteria = campaign_criteria(campaigns, release.parameters.get("criteria"))
    read = rating_columns(campaigns, response_ids.tolist(), include_extra=True, up_to=up_to)
    read = read.select(np.isin(read.criterion_id, [criterion.pk for criterion in criteria]))
    checks = check_log(campaigns, criteria, up_to=checks_up_to)
    outcome = apply_rules(rules_from_data(release.exclusion_rules), quality_log(read, criteria, checks))
    table = judgements(read.select(outcome.keep), criteria)
    return UsedRatings(read, outcome.keep, outcome.counts, table, sorted({criterion.name for criterion in criteria}))


def release_judgements(release: Release) -> JudgementTable:
    """The judgements a finished release was computed from. They never change, so they are kept in the cache.

    None of weights that were made elsewhere (``release.is_imported``): whoever shows judgements says so.
    """
    if release.is_imported:
        return NO_JUDGEMENTS
    key = f"release-judgements-{release.pk}-{release.content_hash}"
    found: JudgementTable | None = cache.get(key)
    if found is None:
        weighed = np.array(release.weights.values_list("response_id", flat=True), dtype=np.int64)
        last_check = release.report.get("last_check_answer_id", 0)
        campaigns, last = release_campaigns(release), release.report["last_rating_id"]
        found = used_ratings(release, campaigns, weighed, last, last_check).judgements
        cache.set(key, found, 3600)
    return found


def source_counts(dataset: Dataset) -> list[tuple[str, str, int]]:
    """(kind, system or "", responses) of a data set: kinds first, then systems by name."""
    counted = (
        ResponseSource.objects.filter(item__dataset=dataset)
        .order_by()
        .values_list("kind", "system__name")
        .annotate(n=Count("response", distinct=True))
    )
    rows = [(kind, system or "", n) for kind, system, n in counted]
    return sorted(rows, key=lambda row: (bool(row[1]), row[1], row[0]))
