"""Enough ratings? How wide the weights' intervals are now, and how many ratings a narrower one takes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.core.numbers import counted
from annotation.models import Criterion
from annotation.quality.selectors.planned import Planned
from annotation.rating.selectors.ratings import (
    FloatArray,
    IntArray,
    JudgementTable,
    RatingColumns,
    judgements,
    scale_values,
)
from annotation.weighting.enough import raters_by_plan, sign_chances, sufficiency
from annotation.weighting.groups import codes_of
from annotation.weighting.schemes import scheme_for_scale
from annotation.weighting.table import RatingTable

GOALS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # shares of the weights
TARGETS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)  # half-widths, in units of the weight


@dataclass(frozen=True)
class Target:
    """What a half-width takes."""

    half_width: float
    needed: int  # ratings per response; 0 if undefined
    more: int  # further ratings of the whole campaign
    n_reached: int  # responses that have it


@dataclass(frozen=True)
class SignGoal:
    """What it takes until a share of the weights has a certain sign."""

    share: float
    ratings_per_unit: int  # of the campaign; 0 if the most allowed are too few
    more: int  # ratings beyond the planned
    expected: float  # weights with a certain sign then
    error: float  # their standard deviation


@dataclass(frozen=True)
class Signs:
    """The weights whose interval leaves 0 out: now, once every slot is filled, and what further shares take."""

    now: int
    planned: float
    total: int
    goals: list[SignGoal]

    @property
    def next(self) -> SignGoal | None:
        return next((goal for goal in self.goals if goal.more), None)

    @property
    def sentence(self) -> str:
        """Say what it takes until more weights have a certain sign, and how sure that is."""
        if not self.total:
            return ""
        have = "has" if self.now == 1 else "have"
        known = f"{self.now:,} of {counted(self.total, 'weight')} {have} an interval without 0"
        if self.planned > self.now + 0.5:
            known += f", about {self.planned:,.0f} once all is rated"
        goal = self.next
        if goal is None or not goal.ratings_per_unit:
            return f"{known}."
        low, high = max(goal.expected - 2 * goal.error, 0), min(goal.expected + 2 * goal.error, self.total)
        return (
            f"About {counted(goal.more, 'more rating')} than planned should give {goal.share:.0%} of the weights an "
            f"interval without 0 ({low:,.0f} to {high:,.0f} of {self.total:,}). Now {known}."
        )


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
    signs: Signs


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
    plan, code = None, None
    if planned:
        raters = table.latest_per_rater().counts()
        code = np.searchsorted(responses, shown)
        plan = raters_by_plan(raters, code, planned.done, planned.wanted, n_raters=table.n_raters)
    signs = _signs(table, (low, high), scheme, planned, code, k)
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
        signs=signs,
    )


def _signs(
    table: RatingTable, ends: tuple[float, float], scheme: str, planned: Planned | None, code: IntArray | None, k: int
) -> Signs:
    """Return how many weights have a certain sign, and the ratings per unit that give shares of them one."""
    raters, total = table.latest_per_rater().counts(), table.n_responses

    def chances(more: int) -> FloatArray:
        """Return the chance of each weight with that many more slots for each unit that is handed out."""
        then = raters.astype(np.float64)
        if planned and code is not None:
            wanted = np.where(planned.is_open, np.maximum(planned.wanted, k + more), planned.wanted)
            then = raters_by_plan(raters, code, planned.done, wanted, n_raters=table.n_raters)
        return sign_chances(table, *ends, raters=then, scheme=scheme)

    now = sign_chances(table, *ends, raters=raters, scheme=scheme)
    if not now.size or np.isnan(now).any():
        return Signs(0, 0.0, 0, [])
    by_plan = chances(0)
    goals = []
    for share in GOALS if planned else ():
        low, high = 0, MOST_RATINGS - k + 1  # enough lies above low, at most at high
        if by_plan.mean() >= share:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if chances(middle).mean() >= share else (middle, high)
        reached = high <= MOST_RATINGS - k
        then = chances(high if reached else low)
        more = int(np.maximum(k + high - planned.wanted, 0)[planned.is_open & planned.first].sum()) if planned else 0
        error = float(np.sqrt((then * (1 - then)).sum()))
        goals.append(SignGoal(share, k + high if reached else 0, more, float(then.sum()), error))
    return Signs(int(now.sum().round()), float(by_plan.sum()), total, goals)
