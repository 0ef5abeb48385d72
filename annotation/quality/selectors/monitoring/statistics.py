"""The statistics that follow from a campaign's ratings and excluded raters, until an answer or a decision arrives."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

import numpy as np
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncHour

from annotation.core import sql
from annotation.models import MIXED_IN, Campaign, Criterion, Presentation, Purpose, Rating
from annotation.quality.selectors.checks import second_halves
from annotation.quality.selectors.monitoring.biases import PositionStatistics, position_statistics
from annotation.quality.selectors.monitoring.certainty import Enough, enough
from annotation.quality.selectors.monitoring.forecast import CriterionForecast, forecasts
from annotation.quality.selectors.planned import planned_ratings
from annotation.quality.selectors.raters import Moment, excluded_as_of
from annotation.rating.selectors.handout import ANSWERED
from annotation.rating.selectors.ratings import (
    BoolArray,
    FloatArray,
    IntArray,
    RatingColumns,
    current_ratings,
    rating_columns,
    scale_values,
    turn_columns,
)
from annotation.weighting.agreement import RESAMPLES, AlphaResult, IccResult, icc, krippendorff_alpha
from annotation.weighting.groups import codes_of
from annotation.weighting.kappa import PairwiseKappaResult, pairwise_weighted_kappa
from annotation.weighting.sequence import DriftResult, Stretch, drift, sequence_positions, stretches
from annotation.weighting.table import RatingTable

MOST_VALUES = 1000  # that alpha tells apart; a slider without steps has more, which are rounded
MOST_ITEMS = 100  # over which drift along the sequence is shown: the change over one is too small to read
LEAST_ITEMS = 10  # in the longest sequence, for that drift
LEAST_HOURS = 1.0  # for drift over time: a slope per hour from a few minutes says nothing


@dataclass(frozen=True, eq=False)
class CriterionStatistics:
    """One criterion's counted ratings."""

    name: str
    question: str
    kind: str
    n_ratings: int
    n_cannot_judge: int
    mean: float  # geometric for magnitudes; for preferences, of the text in the first position
    values: list[tuple[float, int]]  # every point of the scale, or the lower end of each class, with its ratings
    alpha: AlphaResult
    icc: IccResult
    kappa: PairwiseKappaResult
    by_hours: DriftResult
    by_place: DriftResult
    over_hours: list[Stretch]
    over_places: list[Stretch]
    longest: int  # items in the longest sequence of a rater

    @property
    def drift_items(self) -> int:
        """Return the items over which drift is shown: never more than some rater saw."""
        return min(self.longest, MOST_ITEMS)

    @property
    def over_items(self) -> tuple[float, float, float]:
        """Return the change over ``drift_items``, with its interval."""
        drift = self.by_place
        return self.drift_items * drift.slope, self.drift_items * drift.low, self.drift_items * drift.high


@dataclass(frozen=True, eq=False)
class Statistics:
    """Everything that follows from the answers and the excluded raters."""

    as_of: list[int]  # the newest rating, answer to a check, and decision
    n_ratings: int
    n_extra: int
    n_superseded: int
    n_judgements: int
    n_answers: int  # items answered, without checks; a pair or a list is one
    n_raters: int
    n_responses: int  # with a judgement
    n_planned: int  # responses that will have one
    n_fewer: int  # responses with fewer judgements than planned
    n_more: int
    n_excluded_raters: int  # whose ratings are in none of these statistics
    n_excluded_ratings: int
    n_paid: int  # answered items with checks, without training and tests
    n_paid_work: int
    reasons: list[tuple[str, int]]  # why a text could not be judged
    per_response: list[tuple[int, int]]  # number of judgements, responses with that number
    per_hour: list[tuple[datetime, int]]
    criteria: list[CriterionStatistics]
    positions: list[PositionStatistics]
    enough: list[Enough]
    forecasts: list[CriterionForecast]  # empty if no systems are compared

    @property
    def version(self) -> str:
        return "-".join(map(str, self.as_of))

    @property
    def has_hours(self) -> bool:
        return any(len(criterion.over_hours) > 1 for criterion in self.criteria)

    @property
    def has_screens(self) -> bool:
        return any(len(criterion.over_places) > 1 for criterion in self.criteria)

    @property
    def unknown(self) -> dict[str, str]:
        """Return what cannot be computed yet for any criterion, each with the reason of the first."""
        measures = {
            "Agreement": [(alpha.alpha, alpha.reason) for alpha in (criterion.alpha for criterion in self.criteria)]
            + [(criterion.kappa.kappa, criterion.kappa.reason) for criterion in self.criteria]
            + [(criterion.icc.icc_1, criterion.icc.reason) for criterion in self.criteria],
            "Margins of error": [(certainty.half_width, certainty.reason) for certainty in self.enough],
            "Position on the screen": [(test.pvalue, test.reason) for test in self.positions],
            "Drift": [
                (drift.slope, drift.reason)
                for criterion in self.criteria
                for drift in (criterion.by_place, criterion.by_hours)
            ],
        }
        return {
            name: numbers[0][1]
            for name, numbers in measures.items()
            if numbers and all(math.isnan(number) for number, _ in numbers)
        }

    @property
    def is_waiting(self) -> bool:
        """Return whether nothing that compares ratings is known yet."""
        return {"Agreement", "Margins of error", "Drift"} <= set(self.unknown)


