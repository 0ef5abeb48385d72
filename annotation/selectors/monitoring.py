"""How a campaign is going: completion, speed, distributions, agreement. Cheap to ask again while nothing changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Max, Q
from django.db.models.functions import Now, TruncHour

from annotation.models import (
    Campaign,
    Criterion,
    Presentation,
    PresentationKind,
    Slot,
    SlotState,
    UnitResponse,
)
from annotation.selectors.amendments import places
from annotation.selectors.decisions import excluded_rater_ids
from annotation.selectors.ratings import RatingColumns, current_ratings, rating_columns
from annotation.weighting import AlphaResult, IccResult, RatingTable, icc, krippendorff_alpha

ACTIVE_MINUTES = 5
KEPT_SECONDS = 3600


@dataclass(frozen=True, eq=False)
class CriterionFigures:
    """One criterion's ratings that count."""

    name: str
    question: str
    n_ratings: int
    mean: float
    values: list[tuple[float, int]]  # every point of the scale, with its ratings
    alpha: AlphaResult
    icc: IccResult


@dataclass(frozen=True)
class PositionFigures:
    """One criterion's ratings by place on the screen."""

    criterion: str
    means: list[tuple[int, int, float]]  # place from 1, ratings, mean
    difference: float  # first less second place, mean over presentations; NaN unless pairs
    low: float  # 95% interval, normal approximation
    high: float
    reason: str


@dataclass(frozen=True, eq=False)
class Figures:
    """Everything that follows from the ratings and from who is excluded; the same until one of both changes."""

    n_ratings: int
    n_extra: int
    n_superseded: int
    n_judgements: int
    n_raters: int
    n_responses: int  # that have a judgement
    n_excluded_raters: int  # whose ratings are in none of these figures
    n_excluded_ratings: int
    per_response: list[tuple[int, int]]  # judgements, responses that have so many
    per_hour: list[tuple[datetime, int]]
    criteria: list[CriterionFigures]
    positions: list[PositionFigures]


@dataclass(frozen=True, eq=False)
class Monitor:
    campaign: Campaign
    slots_total: int
    slots_done: int
    slots_leased: int
    raters_active: int
    figures: Figures
    version: str  # changes when anything shown does
    figures_version: str  # changes when a rating arrives or somebody is excluded or taken back in

    @property
    def live(self) -> bool:
        return self.campaign.state == "running" and not self.campaign.imported

    @property
    def percent_done(self) -> float:
        return 100 * self.slots_done / self.slots_total if self.slots_total else 0.0


def campaign_monitor(campaign: Campaign) -> Monitor:
    """The state of a campaign now. Figures are computed once per last rating, so polling is cheap."""
    slots = {} if campaign.imported else _slot_counts(campaign)
    done, leased = slots.get("done", 0), slots.get("leased", 0)
    active = 0 if campaign.imported else _active_raters(campaign)
    last = campaign.ratings.aggregate(last=Max("id"))["last"] or 0
    decided = campaign.decisions.aggregate(last=Max("id"))["last"] or 0
    return Monitor(
        campaign=campaign,
        slots_total=slots.get("all", 0),
        slots_done=done,
        slots_leased=leased,
        raters_active=active,
        figures=campaign_figures(campaign, last, decided),
        version=f"{last}-{decided}-{slots.get('all', 0)}-{done}-{leased}-{active}-{campaign.state}",
        figures_version=f"{last}-{decided}",
    )


def campaign_figures(campaign: Campaign, last: int, decided: int) -> Figures:
    """Figures as of rating ``last`` and decision ``decided``, from the cache if they are there."""
    key = f"campaign-figures-{campaign.pk}-{campaign.state}-{last}-{decided}"
    found: Figures | None = cache.get(key)
    if found is None:
        found = _figures(campaign)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _slot_counts(campaign: Campaign) -> dict[str, int]:
    """From the units, which are k times fewer; of a stopped one only the filled places are wanted."""
    found = places(campaign)
    held = Slot.objects.filter(campaign=campaign, state=SlotState.LEASED, expires_at__gt=Now())
    return {"all": found.wanted, "done": found.done, "leased": held.count()}


def _active_raters(campaign: Campaign) -> int:
    """Raters who hold a unit or sent one within the last minutes."""
    recent = Now() - timedelta(minutes=ACTIVE_MINUTES)
    holding = Slot.objects.filter(campaign=campaign, state=SlotState.LEASED, expires_at__gt=Now())
    sent = Presentation.objects.filter(campaign=campaign, ended_at__gt=recent, outcome__in=["submitted", "late"])
    return holding.values_list("rater_id").union(sent.values_list("rater_id")).count()


def _figures(campaign: Campaign) -> Figures:
    excluded = excluded_rater_ids([campaign])
    columns = rating_columns([campaign])
    ratings = columns.select(~np.isin(columns.rater_id, excluded))
    criteria = list(campaign.criteria.all())
    everything = campaign.ratings.aggregate(all=Count("id"), extra=Count("id", filter=Q(extra=True)))
    n_current_extra = current_ratings([campaign], include_extra=True).filter(extra=True).count()
    n_current = current_ratings([campaign]).count()
    judged = np.unique(np.stack([ratings.presentation_id, ratings.response_id]), axis=1)
    return Figures(
        n_ratings=len(ratings.value),
        n_extra=n_current_extra,
        n_superseded=everything["all"] - n_current - n_current_extra,
        n_judgements=judged.shape[1],
        n_raters=len(np.unique(ratings.rater_id)),
        n_responses=len(np.unique(ratings.response_id)),
        n_excluded_raters=len(excluded),
        n_excluded_ratings=len(columns.value) - len(ratings.value),
        per_response=_per_response(campaign, judged[1]),
        per_hour=_per_hour(campaign, excluded),
        criteria=[_criterion_figures(criterion, ratings) for criterion in criteria],
        positions=[] if campaign.imported else _positions(campaign, criteria, excluded),
    )


