"""Enough ratings? How wide the weights' intervals are now, and how many ratings a narrower one takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.models import Criterion
from annotation.rating.selectors.ratings import IntArray, JudgementTable, RatingColumns, judgements, scale_values
from annotation.weighting.enough import raters_by_plan, sufficiency
from annotation.weighting.groups import codes_of
from annotation.weighting.schemes import scheme_for_scale
from annotation.weighting.table import RatingTable

TARGETS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)  # half-widths, in units of the weight


class Planned(NamedTuple):
    """For each unit that shows a response: the response, and the ratings that the unit has and is to have."""

    response_id: IntArray
    done: IntArray
    wanted: IntArray


@dataclass(frozen=True)
class Target:
    """What a half-width takes."""

    half_width: float
    needed: int  # ratings per response; 0 if undefined
    more: int  # further ratings of the whole campaign
    n_reached: int  # responses that have it


@dataclass(frozen=True)
class Enough:
    """The certainty of the weights that the ratings of one criterion, or of all, give."""

    what: str
    scheme: str
    n_responses: int
    n_rated: int
    half_width: float  # mean over rated responses
    at_plan: float  # once every slot is filled; if imported, with k ratings of each response
    spread: float
    targets: list[Target]
    reason: str


def enough(criteria: Sequence[Criterion], ratings: RatingColumns, planned: Planned | None, k: int) -> list[Enough]:
    """Judge the mean over criteria that share a scale, as releases weigh it; else each criterion.

    Nothing more is ``planned`` for imported ratings.
    """
    if not criteria:
        return []
    if len({criterion.scale.group for criterion in criteria}) == 1:
        what = criteria[0].name if len(criteria) == 1 else "mean of the criteria"
        return [_enough(what, criteria[0], judgements(ratings, criteria), planned, k)]
    tables = [ratings.select(ratings.criterion_id == criterion.pk) for criterion in criteria]
    return [
        _enough(
            criterion.name,
            criterion,
            table._replace(value=scale_values(table.value, table.criterion_id, [criterion])),
            planned,
            k,
        )
        for criterion, table in zip(criteria, tables, strict=True)
    ]


def _enough(
    what: str, criterion: Criterion, rated: JudgementTable | RatingColumns, planned: Planned | None, k: int
) -> Enough:
    low, high = criterion.scale.ends
    scheme = scheme_for_scale(low, high)
    shown = planned.response_id if planned else np.zeros(0, dtype=np.int64)
    responses = np.unique(np.concatenate([rated.response_id, shown]))
    table = RatingTable(
        np.searchsorted(responses, rated.response_id),
        codes_of(rated.rater_id),
        rated.value,
        n_responses=len(responses),
    )
    plan = None
    if planned:
        raters = table.latest_per_rater().counts()
        code = np.searchsorted(responses, shown)
        plan = raters_by_plan(raters, code, planned.done, planned.wanted, n_raters=table.n_raters)
    results = [sufficiency(table, low, high, target=target, k=[k], plan=plan, scheme=scheme) for target in TARGETS]
    first = results[0]
    return Enough(
        what=what,
        scheme=scheme,
        n_responses=len(responses),
        n_rated=len(np.unique(rated.response_id)),
        half_width=first.half_width,
        at_plan=first.at_plan if planned else first.expected[0][1],
        spread=first.spread,
        targets=[Target(result.target, result.needed or 0, result.more_total, result.n_reached) for result in results],
        reason=first.reason,
    )
