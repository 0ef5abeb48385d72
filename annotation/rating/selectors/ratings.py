"""Read the current ratings, also as the arrays that weights, agreement and studies are computed from."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.core import sql
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Criterion, Rater, Rating

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def current_ratings(campaigns: Iterable[Campaign], *, include_extra: bool = False) -> QuerySet[Rating]:
    """Return the latest revision of every rating; extra ratings, which supersede no others, only on request."""
    # Of a criterion, either all ratings are about a turn or none is: a null on the right has a null on the left.
    later = Rating.objects.filter(
        Q(turn=OuterRef("turn")) | Q(turn__isnull=True),
        presentation=OuterRef("presentation"),
        response=OuterRef("response"),
        criterion=OuterRef("criterion"),
        extra=OuterRef("extra"),
        revision__gt=OuterRef("revision"),
        revision__gte=1,  # implied by the line above; lets the database read corrections alone
    )
    ratings = Rating.objects.filter(~Exists(later), campaign__in=[campaign.pk for campaign in campaigns])
    return ratings if include_extra else ratings.filter(extra=False)


SECONDS = "coalesce(p.seconds_given, extract(epoch FROM p.ended_at - p.shown_at)::float8)"
PRESENTATIONS = "JOIN annotation_presentation p ON p.id = r.presentation_id"
NONE = "NULL::float8"


class RatingColumns(NamedTuple):
    """Current ratings, one entry per rating, ordered by rating id."""

    rating_id: IntArray
    response_id: IntArray
    rater_id: IntArray
    presentation_id: IntArray
    criterion_id: IntArray
    value: FloatArray
    seconds: FloatArray  # from shown to sent; NaN where unknown
    extra: BoolArray

    def select(self, keep: BoolArray) -> "RatingColumns":
        return RatingColumns._make(column[keep] for column in self)


class JudgementTable(NamedTuple):
    """One entry per judgement (a response in one presentation), ordered by presentation, then response."""

    response_id: IntArray
    rater_id: IntArray
    presentation_id: IntArray
    value: FloatArray  # mean over the criteria
    seconds: FloatArray  # from shown to sent; NaN where unknown
    low: float  # ends of the scale of the values: see shared_ends
    high: float
    n_incomplete: int  # judgements left out because a criterion of their campaign has no rating


def rating_columns(
    campaigns: Iterable[Campaign],
    response_ids: Collection[int] | None = None,
    *,
    include_extra: bool = False,
    up_to: int | None = None,
    timed: bool = True,
) -> RatingColumns:
    """Return current ratings of some campaigns as arrays, optionally of some responses only.

    The ratings of a dialogue's turns on a criterion are one entry: their mean, under the number of the first of them.
    ``up_to`` reads them as of the rating with that id. Without ``timed`` the seconds are NaN, and presentations are not
    read.
    """
    every, turn = _read_columns(campaigns, response_ids, include_extra=include_extra, up_to=up_to, timed=timed)
    return _means_of_turns(every, ~np.isnan(turn))


def turn_columns(
    campaigns: Iterable[Campaign], *, up_to: int | None = None, timed: bool = True
) -> tuple[RatingColumns, IntArray]:
    """Return the current ratings about turns, and for each the index of its turn: what raters agree on, or not."""
    every, turn = _read_columns(campaigns, None, include_extra=False, up_to=up_to, timed=timed)
    about = ~np.isnan(turn)
    mine = every.select(about)
    _, index = np.unique(np.stack([mine.response_id, turn[about].astype(np.int64)]), axis=1, return_inverse=True)
    return mine, index.reshape(-1).astype(np.int64)


def _means_of_turns(every: RatingColumns, about_turn: BoolArray) -> RatingColumns:
    if not about_turn.any():
        return every
    mine = every.select(about_turn)
    keys = np.stack([mine.presentation_id, mine.response_id, mine.criterion_id, mine.extra.astype(np.int64)])
    _, first, index, n = np.unique(keys, axis=1, return_index=True, return_inverse=True, return_counts=True)
    means = np.bincount(index.reshape(-1), mine.value) / n
    joined = mine.select(np.isin(np.arange(len(mine.value)), first))  # in the order of their numbers, as ``first`` is
    joined = joined._replace(value=means[np.argsort(first)])
    both = [np.concatenate(columns) for columns in zip(every.select(~about_turn), joined, strict=True)]
    order = np.argsort(both[0], kind="stable")
    return RatingColumns._make(column[order] for column in both)


def _read_columns(
    campaigns: Iterable[Campaign],
    response_ids: Collection[int] | None,
    *,
    include_extra: bool,
    up_to: int | None,
    timed: bool,
) -> tuple[RatingColumns, FloatArray]:
    """Return every current rating that has a value, and its turn; NaN if it is about the whole response."""
    query = f"""
        SELECT r.id, r.response_id, r.rater_id, r.presentation_id, r.criterion_id, r.value,
               {SECONDS if timed else NONE}, r.extra, r.turn::float8
        FROM annotation_rating r {PRESENTATIONS if timed else ""}
        WHERE r.campaign_id = ANY(%(campaigns)s) AND r.value IS NOT NULL
          AND (%(include_extra)s OR NOT r.extra)
          AND (%(up_to)s::bigint IS NULL OR r.id <= %(up_to)s)
          AND (%(responses)s::bigint[] IS NULL OR r.response_id = ANY(%(responses)s))
          AND NOT EXISTS (
              SELECT 1 FROM annotation_rating later
              WHERE later.presentation_id = r.presentation_id AND later.response_id = r.response_id
                AND later.criterion_id = r.criterion_id AND later.turn IS NOT DISTINCT FROM r.turn
                AND later.extra = r.extra AND later.revision > r.revision
                AND later.revision > 0  -- implied; lets the database read corrections alone
                AND (%(up_to)s::bigint IS NULL OR later.id <= %(up_to)s))
        ORDER BY r.id"""  # noqa: S608  # built from the constants above
    parameters = {
        "campaigns": [campaign.pk for campaign in campaigns],
        "responses": None if response_ids is None else [int(number) for number in response_ids],
        "include_extra": include_extra,
        "up_to": up_to,
    }
    rows = sql.rows(query, parameters)
    types: Sequence[Any] = (np.int64,) * 5 + (np.float64, np.float64, np.bool_, np.float64)
    columns = zip(*rows, strict=True) if rows else [()] * len(types)
    *read, turn = (np.array(column, dtype=kind) for column, kind in zip(columns, types, strict=True))
    return RatingColumns._make(read), turn


def judgement_table(
    campaigns: Iterable[Campaign],
    response_ids: Collection[int] | None = None,
    *,
    criteria: Collection[str] | None = None,
) -> JudgementTable:
    """Return current judgements, extra ones left out, each the mean over its campaign's criteria.

    ``criteria`` names the criteria to average over; by default all. Raise ``AnnotationError`` if they cannot be
    averaged, or if a campaign lacks one of them.
    """
    chosen = list(campaigns)
    return judgements(rating_columns(chosen, response_ids), campaign_criteria(chosen, criteria))


def campaign_criteria(
    campaigns: Iterable[Campaign], names: Collection[str] | None = None, *, on_one_scale: bool = False
) -> list[Criterion]:
    """Return the criteria of some campaigns, which can be averaged; raise ``AnnotationError`` if there are none.

    Scales may differ if each rates texts alone between two ends, unless the caller needs values ``on_one_scale``.
    """
    chosen = {campaign.pk: campaign for campaign in campaigns}
    available = list(Criterion.objects.filter(campaign__in=chosen).order_by("campaign", "position", "id"))
    criteria = [criterion for criterion in available if names is None or criterion.name in names]
    for pk, campaign in chosen.items():
        present = {criterion.name for criterion in criteria if criterion.campaign_id == pk}
        missing = sorted(set(names or ()) - present)
        if missing or not present:
            has = ", ".join(criterion.name for criterion in available if criterion.campaign_id == pk) or "none"
            lacks = ", ".join(missing) or "at all"
            raise AnnotationError(f"Campaign “{campaign}” has no criterion {lacks}; it has: {has}.")
    scales = scale_groups(criteria)
    if len(scales) != 1 and (on_one_scale or not all(_has_ends(criterion) for criterion in criteria)):
        named = ", ".join(scales) or "none"
        raise AnnotationError(f"The criteria must share one scale to be averaged; found: {named}.")
    return criteria


def scale_groups(criteria: Iterable[Criterion]) -> list[str]:
    """Return the names of the criteria's different scales."""
    return sorted({criterion.scale.group for criterion in criteria})


