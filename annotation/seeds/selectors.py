"""Reads of seeds: the mean ratings of original responses, the seeds that a selection would keep, and selections.

Means are exact: a rating counts as the decimal number that it is written as, so that a mean of 4 is exactly 4.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from annotation.core import sql
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
from annotation.seeds.criteria import CRITERIA, MeanRating

CURVE_POINTS = 8  # half points of a scale of five; as many steps of a longer one
ROUNDING = 1e-9  # of a mean that a release keeps as a float


class SeedRow(NamedTuple):
    item_id: int
    external_id: str
    response_id: int


@dataclass(frozen=True)
class RatedSeeds:
    """The seeds of a data set with their mean ratings, by response id."""

    seeds: list[SeedRow]
    means: dict[int, MeanRating]
    planned: dict[int, int]  # ratings that the campaigns collect
    several: int  # items with further original responses, which do not count

    def qualified(self, criteria: Mapping[str, int]) -> list[SeedRow]:
        """Return the seeds with a rating that counts which meet these criteria."""
        return [
            seed
            for seed in self.seeds
            if (mean := self.means.get(seed.response_id))
            and all(CRITERIA[name].is_met(mean, value) for name, value in criteria.items())
        ]

    def kept(self, threshold: Fraction, criteria: Mapping[str, int]) -> list[SeedRow]:
        return [seed for seed in self.qualified(criteria) if self.means[seed.response_id].value >= threshold]

    def rated_less(self, among: Iterable[SeedRow]) -> int:
        """Count the seeds with ratings, but fewer than planned."""
        return sum(
            self.means[seed.response_id].n < self.planned.get(seed.response_id, 0)
            for seed in among
            if seed.response_id in self.means
        )

    def distribution(self, criteria: Mapping[str, int]) -> list[tuple[Fraction, int]]:
        counts = Counter(self.means[seed.response_id].value for seed in self.qualified(criteria))
        return sorted(counts.items())


def exactly(number: float | str) -> Fraction:
    """Return the decimal number that a float is written as: 4.1 is 41/10."""
    return Fraction(str(number))


# --- Seeds and their ratings ------------------------------------------------------------------------------------------


def seed_rows(dataset: Dataset) -> tuple[list[SeedRow], int]:
    """Return the original response of each item (best ranked, then first by text key), and the number with several."""
    rows = sql.rows(
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
    return [SeedRow(*row[:3]) for row in rows], sum(row[3] for row in rows)


def exact_means(
    campaigns: Sequence[Campaign], response_ids: Collection[int], *, up_to: int | None = None
) -> dict[int, MeanRating]:
    """Return the mean judgement of each response that has one, counted as in releases.

    The latest revisions count, no extra ratings, and none of raters who are excluded in one of the campaigns. A
    judgement is the mean over its campaign's criteria; one that lacks a criterion does not count.
    """
    if not campaigns or not response_ids:
        return {}
    campaign_of = {criterion.pk: criterion.campaign_id for criterion in campaign_criteria(campaigns, on_one_scale=True)}
    n_criteria = Counter(campaign_of.values())
    ratings = rating_columns(campaigns, response_ids, up_to=up_to)
    ratings = ratings.select(
        np.isin(ratings.criterion_id, list(campaign_of)) & ~np.isin(ratings.rater_id, excluded_rater_ids(campaigns))
    )
    return _exact_means(ratings, {pk: n_criteria[campaign] for pk, campaign in campaign_of.items()})


def _exact_means(ratings: RatingColumns, needed_of: Mapping[int, int]) -> dict[int, MeanRating]:
    """Compute in whole numbers over one denominator: exact like fractions, in a tenth of the time."""
    if not len(ratings.value):
        return {}
    values, of_value = np.unique(ratings.value, return_inverse=True)
    fractions = [exactly(value) for value in values.tolist()]
    unit = lcm(*(fraction.denominator for fraction in fractions), *needed_of.values())
    parts = [int(fraction * unit) for fraction in fractions]
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
        pk: MeanRating(Fraction(total, count * unit * unit), count)
        for pk, total, count in zip(of[first].tolist(), totals, counts, strict=True)
    }


def rated_seeds(dataset: Dataset, campaigns: Sequence[Campaign], *, up_to: int | None = None) -> RatedSeeds:
    seeds, several = seed_rows(dataset)
    responses = [seed.response_id for seed in seeds]
    planned: Counter[int] = Counter()
    shown = UnitResponse.objects.filter(unit__campaign__in=campaigns, response__in=responses).order_by()
    for response, wanted in shown.values_list("response_id").annotate(n=Sum("unit__ratings_wanted")):
        planned[response] += wanted
    return RatedSeeds(seeds, exact_means(campaigns, responses, up_to=up_to), dict(planned), several)


def seed_campaigns(dataset: Dataset) -> QuerySet[Campaign]:
    """Return the launched campaigns that show an original response."""
    seeds = ResponseSource.objects.filter(response=OuterRef("response"), kind=SourceKind.SEED)
    shown = UnitResponse.objects.filter(Exists(seeds), unit__campaign=OuterRef("pk"))
    return dataset.campaigns.filter(Exists(shown)).exclude(state=CampaignState.DRAFT).order_by("pk")


def thresholds(low: float, high: float) -> list[Fraction]:
    """Return the thresholds of a preview: half points of a scale of five, as many steps of any other."""
    first, last = exactly(low), exactly(high)
    points = max(CURVE_POINTS, int(last - first) * 2 if last - first <= 10 else CURVE_POINTS)
    return [first + (last - first) * step / points for step in range(1, points + 1)]


def kept_at(rated: RatedSeeds, criteria: Mapping[str, int], levels: Iterable[Fraction]) -> list[tuple[Fraction, int]]:
    """Count the seeds that each threshold would keep."""
    counts = rated.distribution(criteria)
    return [(level, sum(n for value, n in counts if value >= level)) for level in levels]


# --- Selections -------------------------------------------------------------------------------------------------------


def selections_of(project: Project) -> QuerySet[Any]:
    return (
        SeedSelection.objects.filter(project=project)
        .select_related("dataset", "created_by")
        .prefetch_related("campaigns")
        .annotate(n_members=Count("members"))
        .order_by("-pk")
    )


def seeded_datasets(project: Project) -> QuerySet[Dataset]:
    """Return the data sets with original responses and no selection yet."""
    sources = ResponseSource.objects.filter(item__dataset=OuterRef("pk"), kind=SourceKind.SEED)
    selections = SeedSelection.objects.filter(dataset=OuterRef("pk"))
    return project.datasets.filter(Exists(sources), ~Exists(selections)).order_by("name")


def selection_uses(selection: SeedSelection) -> list[str]:
    """Name the mining runs and launched campaigns that use a selection, which can no longer change because of them."""
    dataset, uses = selection.dataset, []
    mined = MiningRun.objects.filter(dataset=dataset, created_at__gte=selection.created_at)
    if n := mined.exclude(state__in=[JobState.FAILED, JobState.CANCELLED]).count():
        uses.append(f"{n} mining run{'' if n == 1 else 's'} for its seeds")
    splits = selection.members.order_by().values("split").distinct()
    rates_seeds = Q(split__in=splits) | Q(response_list__origin__selection=selection.pk)
    launched = dataset.campaigns.filter(rates_seeds).exclude(state=CampaignState.DRAFT)
    uses += [f"the campaign “{name}”" for name in launched.order_by("pk").values_list("name", flat=True)]
    return uses


def comparable_campaigns(selection: SeedSelection) -> list[Campaign]:
    """Return the data set's launched campaigns with the criteria and scales of one of the selection's campaigns."""
    dataset = selection.dataset
    criteria_of: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for criterion in Criterion.objects.filter(campaign__dataset=dataset):
        criteria_of[criterion.campaign_id].add((criterion.name, criterion.scale.group))
    accepted = [criteria_of[pk] for pk in selection.campaigns.values_list("pk", flat=True)]
    launched = dataset.campaigns.exclude(state=CampaignState.DRAFT).order_by("pk")
    return [campaign for campaign in launched if criteria_of[campaign.pk] in accepted]


def means_now(selection: SeedSelection, response_ids: Collection[int] | None = None) -> dict[int, MeanRating]:
    """Return the means of a selection's seeds, with every rating up to now on the same criteria."""
    if response_ids is None:
        response_ids = list(selection.members.order_by().values_list("response_id", flat=True))
    return exact_means(comparable_campaigns(selection), response_ids)


