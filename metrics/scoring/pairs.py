"""Every hypothesis with every reference of its segment, for metrics that compare two texts at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Bools, Floats, Ints

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs of a hypothesis row and a reference of its segment, grouped by row.

    Attributes
    ----------
    starts : (G,) int
        First pair of each row that has a reference.
    row : (P,) int
        Hypothesis row of each pair, ascending.
    reference : (P,) int
        Flat index of its reference, ascending within a row.
    n_rows, n_references : int
        H and R.

    Examples
    --------
    >>> pairs = make_pairs(np.array([0, 0, 1]), np.array([0, 2, 2]))
    >>> pairs.row.tolist(), pairs.reference.tolist()
    ([0, 0, 1, 1], [0, 1, 0, 1])
    >>> pairs.best([0.1, 0.4, 0.3, 0.2]).tolist()
    [0.4, 0.3, nan]
    >>> pairs.best([0.1, 0.4, 0.3, 0.2], [True, False]).tolist()
    [0.1, 0.3, nan]
    """

    starts: Ints
    row: Ints
    reference: Ints
    n_rows: int
    n_references: int

    def __len__(self) -> int:
        return int(self.row.size)

    def items(self, rows: Sequence[A], references: Sequence[B]) -> Iterator[tuple[A, B]]:
        """Iterate over the pairs: the item of its row (H) and the item of its reference (R).

        Examples
        --------
        >>> list(make_pairs(np.array([0, 0, 1]), np.array([0, 1, 2])).items("abc", "xy"))
        [('a', 'x'), ('b', 'x'), ('c', 'y')]
        """
        chosen = map(rows.__getitem__, self.row.tolist())
        return zip(chosen, map(references.__getitem__, self.reference.tolist()), strict=True)

    def best(self, values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """Return the largest (H,) of ``values`` (P,) over the references in ``mask`` (R,); NaN if there are none.

        A pair without a value (NaN) is ignored, here and in the other reductions.
        """
        return self._reduced(values, mask, np.fmax, -np.inf)

    def least(self, values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """Return the smallest (H,), like `best`."""
        return self._reduced(values, mask, np.fmin, np.inf)

    def mean(self, values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """Return the mean (H,), like `best`."""
        values = self._checked(values)
        used = self.in_subset(mask) & ~np.isnan(values)
        total = np.bincount(self.row[used], weights=values[used], minlength=self.n_rows)
        count = np.bincount(self.row[used], minlength=self.n_rows)
        return np.where(count > 0, total / np.where(count > 0, count, 1), np.nan)

    def arg_best(self, values: ArrayLike, mask: ArrayLike | None = None) -> Ints:
        """Return the index (H,) of the first pair with the largest value; -1 if the subset is empty."""
        values = self._checked(values)
        largest = np.flatnonzero((values == self.best(values, mask)[self.row]) & self.in_subset(mask))[::-1]
        first = np.full(self.n_rows, -1, dtype=np.int64)
        first[self.row[largest]] = largest
        return first

    def in_subset(self, mask: ArrayLike | None) -> Bools:
        """Return whether the reference of each pair (P,) is in the subset."""
        return checked_mask(mask, self.n_references)[self.reference]

    def _reduced(self, values: ArrayLike, mask: ArrayLike | None, ufunc: np.ufunc, nothing: float) -> Floats:
        values = self._checked(values)
        by_row = np.full(self.n_rows, np.nan)
        if self.starts.size:
            reduced = ufunc.reduceat(np.where(self.in_subset(mask), values, nothing), self.starts)
            by_row[self.row[self.starts]] = np.where(reduced == nothing, np.nan, reduced)
        return by_row

    def _checked(self, values: ArrayLike) -> Floats:
        array = np.asarray(values, dtype=np.float64)
        if array.shape != self.row.shape:
            raise ValueError(f"values: found shape {array.shape}; accepted: {self.row.shape}, one per pair")
        return array


def make_pairs(row_segment: Ints, reference_offsets: Ints) -> Pairs:
    """Return all pairs, from the segment of each hypothesis row (H,) and the bounds of each segment's references."""
    size = np.diff(reference_offsets)[row_segment]
    row = np.repeat(np.arange(row_segment.size), size)
    first = np.cumsum(size) - size
    reference = np.arange(row.size) + np.repeat(reference_offsets[row_segment] - first, size)
    return Pairs(first[size > 0], row, reference, int(row_segment.size), int(reference_offsets[-1]))


def chunks(bounds: Ints, at_once: int) -> Iterator[tuple[int, int]]:
    """Divide items into ranges that have at most ``at_once`` parts together, and at least one item.

    Parameters
    ----------
    bounds : (K + 1,) int
        Where the parts of each item start and end.
    at_once : int

    Examples
    --------
    >>> list(chunks(np.array([0, 2, 4, 9, 10]), 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    start, end = 0, len(bounds) - 1
    while start < end:
        stop = int(np.searchsorted(bounds, bounds[start] + at_once, side="right")) - 1
        yield start, (stop := min(max(stop, start + 1), end))
        start = stop


def checked_mask(mask: ArrayLike | None, n_references: int) -> Bools:
    """Return a choice of references (R,), by default of all, or raise an error that says what was found."""
    if mask is None:
        return np.ones(n_references, dtype=np.bool_)
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != (n_references,):
        raise ValueError(
            f"reference_mask: found {array.dtype} of shape {array.shape}; accepted: bool of shape ({n_references},)"
        )
    return array