def _has_ends(criterion: Criterion) -> bool:
    return not criterion.scale.is_relative and bool(np.isfinite(criterion.scale.ends).all())


def shared_ends(criteria: Sequence[Criterion]) -> tuple[float, float]:
    """Return the ends of the criteria's scale; -1 and +1, those of weights, if their scales differ."""
    return criteria[0].scale.ends if len(scale_groups(criteria)) == 1 else (-1.0, 1.0)


def scale_values(values: FloatArray, criterion_ids: IntArray, criteria: Sequence[Criterion]) -> FloatArray:
    """Return ratings as they are averaged; each criterion's scale decides how.

    If the criteria's scales differ, the ends of each become -1 and +1, as in the linear scheme of weights.
    """
    result = values.copy()
    differ = len(scale_groups(criteria)) > 1
    for criterion in criteria:
        mine = criterion_ids == criterion.pk
        result[mine] = criterion.scale.weighed(values[mine])
        if differ:
            low, high = criterion.scale.ends
            result[mine] = 2 * (result[mine] - low) / (high - low) - 1
    return result


def judgements(ratings: RatingColumns, criteria: Sequence[Criterion]) -> JudgementTable:
    """Average ratings over criteria, per presentation and response; judgements that lack a criterion are left out.

    A magnitude enters as the natural logarithm of its ratio to the standard, on a scale without ends (NaN).
    """
    campaign_of = {criterion.pk: criterion.campaign_id for criterion in criteria}
    n_criteria = Counter(campaign_of.values())
    ratings = ratings.select(np.isin(ratings.criterion_id, list(campaign_of)))
    ratings = ratings._replace(value=scale_values(ratings.value, ratings.criterion_id, criteria))
    order = np.lexsort((ratings.response_id, ratings.presentation_id))
    ratings = RatingColumns._make(column[order] for column in ratings)
    keys = np.stack([ratings.presentation_id, ratings.response_id])
    starts = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)][: len(order)])
    n = np.diff(np.r_[starts, len(order)])
    needed = np.array([n_criteria[campaign_of[pk]] for pk in ratings.criterion_id[starts].tolist()], dtype=np.int64)
    complete = n == needed
    total = np.add.reduceat(ratings.value, starts) if len(starts) else np.zeros(0)
    first = starts[complete]
    low, high = shared_ends(criteria)
    return JudgementTable(
        response_id=ratings.response_id[first],
        rater_id=ratings.rater_id[first],
        presentation_id=ratings.presentation_id[first],
        value=total[complete] / needed[complete],
        seconds=ratings.seconds[first],
        low=low,
        high=high,
        n_incomplete=int((~complete).sum()),
    )


