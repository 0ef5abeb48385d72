"""Comparisons that raters made of two texts at a time: who won how often, and what share."""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.campaigns.presentations import COMPARING
from annotation.models import Campaign
from annotation.ranking import system_means
from annotation.rating.selectors.outputs import Comparisons, comparisons
from annotation.rating.selectors.ratings import RatingColumns
from annotation.results.selectors.counted import CountedRatings

SEED = 12345
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
NO_SYSTEM: IntArray = np.zeros(0, dtype=np.int64)
NO_COMPARISONS = Comparisons(
    *(NO_SYSTEM,) * 5, weight=np.zeros(0), unit=NO_SYSTEM, texts=np.zeros((2, 0), dtype=np.int64), identical=0
)


def codes(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values, and each value as its index among them."""
    distinct, index = np.unique(values, return_inverse=True)
    return distinct, index.astype(np.int64)


class Share(NamedTuple):
    """The share of comparisons that a system won, a tie counted as half, with its interval."""

    share: float = nan
    share_low: float = nan
    share_high: float = nan


def shown_ties(ties: int, identical: float) -> str:
    """Return ties as raters made them, and after a plus those of identical texts, as much as they weigh in the share.

    >>> shown_ties(46, 0.0), shown_ties(46, 27.0)
    ('46', '46 + 27')
    """
    return f"{ties:,} + {round(identical, 1):,g}" if identical else f"{ties:,}"


class Won(NamedTuple):
    """Comparisons by raters that were won, tied and lost; and ties of identical texts, which no rater saw."""

    wins: int = 0
    ties: int = 0
    losses: int = 0
    identical: float = 0.0  # weighed: as many as raters' comparisons of another pair


class Met:
    """Comparisons of ``n`` systems, which are codes in ``first`` and ``second``: who won how often."""

    def __init__(
        self, first: IntArray, second: IntArray, compared: Comparisons, n: int, *, raters_known: bool = True
    ) -> None:
        self.first, self.second, self.outcome, self.weight = first, second, compared.outcome, compared.weight
        self.item = codes(compared.item)[1]
        self.by_rater = compared.rater >= 0
        rater = compared.rater if raters_known else None
        self.shares = (
            _shares(first, second, compared.outcome, self.item, rater, compared.weight, n)
            if self.by_rater.any()
            else (np.full(n, nan),) * 3
        )

    def judged(self, system: int) -> BoolArray:
        """Return which comparisons are of this system and by a rater."""
        return self._of(system) & self.by_rater

    def between(self, system: int, other: int) -> BoolArray:
        """Return which comparisons are of these two."""
        return self._of(system) & self._of(other)

    def share(self, system: int) -> Share:
        return Share(*(float(values[system]) for values in self.shares))

    def won(self, system: int, other: int | None = None) -> Won:
        """Return how often a system won against another, or against all."""
        own = self._of(system) if other is None else self.between(system, other)
        identical = float(self.weight[own & ~self.by_rater].sum()) if self.by_rater.any() else 0.0
        sign = (np.where(self.first == system, 1, -1) * self.outcome)[own & self.by_rater]
        return Won(int((sign > 0).sum()), int((sign == 0).sum()), int((sign < 0).sum()), round(identical, 6))

    def _of(self, system: int) -> BoolArray:
        of: BoolArray = (self.first == system) | (self.second == system)
        return of


def met_in_pairs(
    rated: CountedRatings, ratings: RatingColumns, campaigns: Sequence[Campaign], names: Sequence[str]
) -> Met:
    """Return the comparisons that ratings of two texts on a screen are; none if texts were shown in other numbers."""
    if not all(campaign.presentation in COMPARING for campaign in campaigns):
        return Met(NO_SYSTEM, NO_SYSTEM, NO_COMPARISONS, len(names))
    compared = comparisons(ratings, rated.outputs, rated.names, campaigns, by_points=True)
    code = {name: number for number, name in enumerate(names)}
    first, second = (
        np.array([code.get(rated.names[pk], -1) for pk in systems.tolist()], dtype=np.int64)
        for systems in (compared.first, compared.second)
    )
    known = (first >= 0) & (second >= 0)  # a system without any rating has no row
    rows = ("outcome", "item", "rater", "weight", "unit")
    kept = compared._replace(**{name: getattr(compared, name)[known] for name in rows})
    return Met(first[known], second[known], kept, len(names), raters_known=rated.raters_known)


def _shares(
    first: IntArray,
    second: IntArray,
    outcome: IntArray,
    item: IntArray,
    rater: IntArray | None,
    weight: FloatArray,
    n: int,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the share of comparisons that each system won, ties counted half, with its interval.

    Ties by construction have no rater, and stand in the share with their weight.
    """
    won = (1 + np.concatenate([outcome, -outcome])) / 2
    system, twice = np.concatenate([first, second]), np.tile(weight, 2)
    total = np.bincount(system, twice, minlength=n)
    share = np.divide(np.bincount(system, twice * won, minlength=n), total, out=np.full(n, nan), where=total > 0)
    judged = np.tile(np.ones(first.size, bool) if rater is None else rater >= 0, 2)
    who = None if rater is None else np.tile(rater, 2)[judged]
    of_judged = system_means(
        system[judged],
        np.tile(item, 2)[judged],
        who,
        won[judged],
        rng=np.random.default_rng(SEED),
        n_systems=n,
        ends=(0.0, 1.0),
        permutations=1,
    )
    # The interval is that of judged comparisons, drawn to the half that ties by construction are.
    tied = np.divide(np.bincount(system[~judged], twice[~judged], minlength=n), total, out=np.zeros(n), where=total > 0)
    return share, of_judged.low * (1 - tied) + tied / 2, of_judged.high * (1 - tied) + tied / 2
