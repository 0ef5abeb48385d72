"""Enough? How wide the weights' intervals are now, and what a narrower one would take."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Criterion
from annotation.rating.selectors.ratings import FloatArray, IntArray, RatingColumns, judgements, scale_values
from annotation.weighting.enough import sufficiency
from annotation.weighting.groups import codes_of
from annotation.weighting.schemes import scheme_for_scale
from annotation.weighting.table import RatingTable

TARGETS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)  # half-widths, in units of the weight


@dataclass(frozen=True)
class Target:
    """What reaching a half-width takes."""

    half_width: float
    needed: int  # ratings per response; 0 where undefined
    more: int  # further ratings of the whole campaign
    n_reached: int  # responses that have it


@dataclass(frozen=True)
class Enough:
    """The certainty of the weights that the ratings of one or of all criteria give."""

    what: str
    scheme: str
    n_responses: int
    n_rated: int
    half_width: float  # mean over rated responses
    at_k: float  # with k ratings of each response
    spread: float
    targets: list[Target]
    reason: str


def enough(criteria: Sequence[Criterion], ratings: RatingColumns, n_planned: int, k: int) -> list[Enough]:
    """Of the mean over criteria where they share a scale, as releases weigh; else of each."""
    if not criteria:
        return []
    if len({criterion.scale.group for criterion in criteria}) == 1:
        table = judgements(ratings, criteria)
        what = criteria[0].name if len(criteria) == 1 else "mean of the criteria"
        return [_enough(what, criteria[0], table.response_id, table.rater_id, table.value, n_planned, k)]
    found = []
    for criterion in criteria:
        mine = ratings.select(ratings.criterion_id == criterion.pk)
        value = scale_values(mine.value, mine.criterion_id, [criterion])
        found.append(_enough(criterion.name, criterion, mine.response_id, mine.rater_id, value, n_planned, k))
    return found


def _enough(
    what: str, criterion: Criterion, response: IntArray, rater: IntArray, value: FloatArray, n_planned: int, k: int
) -> Enough:
    low, high = criterion.scale.ends
    scheme = scheme_for_scale(low, high)
    rated = len(np.unique(response))
    n_responses = max(n_planned, rated)
    table = RatingTable(codes_of(response), codes_of(rater), value, n_responses=n_responses)
    found = [sufficiency(table, low, high, target=target, k=[k], scheme=scheme) for target in TARGETS]
    first = found[0]
    return Enough(
        what=what,
        scheme=scheme,
        n_responses=n_responses,
        n_rated=rated,
        half_width=first.half_width,
        at_k=first.expected[0][1],
        spread=first.spread,
        targets=[Target(one.target, one.needed or 0, one.more_total, one.n_reached) for one in found],
        reason=first.reason,
    )
