"""Facts about the judgements of a release, for its data card and page: agreement, recruitment, sources, splits."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, F

from annotation.core.numbers import finite_or_none
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Campaign, Release, ResponseSource, SeedSelection
from annotation.rating.selectors.ratings import JudgementTable
from annotation.recruitment.providers import PROVIDERS
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.references.releases.selectors.seeds import fallen_seeds
from annotation.weighting.agreement import Level, icc, krippendorff_alpha
from annotation.weighting.table import RatingTable

RESAMPLES = 200  # as the live monitor's
MOST_LEVELS = 25  # with more distinct values, alpha is computed on differences


@dataclass(frozen=True)
class Agreement:
    """Of the judgements that count in a release; NaN is stored as None, with the reason."""

    level: str
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None
    alpha_reason: str
    icc_1: float | None
    icc_1_low: float | None
    icc_1_high: float | None
    icc_k: float | None
    icc_k_low: float | None
    icc_k_high: float | None
    k: float | None
    icc_reason: str


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
    return Agreement(
        level=level,
        alpha=finite_or_none(alpha.alpha),
        alpha_low=finite_or_none(alpha.low),
        alpha_high=finite_or_none(alpha.high),
        alpha_reason=alpha.reason,
        icc_1=finite_or_none(consistency.icc_1),
        icc_1_low=finite_or_none(consistency.icc_1_low),
        icc_1_high=finite_or_none(consistency.icc_1_high),
        icc_k=finite_or_none(consistency.icc_k),
        icc_k_low=finite_or_none(consistency.icc_k_low),
        icc_k_high=finite_or_none(consistency.icc_k_high),
        k=finite_or_none(consistency.k),
        icc_reason=consistency.reason,
    )


def _unknown(reason: str) -> Agreement:
    return Agreement("", None, None, None, reason, None, None, None, None, None, None, None, reason)


def recruitment_sentences(release: Release) -> list[str]:
    """Return one sentence for each campaign: where its raters came from, as far as is recorded."""
    sentences = []
    for campaign in sorted(release_campaigns(release), key=lambda campaign: campaign.pk):
        if campaign.imported:
            sentences.append(f"{campaign.name}: its judgements were imported; their recruitment is not recorded.")
            continue
        sentences.append(f"{campaign.name}: {_ways(campaign)}.")
    return sentences


def _ways(campaign: Campaign) -> str:
    studies = Counter(campaign.recruitments.order_by("provider").values_list("provider", flat=True))
    ways = [
        f"through {PROVIDERS[provider].label} ({n} {'study' if n == 1 else 'studies'})"
        for provider, n in studies.items()
    ]
    ways = ways or ["by a direct link from the project"]
    paid = f"{campaign.payment_per_unit.normalize():f} {campaign.payment_currency} per item"
    return " and ".join(ways) + (f"; paid {paid}" if campaign.payment_per_unit else "; unpaid")


def source_counts_of(release: Release) -> list[tuple[str, int]]:
    """(kind or system, references) of a release, most first; a text of several sources counts for each."""
    sources = ResponseSource.objects.filter(response__weights__release=release).order_by()
    rows = sources.values_list("kind", F("system__name")).annotate(n=Count("response", distinct=True))
    found = [(system or kind, n) for kind, system, n in rows]
    return sorted(found, key=lambda row: (-row[1], row[0]))


def split_counts(release: Release) -> list[tuple[str, int, int]]:
    """(split, items, references) of a release; items in no split stand under an empty name."""
    rows: list[tuple[str, Any, Any]] = list(
        release.weights.order_by("item__split")
        .values_list("item__split")
        .annotate(items=Count("item", distinct=True), references=Count("id"))
    )
    return rows


def fallen_seeds_of(release: Release) -> set[int] | None:
    """Responses that were selected as seeds and whose mean in this release is below the threshold; None: no seeds."""
    if release.is_imported or not SeedSelection.objects.filter(dataset=release.reference_set.dataset_id).exists():
        return None
    return fallen_seeds(release)
