"""Reads over seeds: what raters said of original responses, which would be kept, and how those that were stand now.

Means are exact: a rating enters as the decimal number that it was, so a mean of 4 is 4 and not a hair below.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import (
    Campaign,
    CampaignState,
    Criterion,
    Dataset,
    JobState,
    MiningRun,
    Project,
    ResponseSource,
    SeedMember,
    SeedSelection,
    SourceKind,
    UnitResponse,
)
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import RatingColumns, campaign_criteria, rating_columns

CURVE_POINTS = 8  # half points of a scale of five; as many steps of a longer one
ROUNDING = 1e-9  # of a mean that a release keeps as a float


class SeedRow(NamedTuple):
    item_id: int
    external_id: str
    response_id: int


class Mean(NamedTuple):
    value: Fraction
    n: int


@dataclass(frozen=True)
class Rated:
    """The seeds of a data set and what raters said of them; means by response id."""

    seeds: list[SeedRow]
    means: dict[int, Mean]
    asked: dict[int, int]  # ratings that were asked for
    several: int  # items with further original responses, which do not count

    def qualified(self, least: int) -> list[SeedRow]:
        """Those with at least so many ratings that count, and at least one."""
        return [seed for seed in self.seeds if (mean := self.means.get(seed.response_id)) and mean.n >= max(least, 1)]

    def kept(self, threshold: Fraction, least: int) -> list[SeedRow]:
        return [seed for seed in self.qualified(least) if self.means[seed.response_id].value >= threshold]

    def rated_less(self, among: Iterable[SeedRow]) -> int:
        """Seeds with ratings, but with fewer than were asked for."""
        return sum(
            self.means[seed.response_id].n < self.asked.get(seed.response_id, 0)
            for seed in among
            if seed.response_id in self.means
        )

    def distribution(self, least: int) -> list[tuple[Fraction, int]]:
        found = Counter(self.means[seed.response_id].value for seed in self.qualified(least))
        return sorted(found.items())


def exactly(number: float | str) -> Fraction:
    """The decimal number that a float is written as: 4.1 is 41/10."""
    return Fraction(str(number))


# --- Seeds and their ratings ------------------------------------------------------------------------------------------


def seed_rows(dataset: Dataset) -> tuple[list[SeedRow], int]:
    """The original response of each item that has one; of several the best ranked, then the first text key."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT DISTINCT ON (i.position) i.id, i.external_id, s.response_id,
                   count(*) OVER (PARTITION BY i.id) > 1
            FROM (
                SELECT response_id, item_id, min(rank) AS rank FROM annotation_responsesource
                WHERE kind = %(kind)s GROUP BY response_id, item_id
            ) s
            JOIN annotation_item i ON i.id = s.item_id
            JOIN annotation_response r ON r.id = s.response_id
            WHERE i.dataset_id = %(dataset)s
            ORDER BY i.position, s.rank NULLS LAST, r.text_key
            """,
            {"kind": SourceKind.SEED.value, "dataset": dataset.pk},
        )
        rows = cursor.fetchall()
    return [SeedRow(*row[:3]) for row in rows], sum(row[3] for row in rows)


def exact_means(
    campaigns: Sequence[Campaign], response_ids: Collection[int], *, up_to: int | None = None
) -> dict[int, Mean]:
    """Mean judgement of each response that has one, as releases count them.

    Latest revisions, no extra ratings, none of raters who are excluded in one of the campaigns; a judgement is the mean
    over its campaign's criteria, and one that lacks a criterion does not count.
    """
    if not campaigns or not response_ids:
        return {}
    asked = campaign_criteria(campaigns)
    campaign_of = {criterion.pk: criterion.campaign_id for criterion in asked}
    wanted = Counter(campaign_of.values())
    ratings = rating_columns(campaigns, response_ids, up_to=up_to)
    ratings = ratings.select(
        np.isin(ratings.criterion_id, list(campaign_of)) & ~np.isin(ratings.rater_id, excluded_rater_ids(campaigns))
    )
    return _exact_means(ratings, {pk: wanted[campaign] for pk, campaign in campaign_of.items()})


def _exact_means(ratings: RatingColumns, needed_of: Mapping[int, int]) -> dict[int, Mean]:
    """In whole numbers over one denominator, which is as exact as fractions and takes a tenth of the time."""
    if not len(ratings.value):
        return {}
    values, of_value = np.unique(ratings.value, return_inverse=True)
    written = [exactly(value) for value in values.tolist()]
    unit = lcm(*(one.denominator for one in written), *needed_of.values())
    parts = [int(one * unit) for one in written]
    kind = np.int64 if max(map(abs, parts)) * unit * len(of_value) < 2**62 else object
    order = np.lexsort((ratings.response_id, ratings.presentation_id))
    presentation, response = ratings.presentation_id[order], ratings.response_id[order]
    start = np.flatnonzero(np.r_[True, (presentation[1:] != presentation[:-1]) | (response[1:] != response[:-1])])
    n = np.diff(np.r_[start, len(order)])
    needed = np.array([needed_of[pk] for pk in ratings.criterion_id[order][start].tolist()], dtype=np.int64)
    judged = np.add.reduceat(np.array(parts, dtype=kind)[of_value[order]], start)
    complete = n == needed
    share = judged[complete] * (unit // needed[complete].astype(kind))  # of a judgement's mean, over unit squared
    by_response = np.argsort(response[start][complete], kind="stable")
    of, share = response[start][complete][by_response], share[by_response]
    first = np.flatnonzero(np.r_[True, of[1:] != of[:-1]][: len(of)])
    if not len(first):
        return {}
    totals, counts = np.add.reduceat(share, first).tolist(), np.diff(np.r_[first, len(of)]).tolist()
    return {
        pk: Mean(Fraction(total, count * unit * unit), count)
        for pk, total, count in zip(of[first].tolist(), totals, counts, strict=True)
    }


def rated_seeds(dataset: Dataset, campaigns: Sequence[Campaign], *, up_to: int | None = None) -> Rated:
    seeds, several = seed_rows(dataset)
    responses = [seed.response_id for seed in seeds]
    asked: Counter[int] = Counter()
    shown = UnitResponse.objects.filter(unit__campaign__in=campaigns, response__in=responses).order_by()
    rows = shown.values_list("response_id", "unit__campaign__ratings_per_unit").annotate(n=Count("pk"))
    for response, k, n in rows:
        asked[response] += k * n
    return Rated(seeds, exact_means(campaigns, responses, up_to=up_to), dict(asked), several)


def seed_campaigns(dataset: Dataset) -> QuerySet[Campaign]:
    """Those that were launched, and show an original response."""
    seeds = ResponseSource.objects.filter(response=OuterRef("response"), kind=SourceKind.SEED)
    shown = UnitResponse.objects.filter(Exists(seeds), unit__campaign=OuterRef("pk"))
    return dataset.campaigns.filter(Exists(shown)).exclude(state=CampaignState.DRAFT).order_by("pk")


def thresholds(low: float, high: float) -> list[Fraction]:
    """Where a preview looks: half points of a scale of five, as many steps of any other, the lowest end left out."""
    first, last = exactly(low), exactly(high)
    points = max(CURVE_POINTS, int(last - first) * 2 if last - first <= 10 else CURVE_POINTS)
    return [first + (last - first) * place / points for place in range(1, points + 1)]


def kept_at(rated: Rated, least: int, levels: Iterable[Fraction]) -> list[tuple[Fraction, int]]:
    """How many seeds each threshold would keep."""
    counts = rated.distribution(least)
    return [(level, sum(n for value, n in counts if value >= level)) for level in levels]


# --- Selections -------------------------------------------------------------------------------------------------------


def selections_of(project: Project) -> QuerySet[SeedSelection]:
    return (
        SeedSelection.objects.filter(project=project)
        .select_related("dataset", "created_by")
        .prefetch_related("campaigns")
        .annotate(n_members=Count("members"))
        .order_by("-pk")
    )


def seeded_datasets(project: Project) -> QuerySet[Dataset]:
    """Data sets with original responses and no selection yet."""
    sources = ResponseSource.objects.filter(item__dataset=OuterRef("pk"), kind=SourceKind.SEED)
    chosen = SeedSelection.objects.filter(dataset=OuterRef("pk"))
    return project.datasets.filter(Exists(sources), ~Exists(chosen)).order_by("name")


def what_came_of(selection: SeedSelection) -> list[str]:
    """Why a selection must stay as it is: what was mined for its seeds, and who rates or rated them since."""
    dataset, reasons = selection.dataset, []
    mined = MiningRun.objects.filter(dataset=dataset, created_at__gte=selection.created_at)
    if n := mined.exclude(state__in=[JobState.FAILED, JobState.CANCELLED]).count():
        reasons.append(f"{n} mining run{'' if n == 1 else 's'} for its seeds")
    splits = selection.members.order_by().values("split").distinct()
    asks = Q(split__in=splits) | Q(response_list__origin__selection=selection.pk)
    launched = dataset.campaigns.filter(asks).exclude(state=CampaignState.DRAFT)
    reasons += [f"the campaign “{name}”" for name in launched.order_by("pk").values_list("name", flat=True)]
    return reasons


def comparable_campaigns(selection: SeedSelection) -> list[Campaign]:
    """Launched campaigns of the data set that ask what one of the selection's asks: equal criteria on equal scales."""
    dataset = selection.dataset
    asked: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for criterion in Criterion.objects.filter(campaign__dataset=dataset):
        asked[criterion.campaign_id].add((criterion.name, criterion.scale.group))
    accepted = [asked[pk] for pk in selection.campaigns.values_list("pk", flat=True)]
    launched = dataset.campaigns.exclude(state=CampaignState.DRAFT).order_by("pk")
    return [campaign for campaign in launched if asked[campaign.pk] in accepted]


def means_now(selection: SeedSelection, response_ids: Collection[int] | None = None) -> dict[int, Mean]:
    """Of its seeds, with every rating up to now that answers the same questions."""
    if response_ids is None:
        response_ids = list(selection.members.order_by().values_list("response_id", flat=True))
    return exact_means(comparable_campaigns(selection), response_ids)


def has_fallen(selection: SeedSelection, mean: Mean | None) -> bool:
    return mean is not None and mean.value < exactly(selection.threshold)


def members_page(
    selection: SeedSelection, *, split: str, among: Collection[int] | None, after: int | None, size: int
) -> tuple[list[SeedMember], int | None]:
    """Members by position of their items, from behind one; and where the next begin."""
    found = selection.members.select_related("item", "response").order_by("item__position")
    if split:
        found = found.filter(split=split)
    if among is not None:
        found = found.filter(response__in=among)
    if after is not None:
        found = found.filter(item__position__gt=after)
    page = list(found[: size + 1])
    return page[:size], (page[size - 1].item.position if len(page) > size else None)