def _per_response(campaign: Campaign, judged_responses: np.ndarray) -> list[tuple[int, int]]:
    _, times = np.unique(judged_responses, return_counts=True)
    n, responses = np.unique(times, return_counts=True)
    planned = UnitResponse.objects.filter(unit__campaign=campaign).aggregate(n=Count("response", distinct=True))["n"]
    unrated = max(planned - len(times), 0)
    rows = list(zip(n.tolist(), responses.tolist(), strict=True))
    return [(0, unrated), *rows] if unrated else rows


def _per_hour(campaign: Campaign, excluded: Sequence[int]) -> list[tuple[datetime, int]]:
    counted = (
        current_ratings([campaign])
        .filter(sent_at__isnull=False, value__isnull=False)
        .exclude(rater__in=excluded)
        .order_by()
        .annotate(hour=TruncHour("sent_at"))
        .values_list("hour")
        .annotate(n=Count("id"))
        .order_by("hour")
    )
    return list(counted)


def _criterion_figures(criterion: Criterion, ratings: RatingColumns) -> CriterionFigures:
    mine = ratings.select(ratings.criterion_id == criterion.pk)
    # Values between the points, such as medians, count too.
    given = mine.value[np.isfinite(mine.value)]
    points = np.union1d(np.arange(criterion.scale_min, criterion.scale_max + 1), given).tolist()
    _, response = np.unique(mine.response_id, return_inverse=True)
    _, rater = np.unique(mine.rater_id, return_inverse=True)
    table = RatingTable(response, rater, mine.value)
    return CriterionFigures(
        name=criterion.name,
        question=criterion.question,
        n_ratings=len(mine.value),
        mean=float(mine.value.mean()) if len(mine.value) else np.nan,
        values=[(float(point), int((mine.value == point).sum())) for point in points],
        alpha=krippendorff_alpha(table),
        icc=icc(table),
    )


def _positions(campaign: Campaign, criteria: Sequence[Criterion], excluded: Sequence[int]) -> list[PositionFigures]:
    """Mean by place on the screen; for pairs also first less second place within a presentation."""
    if campaign.presentation == PresentationKind.SINGLE:
        return []
    rows = (
        current_ratings([campaign])
        .filter(position__isnull=False, value__isnull=False)
        .exclude(rater__in=excluded)
        .order_by("presentation_id", "position")
    )
    data = np.array(list(rows.values_list("criterion_id", "presentation_id", "position", "value")), dtype=np.float64)
    data = data.reshape(-1, 4)
    return [_position_figures(criterion.name, data[data[:, 0] == criterion.pk]) for criterion in criteria]


def _position_figures(name: str, data: np.ndarray) -> PositionFigures:
    places, counts = np.unique(data[:, 2], return_counts=True)
    means = [
        (int(place) + 1, int(count), float(data[data[:, 2] == place, 3].mean()))
        for place, count in zip(places, counts, strict=True)
    ]
    difference, half, reason = np.nan, np.nan, ""
    _, start, size = np.unique(data[:, 1], return_index=True, return_counts=True)
    pairs = start[size == 2]
    if places.max(initial=0) > 1:
        reason = "more than two places"
    elif len(pairs) < 2:
        reason = "fewer than two pairs were rated"
    else:
        differences = data[pairs, 3] - data[pairs + 1, 3]
        difference = float(differences.mean())
        half = 1.96 * float(differences.std(ddof=1)) / np.sqrt(len(differences))
    return PositionFigures(name, means, difference, difference - half, difference + half, reason)


POSITION_COLUMNS = ("criterion", "place", "ratings", "mean", "first_less_second", "low", "high", "undefined_reason")


def position_rows(figures: Figures) -> list[tuple[Any, ...]]:
    """One row per criterion and place; the difference belongs to the criterion and stands in each of its rows."""
    return [
        (one.criterion, place, n, mean, one.difference, one.low, one.high, one.reason)
        for one in figures.positions
        for place, n, mean in one.means
    ]


AGREEMENT_COLUMNS = (
    "criterion", "ratings", "mean", "responses_with_two_raters", "alpha_ordinal", "alpha_reason", "icc_1", "icc_1_low",
    "icc_1_high", "icc_k", "icc_k_low", "icc_k_high", "k", "icc_reason",
)  # fmt: skip


def agreement_rows(figures: Figures) -> list[tuple[Any, ...]]:
    """The agreement table as a download shows it."""
    return [
        (
            one.name, one.n_ratings, one.mean, one.alpha.n_responses, one.alpha.alpha, one.alpha.reason,
            one.icc.icc_1, one.icc.icc_1_low, one.icc.icc_1_high, one.icc.icc_k, one.icc.icc_k_low, one.icc.icc_k_high,
            one.icc.k, one.icc.reason,
        )
        for one in figures.criteria
    ]  # fmt: skip
