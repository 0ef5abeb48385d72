"""Who lies closer to the other raters: a rater, or a candidate who would stand in for one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.ranks import Floats, Ints

Alignment = Literal["distance", "agreement"]
_TIE = 1e-9  # as a share of the span of ratings: distances that differ by less are equal but for rounding


class Outcomes(NamedTuple):
    """Whose rating, of which item, and who is closer to the others: 1 the rater alone, -1 the candidate alone, 0 a tie.

    A tie counts for both. What the candidate or no other rater rated is left out.
    """

    rater: Ints
    item: Ints
    outcome: Floats


@dataclass(frozen=True, eq=False)
class GivenRatings:
    """Ratings by raters of items, one entry for each that was given: of hundreds of raters each rates a few items.

    Attributes
    ----------
    n_raters, n_items : int
    rater, item : (n,) int
        Raters in ascending order, and each rater's items, too.
    value : (n,) float
        In points, or numbers of labels.
    """

    n_raters: int
    n_items: int
    rater: Ints
    item: Ints
    value: Floats

    @classmethod
    def of(cls, ratings: ArrayLike | GivenRatings) -> GivenRatings:
        """Return the ratings of a table (raters, items); NaN where the rater did not rate the item.

        Raises
        ------
        ValueError
            If there are fewer than 2 raters, or a rating is infinite.
        """
        if isinstance(ratings, cls):
            return ratings
        table = np.asarray(ratings, dtype=np.float64)
        if table.ndim != 2 or len(table) < 2:
            raise ValueError(f"ratings has shape {table.shape}: (raters, items) with at least 2 raters is expected")
        rater, item = np.nonzero(~np.isnan(table))
        value = table[rater, item]
        if np.isinf(value).any():
            raise ValueError("ratings has an infinite value: finite, or NaN if missing, is expected")
        return cls(len(table), table.shape[1], rater, item, value)

    @cached_property
    def n_others(self) -> Ints:
        """Return how many other raters rated the item, of each rating."""
        return self.n_of_item[self.item] - 1

    @cached_property
    def n_of_item(self) -> Ints:
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def sum_of_item(self) -> Floats:
        return np.asarray(np.bincount(self.item, self.value, self.n_items), dtype=np.float64)

    @cached_property
    def span(self) -> float:
        return float(np.max(self.value, initial=0) - np.min(self.value, initial=0))

    def candidate(self, candidate: ArrayLike) -> Floats:
        """Return the ratings (items,) of a candidate, NaN if missing.

        Raises
        ------
        ValueError
            If there is not one for each item, or one is infinite.
        """
        values = np.asarray(candidate, dtype=np.float64)
        if values.shape != (self.n_items,):
            raise ValueError(f"candidate has shape {values.shape}: one for each of {self.n_items} items is expected")
        if np.isinf(values).any():
            raise ValueError("candidate has an infinite value: finite, or NaN if missing, is expected")
        return values

    def outcomes(self, candidate: Floats, alignment: Alignment) -> Outcomes:
        """Compare a candidate with each rating."""
        farther = (self._distances if alignment == "distance" else self._disagreements)(candidate)
        counted = (self.n_others > 0) & ~np.isnan(candidate[self.item])
        return Outcomes(self.rater[counted], self.item[counted], np.sign(farther[counted]))

    def closer(self, first: Floats, second: Floats, alignment: Alignment) -> Floats:
        """Return (items,) 1 where the first is closer to the raters of the item, -1 where the second is, 0 for ties.

        NaN where a candidate is missing or fewer than two raters rated the item.
        """
        if alignment == "agreement":
            lead = self._given_alike(first) - self._given_alike(second)
        else:
            far = [np.abs(self.n_of_item * each - self.sum_of_item) for each in (first, second)]
            lead = far[1] - far[0]
            lead = np.where(np.abs(lead) <= _TIE * self.n_of_item * max(self.span, 1.0), 0.0, lead)
        return np.where(self.n_of_item >= 2, np.where(np.isnan(first + second), np.nan, np.sign(lead)), np.nan)

    def _given_alike(self, candidate: Floats) -> Floats:
        """Return how many raters of each item gave the candidate's label."""
        alike = self.value == candidate[self.item]
        return np.asarray(np.bincount(self.item, alike, self.n_items), dtype=np.float64)

    def _distances(self, candidate: Floats) -> Floats:
        """Return how much farther from the others' ratings the candidate is than the rater, of each rating; ties are 0.

        Of two values the one with the smaller squared distance to others is the one closer to their mean.
        """
        others, of_others = self.n_others, self.sum_of_item[self.item] - self.value
        difference = np.abs(others * candidate[self.item] - of_others) - np.abs(others * self.value - of_others)
        return np.where(np.abs(difference) <= _TIE * others * max(self.span, 1.0), 0.0, difference)

    def _disagreements(self, candidate: Floats) -> Floats:
        """Return how many more of the others gave the rater's label than gave the candidate's, of each rating."""
        labels, code = np.unique(np.concatenate([self.value, candidate]), return_inverse=True)
        own, other = code[: self.value.size], code[self.value.size :][self.item]
        counts = np.zeros((labels.size, self.n_items), dtype=np.int64)
        np.add.at(counts, (own, self.item), 1)
        difference = counts[own, self.item] - 1 - counts[other, self.item] + (own == other)
        return np.asarray(difference, dtype=np.float64)
