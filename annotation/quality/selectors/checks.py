"""Answers to checks and ratings as the rules and the measures of raters read them."""

from collections.abc import Iterable, Sequence

import numpy as np

from annotation.core import sql
from annotation.models import Campaign, Criterion, Rater
from annotation.rating.selectors.ratings import FloatArray, IntArray, RatingColumns, scale_values
from annotation.weighting.checks import CheckLog
from annotation.weighting.exclusion.log import RatingLog

# One row per current answer and criterion. A mirrored answer is one choice that is stored for both texts: the text with
# an expected range counts, or else the first. A repeat is compared with the rating as it was when it was answered.
_ANSWERS = """
    SELECT a.rater_id, a.criterion_id, p.purpose, a.value, first.value,
           (text.data -> 'expected' -> c.name ->> 0)::float8, (text.data -> 'expected' -> c.name ->> 1)::float8
    FROM annotation_checkanswer a
    JOIN annotation_presentation p ON p.id = a.presentation_id
    JOIN annotation_criterion c ON c.id = a.criterion_id
    LEFT JOIN annotation_checkunit screen ON screen.id = p.check_unit_id
    LEFT JOIN LATERAL (SELECT screen.texts -> a.number::int AS data) text ON true
    LEFT JOIN LATERAL (
        SELECT r.value
        FROM annotation_unitresponse shown
        JOIN annotation_rating r ON r.presentation_id = p.repeats_id AND r.response_id = shown.response_id
            AND r.criterion_id = a.criterion_id AND r.turn IS NOT DISTINCT FROM a.turn
            AND (r.sent_at IS NULL OR r.sent_at <= p.ended_at)
        WHERE shown.unit_id = p.unit_id AND shown.number = a.number
        ORDER BY r.revision DESC LIMIT 1
    ) first ON p.purpose = 'repeat'
    WHERE a.campaign_id = ANY(%(campaigns)s)
      AND p.purpose IN ('gold', 'attention', 'anchor', 'degraded', 'repeat')
      AND (p.purpose <> 'degraded' OR text.data ->> 'role' = 'degraded')
      AND NOT (c.id = ANY(%(mirrored)s) AND a.number > 0
               AND (p.purpose = 'repeat' OR screen.texts -> 0 -> 'expected' ? c.name))
      AND (%(up_to)s::bigint IS NULL OR a.id <= %(up_to)s)
      AND NOT EXISTS (
          SELECT 1 FROM annotation_checkanswer later
          WHERE later.presentation_id = a.presentation_id AND later.number = a.number
            AND later.criterion_id = a.criterion_id AND later.turn IS NOT DISTINCT FROM a.turn
            AND later.revision > a.revision
            AND (%(up_to)s::bigint IS NULL OR later.id <= %(up_to)s))
    ORDER BY a.id
"""


def check_log(campaigns: Iterable[Campaign], criteria: Sequence[Criterion], *, up_to: int | None = None) -> CheckLog:
    """Return current answers to the checks mixed into the work; raters by pseudonym, criteria by name.

    ``up_to`` reads them as of the answer with that id. Values are as they are weighed: magnitudes are logarithms of
    their ratio to the standard.
    """
    parameters = {
        "campaigns": [campaign.pk for campaign in campaigns],
        "mirrored": [criterion.pk for criterion in criteria if criterion.scale.mirrored],
        "up_to": up_to,
    }
    rows = sql.rows(_ANSWERS, parameters)
    known = {criterion.pk: criterion for criterion in criteria}
    rows = [row for row in rows if row[1] in known]
    if not rows:
        return CheckLog(np.zeros(0, dtype=np.str_), kind=[], value=[], criterion=np.zeros(0, dtype=np.str_))
    about = np.array([row[1] for row in rows], dtype=np.int64)
    value, first, low, high = (
        scale_values(np.array([row[column] for row in rows], dtype=np.float64), about, criteria)
        for column in range(3, 7)
    )
    return CheckLog(
        rater_names(np.array([row[0] for row in rows], dtype=np.int64)),
        kind=[row[2] for row in rows],
        value=value,
        criterion=criterion_names(about, criteria),
        first=first,
        low=low,
        high=high,
        point=[known[pk].scale.point for pk in about.tolist()],
    )


def quality_log(ratings: RatingColumns, criteria: Sequence[Criterion], checks: CheckLog) -> RatingLog:
    """Return ratings with all columns that rules read; raters by pseudonym, criteria by name, values as weighed."""
    return RatingLog(
        rater_names(ratings.rater_id),
        rating=ratings.rating_id,
        seconds=ratings.seconds,
        extra=ratings.extra,
        response=ratings.response_id,
        value=scale_values(ratings.value, ratings.criterion_id, criteria),
        criterion=criterion_names(ratings.criterion_id, criteria),
        screen=ratings.presentation_id,
        points=_points(ratings.criterion_id, criteria),
        checks=checks,
    )


def _points(criterion_ids: IntArray, criteria: Sequence[Criterion]) -> FloatArray:
    """Return how many values the scale of each rating has; NaN for sliders and numbers."""
    points = {criterion.pk: float(len(criterion.scale.points)) or np.nan for criterion in criteria}
    distinct, code = np.unique(criterion_ids, return_inverse=True)
    return np.array([points[pk] for pk in distinct.tolist()], dtype=np.float64)[code]


def rater_names(rater_ids: IntArray) -> np.ndarray:
    """Return the pseudonym of each id."""
    distinct, code = np.unique(rater_ids, return_inverse=True)
    names = dict(Rater.objects.filter(pk__in=distinct.tolist()).values_list("pk", "pseudonym"))
    return np.array([names[number] for number in distinct.tolist()], dtype=np.str_)[code]


def criterion_names(criterion_ids: IntArray, criteria: Sequence[Criterion]) -> np.ndarray:
    distinct, code = np.unique(criterion_ids, return_inverse=True)
    names = {criterion.pk: criterion.name for criterion in criteria}
    return np.array([names[pk] for pk in distinct.tolist()], dtype=np.str_)[code]


def second_halves(ratings: RatingColumns, criteria: Sequence[Criterion]) -> np.ndarray:
    """Mark the second rating of each choice: a mirrored answer is stored for both texts, with opposite signs."""
    mirrored = [criterion.pk for criterion in criteria if criterion.scale.mirrored]
    second = np.zeros(len(ratings.rating_id), dtype=np.bool_)
    mine = np.flatnonzero(np.isin(ratings.criterion_id, mirrored))
    if mine.size:
        order = mine[np.lexsort((ratings.response_id[mine], ratings.criterion_id[mine], ratings.presentation_id[mine]))]
        same = (ratings.presentation_id[order][1:] == ratings.presentation_id[order][:-1]) & (
            ratings.criterion_id[order][1:] == ratings.criterion_id[order][:-1]
        )
        second[order[1:][same]] = True
    return second
