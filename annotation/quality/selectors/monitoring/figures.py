"""What follows from a campaign's ratings and from who is excluded: the same until an answer or a decision arrives."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

import numpy as np
from django.db import connection
from django.db.models import Count, Q
from django.db.models.functions import TruncHour

from annotation.models import (
    MIXED_IN,
    Campaign,
    Criterion,
    Presentation,
    PresentationOutcome,
    Purpose,
)
from annotation.quality.selectors.checks import second_halves
from annotation.quality.selectors.monitoring.biases import Bin, PositionFigures, binned, position_figures
from annotation.quality.selectors.monitoring.certainty import Enough, enough
from annotation.quality.selectors.raters import Moment
from annotation.rating.selectors.ratings import (
    BoolArray,
    FloatArray,
    IntArray,
    RatingColumns,
    current_ratings,
    rating_columns,
    scale_values,
)
from annotation.weighting.agreement import AlphaResult, IccResult, icc, krippendorff_alpha
from annotation.weighting.groups import codes_of
from annotation.weighting.kappa import PairwiseKappaResult, pairwise_weighted_kappa
from annotation.weighting.sequence import DriftResult, drift, sequence_places
from annotation.weighting.table import RatingTable

RESAMPLES = 300
FINEST = (
    1000  # values that alpha tells apart; more are those of a slider without steps, taken to this part of its range
)
LEAST_HOURS = 1.0  # that drift over time is told for: a slope per hour of a few minutes says nothing
ANSWERED = (PresentationOutcome.SUBMITTED, PresentationOutcome.LATE, PresentationOutcome.REPLACED)


@dataclass(frozen=True, eq=False)
class CriterionFigures:
    """One criterion's ratings that count."""

    name: str
    question: str
    kind: str
    n_ratings: int
    n_cannot_judge: int
    mean: float  # geometric for magnitudes; of a preference that of the text on the first place
    values: list[tuple[float, int]]  # every point of the scale, or the lower end of each class, with its ratings
    alpha: AlphaResult
    icc: IccResult
    kappa: PairwiseKappaResult
    by_hours: DriftResult
    by_place: DriftResult
    over_hours: list[Bin]
    over_places: list[Bin]

    @property
    def per_hundred(self) -> tuple[float, float, float]:
        """Change over 100 screens, with its interval: that over one is too small to read."""
        return 100 * self.by_place.slope, 100 * self.by_place.low, 100 * self.by_place.high


@dataclass(frozen=True, eq=False)
class Figures:
    """Everything that follows from the answers and from who is excluded."""

    as_of: list[int]  # the newest rating, answer to a check, and decision
    n_ratings: int
    n_extra: int
    n_superseded: int
    n_judgements: int
    n_raters: int
    n_responses: int  # that have a judgement
    n_planned: int  # responses that are to have one
    n_fewer: int  # responses with fewer judgements than planned
    n_more: int
    n_excluded_raters: int  # whose ratings are in none of these figures
    n_excluded_ratings: int
    n_paid: int  # answered screens, checks included, training and tests not
    n_paid_work: int
    reasons: list[tuple[str, int]]  # why something could not be judged
    per_response: list[tuple[int, int]]  # judgements, responses that have so many
    per_hour: list[tuple[datetime, int]]
    criteria: list[CriterionFigures]
    positions: list[PositionFigures]
    enough: list[Enough]

    @property
    def version(self) -> str:
        return "-".join(map(str, self.as_of))

    @property
    def has_hours(self) -> bool:
        return any(len(one.over_hours) > 1 for one in self.criteria)

    @property
    def has_screens(self) -> bool:
        return any(len(one.over_places) > 1 for one in self.criteria)


@dataclass(frozen=True, eq=False)
class Placed:
    """Where and when the ratings were given; aligned with them."""

    position: FloatArray  # on the screen, from 0; NaN where unknown
    hours: FloatArray  # since the first; NaN where unknown
    unit: IntArray

    def select(self, keep: BoolArray) -> "Placed":
        return Placed(self.position[keep], self.hours[keep], self.unit[keep])