def has_fallen(selection: SeedSelection, mean: MeanRating | None) -> bool:
    return mean is not None and mean.value < exactly(selection.threshold)


@dataclass(frozen=True)
class MemberNow:
    """A selected seed with its mean of all ratings up to now."""

    member: SeedMember
    mean: MeanRating | None

    @property
    def mean_now(self) -> float | None:
        return float(self.mean.value) if self.mean else None

    @property
    def n_now(self) -> int:
        return self.mean.n if self.mean else 0

    @property
    def has_fallen(self) -> bool:
        return has_fallen(self.member.selection, self.mean)


def members_now(selection: SeedSelection, means: Mapping[int, MeanRating]) -> Iterator[MemberNow]:
    members = selection.members.select_related("item", "response").order_by("item__position")
    return (MemberNow(member, means.get(member.response_id)) for member in members.iterator(chunk_size=2000))


def members_page(
    selection: SeedSelection, *, split: str, among: Collection[int] | None, after: int | None, size: int
) -> tuple[list[SeedMember], int | None]:
    """Return a page of members in the order of their items, and the position after which the next page begins."""
    members = selection.members.select_related("item", "response").order_by("item__position")
    if split:
        members = members.filter(split=split)
    if among is not None:
        members = members.filter(response__in=among)
    if after is not None:
        members = members.filter(item__position__gt=after)
    page = list(members[: size + 1])
    return page[:size], (page[size - 1].item.position if len(page) > size else None)
