"""Facts about the judgements of a release, for its data card and page: agreement, recruitment, sources, splits."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Exists, F, OuterRef

from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Campaign, Criterion, Rating, Release, ReleaseWeight, ResponseSource, SeedSelection
from annotation.rating.selectors.ratings import JudgementTable
from annotation.recruitment.providers import PROVIDERS
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.seeds.selectors import ROUNDING
from annotation.weighting.agreement import RESAMPLES, Level, icc, krippendorff_alpha
from annotation.weighting.table import RatingTable

MOST_LEVELS = 25  # with more distinct values, alpha is computed on differences


def raters_behind(release: Release) -> str:
    """Return how many raters weigh the release's references; of medians or means that they are not known."""
    if any(campaign.unknown_raters for campaign in release.reference_set.campaigns.all()):
        return "raters who are not known"
    n: int = release.report["ratings"]["raters"]
    return f"{n:,} raters" if n != 1 else "1 rater"


@dataclass(frozen=True)
class Agreement:
    """Agreement of the judgements that count in a release; None with a reason if it is undefined."""

    level: str = ""
    alpha: float | None = None
    alpha_low: float | None = None
    alpha_high: float | None = None
    alpha_reason: str = ""
    icc_1: float | None = None
    icc_1_low: float | None = None
    icc_1_high: float | None = None
    icc_k: float | None = None
    icc_k_low: float | None = None
    icc_k_high: float | None = None
    k: float | None = None
    icc_reason: str = ""


@dataclass(frozen=True)
class Lack:
    """How few of a data set's items have a weighted reference in a release."""

    weighted: int
    references: int
    items_weighted: int
    items: int
    rated_outputs: int  # distinct texts that the campaigns rated instead; 0 if fewer than weighted references


def weights_lacking(release: Release) -> Lack | None:
    """Return what lacks if fewer than half of the items have a weighted reference; None if not."""
    references, items = release.report["references"], release.report["items"]
    if 2 * items["with_weight"] >= items["all"]:
        return None
    outputs = ResponseSource.objects.filter(response=OuterRef("response"), system__isnull=False)
    rated = Rating.objects.filter(Exists(outputs), campaign__in=release_campaigns(release))
    weighted = ReleaseWeight.objects.filter(release=release, response=OuterRef("response"))
    n_outputs = rated.exclude(Exists(weighted)).values("response").distinct().count()
    return Lack(
        references["weighted"],
        references["all"],
        items["with_weight"],
        items["all"],
        n_outputs if n_outputs > references["weighted"] else 0,
    )


def release_agreement(release: Release) -> Agreement:
    """Return Krippendorff's alpha and one-way ICC over a release's judgements, as its report holds them."""
    if release.is_imported:
        return _unknown("the weights were made elsewhere: their judgements are not stored")
    return Agreement(**release.report["agreement"])


def judged_agreement(judged: JudgementTable) -> Agreement:
    """Return how far the raters of some judgements agree."""
    if by_stand_ins(judged.rater_id).any():
        return _unknown("only medians or means were imported: their raters are not known")
    _, response = np.unique(judged.response_id, return_inverse=True)
    _, rater = np.unique(judged.rater_id, return_inverse=True)
    table = RatingTable(response, rater, judged.value)
    # With many levels, interval alpha is reported: the time of ordinal alpha grows with the square of the levels.
    level: Level = "ordinal" if len(np.unique(judged.value)) <= MOST_LEVELS else "interval"
    alpha = krippendorff_alpha(table, level=level, n_bootstrap=RESAMPLES)
    consistency = icc(table)
    names = ("icc_1", "icc_1_low", "icc_1_high", "icc_k", "icc_k_low", "icc_k_high", "k")
    return Agreement(
        level=level,
        alpha=finite_or_none(alpha.alpha),
        alpha_low=finite_or_none(alpha.low),
        alpha_high=finite_or_none(alpha.high),
        alpha_reason=alpha.reason,
        icc_reason=consistency.reason,
        **{name: finite_or_none(getattr(consistency, name)) for name in names},
    )


def _unknown(reason: str) -> Agreement:
    return Agreement(alpha_reason=reason, icc_reason=reason)


def recruitment_sentences(release: Release) -> list[str]:
    """Return one sentence for each campaign: where its raters came from, as far as is recorded."""
    campaigns = sorted(release_campaigns(release), key=lambda campaign: campaign.pk)
    return [f"{campaign.name}: {_ways(campaign)}." for campaign in campaigns]


def _ways(campaign: Campaign) -> str:
    if campaign.imported:
        return "its judgements were imported; their recruitment is not recorded"
    studies = Counter(campaign.recruitments.order_by("provider").values_list("provider", flat=True))
    ways = [
        f"through {PROVIDERS[provider].label} ({n} {'study' if n == 1 else 'studies'})"
        for provider, n in studies.items()
    ]
    ways = ways or ["by a direct link from the project"]
    paid = f"{campaign.payment_per_unit.normalize():f} {campaign.payment_currency} per item"
    return " and ".join(ways) + (f"; paid {paid}" if campaign.payment_per_unit else "; unpaid")


def source_counts_of(release: Release) -> list[tuple[str, int]]:
    """Return (kind or system, references) of a release, most first; a text of several sources counts for each."""
    sources = ResponseSource.objects.filter(response__weights__release=release).order_by()
    rows = sources.values_list("kind", F("system__name")).annotate(n=Count("response", distinct=True))
    counts = [(system or kind, n) for kind, system, n in rows]
    return sorted(counts, key=lambda row: (-row[1], row[0]))


def split_counts(release: Release) -> list[tuple[str, int, int]]:
    """Return (split, items, references) of a release; the name is empty for items without a split."""
    rows: list[tuple[str, Any, Any]] = list(
        release.weights.order_by("item__split")
        .values_list("item__split")
        .annotate(items=Count("item", distinct=True), references=Count("id"))
    )
    return rows


def fallen_seeds_of(release: Release) -> set[int] | None:
    """Return the seeds whose mean in this release is below the threshold; None if no seeds were selected."""
    if release.is_imported or not SeedSelection.objects.filter(dataset=release.reference_set.dataset_id).exists():
        return None
    return fallen_seeds(release)


def fallen_seeds(release: Release) -> set[int]:
    """Return the ids of the seeds whose mean in a release is below the threshold at which they were selected.

    There are none without a selection, or if the release's ratings are on another scale.
    """
    selection = SeedSelection.objects.filter(dataset=release.reference_set.dataset_id).first()
    if selection is None:
        return set()
    then, now = _scales(selection.campaigns.all()), _scales(release_campaigns(release))
    if not now or now != then:
        return set()
    members = selection.members.order_by().values("response")
    weights = release.weights.filter(response__in=members, rating_mean__lt=selection.threshold - ROUNDING)
    return set(weights.order_by().values_list("response_id", flat=True))


def _scales(campaigns: Iterable[Campaign]) -> set[str]:
    criteria = Criterion.objects.filter(campaign__in=[campaign.pk for campaign in campaigns])
    return {criterion.scale.group for criterion in criteria}