def compute_figures(campaign: Campaign, at: Moment) -> Figures:
    """All figures as of a moment; who is excluded is who was by its decision."""
    excluded = _excluded_ids(campaign, at.decision)
    columns = rating_columns([campaign], up_to=at.rating)
    counted = ~np.isin(columns.rater_id, excluded)
    ratings, placed = columns.select(counted), _placed(campaign, columns.rating_id).select(counted)
    criteria = list(campaign.criteria.all())
    everything = campaign.ratings.aggregate(all=Count("id"), extra=Count("id", filter=Q(extra=True)))
    n_current_extra = current_ratings([campaign], include_extra=True).filter(extra=True).count()
    n_current = current_ratings([campaign]).count()
    judged = np.unique(np.stack([ratings.presentation_id, ratings.response_id]), axis=1)
    planned, places = _planned(campaign)
    responses, times = np.unique(judged[1], return_counts=True)
    unjudged = _unjudged(campaign, excluded)
    wanted = campaign.ratings_per_unit * places
    got = _looked_up(planned, responses, times)
    n_work, n_checks = _paid(campaign)
    return Figures(
        as_of=list(at),
        n_ratings=len(ratings.value),
        n_extra=n_current_extra,
        n_superseded=everything["all"] - n_current - n_current_extra,
        n_judgements=judged.shape[1],
        n_raters=len(np.unique(ratings.rater_id)),
        n_responses=len(responses),
        n_planned=len(planned),
        n_fewer=int((got < wanted).sum()),
        n_more=int((got > wanted).sum()),
        n_excluded_raters=len(excluded),
        n_excluded_ratings=len(columns.value) - len(ratings.value),
        n_paid=n_work + n_checks,
        n_paid_work=n_work,
        reasons=_reasons(campaign, excluded),
        per_response=_per_response(times, max(len(planned) - len(responses), 0)),
        per_hour=_per_hour(campaign, excluded),
        criteria=[
            _criterion_figures(criterion, ratings, placed, unjudged, ordered=not campaign.imported)
            for criterion in criteria
        ],
        positions=_positions(campaign, criteria, ratings, placed),
        enough=enough(criteria, ratings, len(planned), campaign.ratings_per_unit),
    )


def spent(campaign: Campaign, screens: float) -> tuple[Decimal, Decimal]:
    """What so many paid screens cost: pay to the raters, and with the provider's fee."""
    pay = campaign.payment_per_unit * Decimal(str(round(screens, 2)))
    return pay, pay * (1 + campaign.payment_fee_percent / 100)


# --- Reading ----------------------------------------------------------------------------------------------------------


def _excluded_ids(campaign: Campaign, decision: int) -> list[int]:
    rows = campaign.decisions.filter(pk__lte=decision, action__in=["exclude", "include"]).order_by("pk")
    latest = dict(rows.values_list("rater_id", "action"))
    return [rater for rater, action in latest.items() if action == "exclude"]