@dataclass(frozen=True, eq=False)
class Circumstances:
    """Where and when each rating was given, aligned with the ratings."""

    position: FloatArray  # on the screen, from 0; NaN where unknown
    hours: FloatArray  # since the first; NaN where unknown
    unit: IntArray

    def select(self, keep: BoolArray) -> "Circumstances":
        return Circumstances(self.position[keep], self.hours[keep], self.unit[keep])


def compute_statistics(campaign: Campaign, at: Moment) -> Statistics:
    """Compute all statistics as of a moment, without the raters whom its last decision left excluded."""
    excluded = excluded_as_of(campaign, at.decision, "rater_id")
    columns = rating_columns([campaign], up_to=at.rating)
    counted = ~np.isin(columns.rater_id, excluded)
    ratings = columns.select(counted)
    shown = _circumstances(campaign, columns.rating_id).select(counted)
    criteria = list(campaign.criteria.all())
    by_turn, of_turns = ratings, shown
    if any(criterion.by_turn for criterion in criteria):
        by_turn, of_turns = _by_turn(campaign, excluded, at)
    stored = campaign.ratings.aggregate(all=Count("id"), extra=Count("id", filter=Q(extra=True)))
    n_current_extra = current_ratings([campaign], include_extra=True).filter(extra=True).count()
    n_current = current_ratings([campaign]).count()
    judged = np.unique(np.stack([ratings.presentation_id, ratings.response_id]), axis=1)
    planned = planned_ratings(campaign)
    handed_out, which = np.unique(planned.response_id, return_inverse=True)
    responses, times = np.unique(judged[1], return_counts=True)
    unjudged = _unjudged(campaign, excluded)
    n_unjudged = Counter(unjudged.values_list("criterion_id", flat=True))
    n_wanted = np.bincount(which, planned.wanted, minlength=len(handed_out))
    n_judged = _values_of(handed_out, responses, times)
    n_work, n_checks = _paid(campaign)
    return Statistics(
        as_of=list(at),
        n_ratings=len(ratings.value),
        n_extra=n_current_extra,
        n_superseded=stored["all"] - n_current - n_current_extra,
        n_judgements=judged.shape[1],
        n_answers=len(np.unique(ratings.presentation_id)),
        n_raters=len(np.unique(ratings.rater_id)),
        n_responses=len(responses),
        n_planned=len(handed_out),
        n_fewer=int((n_judged < n_wanted).sum()),
        n_more=int((n_judged > n_wanted).sum()),
        n_excluded_raters=len(excluded),
        n_excluded_ratings=len(columns.value) - len(ratings.value),
        n_paid=n_work + n_checks,
        n_paid_work=n_work,
        reasons=_reasons(unjudged),
        per_response=_per_response(times, max(len(handed_out) - len(responses), 0)),
        per_hour=_per_hour(campaign, excluded),
        criteria=[
            _criterion_statistics(
                criterion,
                *((by_turn, of_turns) if criterion.by_turn else (ratings, shown)),
                n_unjudged[criterion.pk],
                ordered=not campaign.imported,
            )
            for criterion in criteria
        ],
        positions=_positions(campaign, criteria, ratings, shown),
        enough=enough(criteria, ratings, None if campaign.imported else planned, campaign.ratings_per_unit),
        forecasts=forecasts(campaign, criteria, ratings, planned),
    )


def cost(campaign: Campaign, n_items: float) -> tuple[Decimal, Decimal]:
    """Return what paid items cost: the pay of the raters, without and with the provider's fee."""
    pay = campaign.payment_per_unit * Decimal(str(round(n_items, 2)))
    return pay, pay * (1 + campaign.payment_fee_percent / 100)


# --- Reading ----------------------------------------------------------------------------------------------------------


def _circumstances(campaign: Campaign, rating_ids: IntArray) -> Circumstances:
    rows = sql.rows(
        """SELECT r.id, r.position::float8, extract(epoch FROM r.sent_at)::float8, p.unit_id
           FROM annotation_rating r JOIN annotation_presentation p ON p.id = r.presentation_id
           WHERE r.campaign_id = %s ORDER BY r.id""",
        [campaign.pk],
    )
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    index = np.searchsorted(ids, rating_ids)
    position, sent = (np.array([row[column] for row in rows], dtype=np.float64)[index] for column in (1, 2))
    unit = np.array([row[3] for row in rows], dtype=np.int64)[index]
    known = sent[~np.isnan(sent)]
    return Circumstances(position, (sent - known.min()) / 3600 if known.size else sent, unit)


def _by_turn(campaign: Campaign, excluded: Sequence[int], at: Moment) -> tuple[RatingColumns, Circumstances]:
    """Return the ratings about turns as if each turn were a response: raters are compared turn by turn."""
    columns, turn = turn_columns([campaign], up_to=at.rating)
    columns = columns._replace(response_id=turn)
    counted = ~np.isin(columns.rater_id, excluded)
    ratings = columns.select(counted)
    return ratings, _circumstances(campaign, ratings.rating_id)


