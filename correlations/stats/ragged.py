"""Units of assignments that each use other segments, or another number of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from correlations.stats.ranks import Bools, Floats, Ints


@dataclass(frozen=True)
class RaggedUnits:
    """A assignments cut into U units each; one with fewer segments than others ends in empty units.

    Attributes
    ----------
    kept : (A, n) bool
        Which segments of each assignment's order are in a unit.
    bounds : (A, U) int
        Where each unit begins among the kept segments of its assignment.
    lengths : (A,) int
        Kept segments of each assignment.
    """

    kept: Bools
    bounds: Ints
    lengths: Ints

    @classmethod
    def cut(cls, present: Bools, unit_size: int, n_units: int, *, keep_remainder: bool) -> RaggedUnits:
        """Cut the segments that are ``present`` (A, n), in their order."""
        lengths = present.sum(axis=1)
        if not keep_remainder:
            lengths = lengths // unit_size * unit_size
            present = present & (np.cumsum(present, axis=1) <= lengths[:, None])
        return cls(present, np.minimum(np.arange(n_units) * unit_size, lengths[:, None]), lengths)

    @property
    def shape(self) -> tuple[int, int]:
        return self.bounds.shape[0], self.bounds.shape[1]

    @property
    def starts(self) -> Ints:
        """Return where each unit begins among all kept segments, (A * U,)."""
        return ((np.cumsum(self.lengths) - self.lengths)[:, None] + self.bounds).ravel()

    @property
    def sizes(self) -> Ints:
        """Return how many segments each unit has, (A, U)."""
        return np.diff(np.hstack([self.bounds, self.lengths[:, None]]), axis=1)

    def sums(self, values: Floats) -> Floats:
        """Sum the values (kept segments, D) over each unit, (A, U, D)."""
        return self.summing(np.arange(len(values)), len(values))(values)

    def summing(self, places: NDArray[np.integer[Any]], size: int) -> Callable[[Floats], Floats]:
        """Return what sums tables (size, D) over each unit, (A, U, D): ``places`` holds each kept segment's row."""
        ends = np.append(self.starts, places.size).astype(places.dtype)
        indicator = sparse.csr_array((np.ones(places.size), places, ends), shape=(ends.size - 1, size))
        return lambda values: np.asarray(indicator @ values).reshape(*self.shape, values.shape[1])

    def means(self, totals: Floats, scale: int) -> Floats:
        """Return totals (A, U) over size and scale, in one rounding; NaN for an empty unit."""
        result, sizes = np.full(totals.shape, np.nan), self.sizes
        np.divide(totals, sizes * scale, out=result, where=sizes > 0)
        return result