# A rater is named by the place among the project's raters: pseudonyms can be erased, ids differ between databases.
LOG = """
SELECT count(*), max(id), encode(sha256(convert_to(coalesce(string_agg(line, '' ORDER BY id), ''), 'UTF8')), 'hex')
  FROM (
    SELECT t.id,
           encode(sha256(convert_to((jsonb_build_array(
               i.external_id, x.text_key, c.name, r.place, t.value, t.cannot_judge, t.revision, t.extra,
               extract(epoch FROM t.sent_at))
               || CASE WHEN t.turn IS NULL THEN '[]' ELSE jsonb_build_array(t.turn) END)::text,
               'UTF8')), 'hex') AS line
      FROM (SELECT * FROM annotation_rating WHERE campaign_id = %(campaign)s ORDER BY id LIMIT %(first)s) t
      JOIN annotation_response x ON x.id = t.response_id
      JOIN annotation_item i ON i.id = x.item_id
      JOIN annotation_criterion c ON c.id = t.criterion_id
      JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM annotation_rater WHERE project_id = %(project)s) r
        ON r.id = t.rater_id
  ) log
"""


class RatingLog(NamedTuple):
    """The number of a campaign's ratings, corrections and late ones included, and a hash of their content."""

    n: int
    last: int | None  # the id of the newest in this database
    digest: str


def rating_log(campaign: Campaign, *, first: int | None = None) -> RatingLog:
    """Return the log of all ratings, or of so many of the first ones."""
    return RatingLog(*sql.row(LOG, {"campaign": campaign.pk, "project": campaign.project_id, "first": first}))


def rater_places(project_id: int) -> dict[int, int]:
    """Return each rater's place among the project's raters, from 1: the same wherever the project is."""
    raters = Rater.objects.filter(project=project_id).order_by("pk").values_list("pk", flat=True)
    return {pk: place for place, pk in enumerate(raters, start=1)}
