"""Answers to checks and raters' ratings, as the rules and measures of raters read them."""

from collections.abc import Iterable, Sequence

import numpy as np
from django.db import connection

from annotation.models import Campaign, Criterion, Rater
from annotation.rating.selectors.ratings import FloatArray, IntArray, RatingColumns, scale_values
from annotation.weighting.checks import CheckLog
from annotation.weighting.exclusion.log import RatingLog

# One row per current answer and criterion. A mirrored answer is one choice, though it is stored for both texts: the one
# counts of which something is expected, or else the first. A repeat is compared with what stood when it was answered.
_ANSWERS = """
    SELECT a.rater_id, a.criterion_id, p.purpose, a.value, first.value,
           (text.one -> 'expected' -> c.name ->> 0)::float8, (text.one -> 'expected' -> c.name ->> 1)::float8
    FROM annotation_checkanswer a
    JOIN annotation_presentation p ON p.id = a.presentation_id
    JOIN annotation_criterion c ON c.id = a.criterion_id
    LEFT JOIN annotation_checkunit screen ON screen.id = p.check_unit_id
    LEFT JOIN LATERAL (SELECT screen.texts -> a.number::int AS one) text ON true
    LEFT JOIN LATERAL (
        SELECT r.value
        FROM annotation_unitresponse shown
        JOIN annotation_rating r ON r.presentation_id = p.repeats_id AND r.response_id = shown.response_id
            AND r.criterion_id = a.criterion_id AND (r.sent_at IS NULL OR r.sent_at <= p.ended_at)
        WHERE shown.unit_id = p.unit_id AND shown.number = a.number
        ORDER BY r.revision DESC LIMIT 1
    ) first ON p.purpose = 'repeat'
    WHERE a.campaign_id = ANY(%(campaigns)s)
      AND p.purpose IN ('gold', 'attention', 'anchor', 'degraded', 'repeat')
      AND (p.purpose <> 'degraded' OR text.one ->> 'role' = 'degraded')
      AND NOT (c.id = ANY(%(mirrored)s) AND a.number > 0
               AND (p.purpose = 'repeat' OR screen.texts -> 0 -> 'expected' ? c.name))
      AND (%(up_to)s::bigint IS NULL OR a.id <= %(up_to)s)
      AND NOT EXISTS (
          SELECT 1 FROM annotation_checkanswer later
          WHERE later.presentation_id = a.presentation_id AND later.number = a.number
            AND later.criterion_id = a.criterion_id AND later.revision > a.revision
            AND (%(up_to)s::bigint IS NULL OR later.id <= %(up_to)s))
    ORDER BY a.id
"""


def check_log(campaigns: Iterable[Campaign], criteria: Sequence[Criterion], *, up_to: int | None = None) -> CheckLog:
    """Current answers to the checks mixed into the work; raters by pseudonym, criteria by name.

    ``up_to`` reads them as they stood when the answer of that id was the last one. Magnitudes are logarithms of their
    ratio to the standard, as they are weighed.
    """
    parameters = {
        "campaigns": [campaign.pk for campaign in campaigns],
        "mirrored": [criterion.pk for criterion in criteria if criterion.scale.mirrored],
        "up_to": up_to,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERS, parameters)
        rows = cursor.fetchall()
    known = {criterion.pk: criterion for criterion in criteria}
    rows = [row for row in rows if row[1] in known]
    if not rows:
        return CheckLog(np.zeros(0, dtype=np.str_), kind=[], value=[], criterion=np.zeros(0, dtype=np.str_))
    about = np.array([row[1] for row in rows], dtype=np.int64)
    value, first, low, high = (
        scale_values(_numbers(row[place] for row in rows), about, criteria) for place in range(3, 7)
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


def quality_log(read: RatingColumns, criteria: Sequence[Criterion], checks: CheckLog) -> RatingLog:
    """Ratings with everything a rule may ask for; raters by pseudonym, criteria by name, magnitudes as logarithms."""
    return RatingLog(
        rater_names(read.rater_id),
        rating=read.rating_id,
        seconds=read.seconds,
        extra=read.extra,
        response=read.response_id,
        value=scale_values(read.value, read.criterion_id, criteria),
        criterion=criterion_names(read.criterion_id, criteria),
        checks=checks,
    )


def rater_names(rater_ids: IntArray) -> np.ndarray:
    """Each rater's pseudonym, in the order of the ids."""
    distinct, code = np.unique(rater_ids, return_inverse=True)
    names = dict(Rater.objects.filter(pk__in=distinct.tolist()).values_list("pk", "pseudonym"))
    return np.array([names[number] for number in distinct.tolist()], dtype=np.str_)[code]


def criterion_names(criterion_ids: IntArray, criteria: Sequence[Criterion]) -> np.ndarray:
    distinct, code = np.unique(criterion_ids, return_inverse=True)
    names = {criterion.pk: criterion.name for criterion in criteria}
    return np.array([names[pk] for pk in distinct.tolist()], dtype=np.str_)[code]


def second_halves(read: RatingColumns, criteria: Sequence[Criterion]) -> np.ndarray:
    """Mark the ratings that repeat a choice: a mirrored answer is stored for both texts, with opposite signs."""
    mirrored = [criterion.pk for criterion in criteria if criterion.scale.mirrored]
    second = np.zeros(len(read.rating_id), dtype=np.bool_)
    mine = np.flatnonzero(np.isin(read.criterion_id, mirrored))
    if mine.size:
        order = mine[np.lexsort((read.response_id[mine], read.criterion_id[mine], read.presentation_id[mine]))]
        same = (read.presentation_id[order][1:] == read.presentation_id[order][:-1]) & (
            read.criterion_id[order][1:] == read.criterion_id[order][:-1]
        )
        second[order[1:][same]] = True
    return second


def _numbers(column: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in column], dtype=np.float64)
