"""Weights of the same responses if a new sample of raters, or fewer of their ratings, had weighed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from annotation.weighting.aggregation import Contributions, centres, replicate_weights
from annotation.weighting.groups import BoolArray
from annotation.weighting.scheme import Scheme
from annotation.weighting.table import FloatArray, IntArray, RatingTable, ratio


@dataclass(frozen=True, eq=False)
class Reweighing:
    """A weighting scheme with the judgements that it weighs, ready to weigh again.

    Rules have excluded what they exclude: a rater who is left out is in no draw.

    Parameters
    ----------
    table : RatingTable of R responses and K raters
    low, high : float
        Ends of the scale, as in ``linear_weights``.
    scheme : Scheme
    parameters : mapping, optional
        Of the scheme; those left out take their defaults.

    Examples
    --------
    >>> from annotation.weighting.linear import LINEAR
    >>> again = Reweighing(RatingTable([0, 0, 1, 1], [0, 1, 0, 1], [4, 5, 1, 2]), 1, 5, LINEAR)
    >>> again.of_raters(np.array([1, 1])).tolist(), again.of_raters(np.array([0, 2])).tolist()
    ([0.75, -0.75], [1.0, -0.5])
    >>> again.of_ratings(np.array([True, False, False, False])).tolist()
    [0.5, nan]
    """

    table: RatingTable
    low: float
    high: float
    scheme: Scheme
    parameters: Mapping[str, float] = field(default_factory=dict)

    def of_raters(self, times: IntArray) -> FloatArray:
        """Return the weights (R,) if each rater had rated ``times`` (K,) times over, every time as another rater.

        NaN if no rater of a response was drawn, or none of its ratings counts.
        """
        if not self.scheme.raters_apart:
            return self._weights(self._repeated(times))
        if self.scheme.centre == "median":
            return replicate_weights(self._parts, "median", times[:, None].astype(np.float64))[:, 0]
        drawn = times[self._parts.table.rater]
        total, mass = (self._parts.table.sums(drawn * each) for each in (self._scores, self._parts.precision))
        return np.asarray(np.clip(ratio(total, self._parts.unit * mass), -1.0, 1.0))

    def of_ratings(self, keep: BoolArray) -> FloatArray:
        """Return the weights (R,) of these ratings of the table alone; NaN if none of a response counts."""
        return self._weights(self.table.select(keep))

    def _weights(self, table: RatingTable) -> FloatArray:
        return centres(self._contributions(table), self.scheme.centre)

    def _contributions(self, table: RatingTable) -> Contributions:
        return self.scheme.contributions(table, self.low, self.high, **self.parameters)

    @cached_property
    def _parts(self) -> Contributions:
        return self._contributions(self.table)

    @cached_property
    def _scores(self) -> FloatArray:
        return self._parts.precision * self._parts.score

    def _repeated(self, times: IntArray) -> RatingTable:
        """Return the ratings of the raters drawn, each copy of a rater as another one."""
        of_rating = times[self.table.rater]
        rows = np.repeat(np.arange(len(self.table)), of_rating)
        copy = np.arange(rows.size) - np.repeat(np.cumsum(of_rating) - of_rating, of_rating)
        first = np.cumsum(times) - times
        rater = first[self.table.rater[rows]] + copy
        response, value = self.table.response[rows], self.table.value[rows]
        return RatingTable(response, rater, value, self.table.n_responses, int(times.sum()))