def _unjudged(campaign: Campaign, excluded: Sequence[int]) -> QuerySet[Rating]:
    return current_ratings([campaign]).filter(value__isnull=True).exclude(rater__in=excluded).order_by()


def _paid(campaign: Campaign) -> tuple[int, int]:
    answered = Presentation.objects.filter(campaign=campaign, outcome__in=ANSWERED).aggregate(
        work=Count("pk", filter=Q(purpose=Purpose.WORK)), checks=Count("pk", filter=Q(purpose__in=MIXED_IN))
    )
    return answered["work"], answered["checks"]


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


# --- Computing --------------------------------------------------------------------------------------------------------


def _values_of(ids: IntArray, keys: IntArray, values: IntArray) -> IntArray:
    """Return the value of each id; 0 if it is not among the sorted keys."""
    result: IntArray = np.zeros(len(ids), dtype=np.int64)
    _, positions, indices = np.intersect1d(ids, keys, assume_unique=True, return_indices=True)
    result[positions] = values[indices]
    return result


def _per_response(times: IntArray, unrated: int) -> list[tuple[int, int]]:
    n, responses = np.unique(times, return_counts=True)
    rows = list(zip(n.tolist(), responses.tolist(), strict=True))
    return [(0, unrated), *rows] if unrated else rows


def _reasons(unjudged: QuerySet[Rating]) -> list[tuple[str, int]]:
    """Return how often each reason was given, once a text, however many questions it had."""
    texts = unjudged.values_list("cannot_judge", "presentation", "position", "rater", "response").distinct()
    totals = Counter(reason for reason, *_ in texts)
    return sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))


def _criterion_statistics(
    criterion: Criterion,
    ratings: RatingColumns,
    shown: Circumstances,
    n_cannot_judge: int,
    *,
    ordered: bool,
) -> CriterionStatistics:
    mine = ratings.criterion_id == criterion.pk
    ratings, shown = ratings.select(mine), shown.select(mine)
    scale, points = criterion.scale, ratings.value
    if scale.mirrored:  # one choice for each pair, as seen from the first position; raters of a pair are compared
        points = ratings.value[shown.position == 0]
        once = ~second_halves(ratings, [criterion])
        ratings, shown = ratings.select(once), shown.select(once)
    rater = ratings.rater_id
    value = scale_values(ratings.value, ratings.criterion_id, [criterion])
    table = RatingTable(codes_of(shown.unit if scale.mirrored else ratings.response_id), codes_of(rater), value)
    in_sequence = sequence_positions(rater, ratings.presentation_id).astype(np.float64)
    if not ordered:  # lines of a file: the order of rating is unknown
        in_sequence[:] = np.nan
    longest = int(np.nanmax(in_sequence, initial=-1)) + 1
    places = in_sequence if longest >= LEAST_ITEMS else np.full(len(value), np.nan)
    unknown = f"no rater has seen {LEAST_ITEMS} items" if longest else "the order of the ratings is not known"
    hours = shown.hours if np.nanmax(shown.hours, initial=0.0) >= LEAST_HOURS else np.full(len(value), np.nan)
    too_short = f"the ratings span less than {LEAST_HOURS:g} hour, or have no time"
    return CriterionStatistics(
        name=criterion.name,
        question=criterion.question,
        kind=criterion.kind,
        n_ratings=len(value),
        n_cannot_judge=n_cannot_judge,
        mean=scale.mean(points),
        values=scale.histogram(points),
        alpha=krippendorff_alpha(_rounded(table), level=scale.level, n_bootstrap=RESAMPLES),
        icc=icc(table),
        kappa=pairwise_weighted_kappa(table),
        by_hours=_drift(value, rater, hours, too_short),
        by_place=_drift(value, rater, places, unknown),
        over_hours=stretches(value, rater, hours),
        over_places=stretches(value, rater, in_sequence + 1),
        longest=longest,
    )


def _drift(value: FloatArray, rater: IntArray, when: FloatArray, reason_unknown: str) -> DriftResult:
    result = drift(value, rater, when)
    return replace(result, reason=reason_unknown) if len(when) and np.isnan(when).all() else result


def _rounded(table: RatingTable) -> RatingTable:
    if len(np.unique(table.value)) <= MOST_VALUES:
        return table
    step = np.ptp(table.value) / MOST_VALUES
    value = np.round(table.value / step) * step
    return RatingTable(table.response, table.rater, value, table.n_responses, table.n_raters)


def _positions(
    campaign: Campaign, criteria: Sequence[Criterion], ratings: RatingColumns, shown: Circumstances
) -> list[PositionStatistics]:
    if campaign.imported or not campaign.presentation_kind.shows_several:
        return []
    results = []
    for criterion in criteria:
        mine = (ratings.criterion_id == criterion.pk) & ~np.isnan(shown.position)
        value = scale_values(ratings.value[mine], ratings.criterion_id[mine], [criterion])
        results.append(position_statistics(criterion, ratings.presentation_id[mine], shown.position[mine], value))
    return results