def _placed(campaign: Campaign, rating_ids: IntArray) -> Placed:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT r.id, r.position::float8, extract(epoch FROM r.sent_at)::float8, p.unit_id
               FROM annotation_rating r JOIN annotation_presentation p ON p.id = r.presentation_id
               WHERE r.campaign_id = %s ORDER BY r.id""",
            [campaign.pk],
        )
        rows = cursor.fetchall()
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    here = np.searchsorted(ids, rating_ids)
    position, sent = (np.array([row[place] for row in rows], dtype=np.float64)[here] for place in (1, 2))
    unit = np.array([row[3] for row in rows], dtype=np.int64)[here]
    known = sent[~np.isnan(sent)]
    return Placed(position, (sent - known.min()) / 3600 if known.size else sent, unit)


def _planned(campaign: Campaign) -> tuple[IntArray, IntArray]:
    """Responses that are handed out or were, and how many units show each."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT shown.response_id, count(*) FROM annotation_unitresponse shown
               JOIN annotation_unit u ON u.id = shown.unit_id
               WHERE u.campaign_id = %s AND (u.done_slots > 0 OR NOT u.stopped) GROUP BY 1 ORDER BY 1""",
            [campaign.pk],
        )
        rows = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _unjudged(campaign: Campaign, excluded: Sequence[int]) -> list[tuple[int, str, int]]:
    rows = current_ratings([campaign]).filter(value__isnull=True).exclude(rater__in=excluded).order_by()
    return list(rows.values_list("criterion_id", "cannot_judge").annotate(n=Count("id")))


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


def _looked_up(wanted: IntArray, keys: IntArray, values: IntArray) -> IntArray:
    """The value of each wanted key; 0 where it has none."""
    found: IntArray = np.zeros(len(wanted), dtype=np.int64)
    here = np.searchsorted(keys, wanted)
    there = here < len(keys)
    there[there] = keys[here[there]] == wanted[there]
    found[there] = values[here[there]]
    return found


def _per_response(times: IntArray, unrated: int) -> list[tuple[int, int]]:
    n, responses = np.unique(times, return_counts=True)
    rows = list(zip(n.tolist(), responses.tolist(), strict=True))
    return [(0, unrated), *rows] if unrated else rows


def _reasons(campaign: Campaign, excluded: Sequence[int]) -> list[tuple[str, int]]:
    """How often each was given for a text, however many questions were asked about it."""
    rows = current_ratings([campaign]).filter(value__isnull=True).exclude(rater__in=excluded).order_by()
    given = rows.values_list("cannot_judge", "presentation", "position", "rater", "response").distinct()
    totals = Counter(reason for reason, *_ in given)
    return sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))


def _criterion_figures(
    criterion: Criterion,
    ratings: RatingColumns,
    placed: Placed,
    unjudged: Sequence[tuple[int, str, int]],
    *,
    ordered: bool,
) -> CriterionFigures:
    mine = ratings.criterion_id == criterion.pk
    own, where = ratings.select(mine), placed.select(mine)
    scale, shown = criterion.scale, own.value
    if scale.mirrored:  # one choice each, told from the first place; raters of one pair are compared
        shown = own.value[where.position == 0]
        once = ~second_halves(own, [criterion])
        own, where = own.select(once), where.select(once)
    value = scale_values(own.value, own.criterion_id, [criterion])
    table = RatingTable(codes_of(where.unit if scale.mirrored else own.response_id), codes_of(own.rater_id), value)
    in_sequence = sequence_places(own.rater_id, own.presentation_id).astype(np.float64)
    if not ordered:  # lines of a file, in no order that anybody rated them in
        in_sequence[:] = np.nan
    hours = where.hours if np.nanmax(where.hours, initial=0.0) >= LEAST_HOURS else np.full(len(value), np.nan)
    return CriterionFigures(
        name=criterion.name,
        question=criterion.question,
        kind=criterion.kind,
        n_ratings=len(value),
        n_cannot_judge=sum(n for pk, _, n in unjudged if pk == criterion.pk),
        mean=scale.mean(shown),
        values=scale.histogram(shown),
        alpha=krippendorff_alpha(_coarse(table), level=scale.level, n_bootstrap=RESAMPLES),
        icc=icc(table),
        kappa=pairwise_weighted_kappa(table, n_bootstrap=RESAMPLES),
        by_hours=_drift(
            value, own.rater_id, hours, f"the ratings span less than {LEAST_HOURS:g} hour, or have no time"
        ),
        by_place=_drift(value, own.rater_id, in_sequence, "the order of the ratings is not known"),
        over_hours=binned(value, own.rater_id, hours),
        over_places=binned(value, own.rater_id, in_sequence + 1),
    )


def _drift(value: FloatArray, rater: IntArray, place: FloatArray, unknown: str) -> DriftResult:
    found = drift(value, rater, place)
    return replace(found, reason=unknown) if len(place) and np.isnan(place).all() else found


def _coarse(table: RatingTable) -> RatingTable:
    if len(np.unique(table.value)) <= FINEST:
        return table
    step = np.ptp(table.value) / FINEST
    return RatingTable(
        table.response, table.rater, np.round(table.value / step) * step, table.n_responses, table.n_raters
    )


def _positions(
    campaign: Campaign, criteria: Sequence[Criterion], ratings: RatingColumns, placed: Placed
) -> list[PositionFigures]:
    if campaign.imported or not campaign.presentation_kind.shows_several:
        return []
    found = []
    for criterion in criteria:
        mine = (ratings.criterion_id == criterion.pk) & ~np.isnan(placed.position)
        value = scale_values(ratings.value[mine], ratings.criterion_id[mine], [criterion])
        found.append(position_figures(criterion, ratings.presentation_id[mine], placed.position[mine], value))
    return found
