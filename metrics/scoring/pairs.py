"""Every hypothesis beside every reference of its segment: where a metric compares two texts at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
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
        """Of each pair what stands for its row (H) and for its reference (R).

        Examples
        --------
        >>> list(make_pairs(np.array([0, 0, 1]), np.array([0, 1, 2])).items("abc", "xy"))
        [('a', 'x'), ('b', 'x'), ('c', 'y')]
        """
        own, others = self.row.tolist(), self.reference.tolist()
        return zip(map(rows.__getitem__, own), map(references.__getitem__, others), strict=True)

    def best(self, values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """(H,) largest of ``values`` (P,) over the references that ``mask`` (R,) keeps; NaN where it keeps none.

        A pair without a value (NaN) is passed over, here and in the other reductions.
        """
        return self._reduced(values, mask, np.fmax, -np.inf)

    def least(self, values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """(H,) smallest, as `best`."""
        return self._reduced(values, mask, np.fmin, np.inf)

    def mean(self, values: ArrayLike, mask: ArrayLike | None = None) -> Floats:
        """(H,) mean over the references that ``mask`` keeps; NaN where it keeps none."""
        values = self._checked(values)
        kept = self.kept(mask) & ~np.isnan(values)
        total = np.bincount(self.row[kept], weights=values[kept], minlength=self.n_rows)
        count = np.bincount(self.row[kept], minlength=self.n_rows)
        return np.where(count > 0, total / np.where(count > 0, count, 1), np.nan)

    def first(self, chosen: ArrayLike) -> Ints:
        """(H,) the first pair of each row where ``chosen`` (P,) holds; -1 where it holds nowhere."""
        places = np.flatnonzero(np.asarray(chosen, dtype=np.bool_))
        found = np.full(self.n_rows, -1, dtype=np.int64)
        found[self.row[places[::-1]]] = places[::-1]
        return found

    def arg_best(self, values: ArrayLike, mask: ArrayLike | None = None) -> Ints:
        """(H,) the first pair that holds the largest value; -1 where the subset is empty."""
        values = self._checked(values)
        return self.first((values == self.best(values, mask)[self.row]) & self.kept(mask))

    def kept(self, mask: ArrayLike | None) -> Bools:
        """(P,) whether the pair's reference is in the subset."""
        if mask is None:
            return np.ones(len(self), dtype=np.bool_)
        return checked_mask(mask, self.n_references)[self.reference]

    def _reduced(self, values: ArrayLike, mask: ArrayLike | None, ufunc: np.ufunc, nothing: float) -> Floats:
        values = self._checked(values)
        found = np.full(self.n_rows, np.nan)
        if self.starts.size:
            reduced = ufunc.reduceat(np.where(self.kept(mask), values, nothing), self.starts)
            found[self.row[self.starts]] = np.where(reduced == nothing, np.nan, reduced)
        return found

    def _checked(self, values: ArrayLike) -> Floats:
        array = np.asarray(values, dtype=np.float64)
        if array.shape != self.row.shape:
            raise ValueError(f"values: found shape {array.shape}; accepted: {self.row.shape}, one per pair")
        return array


def make_pairs(row_segment: Ints, reference_offsets: Ints) -> Pairs:
    """All pairs, from the segment of each hypothesis row (H,) and where each segment's references start (S + 1,)."""
    size = np.diff(reference_offsets)[row_segment]
    row = np.repeat(np.arange(row_segment.size), size)
    first = np.cumsum(size) - size
    reference = np.arange(row.size) + np.repeat(reference_offsets[row_segment] - first, size)
    return Pairs(first[size > 0], row, reference, int(row_segment.size), int(reference_offsets[-1]))


def chunks(bounds: Ints, at_once: int) -> Iterator[tuple[int, int]]:
    """Ranges of items that have ``at_once`` parts together at most, and at least one item each.

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


def checked_mask(mask: ArrayLike, n_references: int) -> Bools:
    """A choice of references, or an error that says what was found."""
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != (n_references,):
        raise ValueError(
            f"reference_mask: found {array.dtype} of shape {array.shape}; accepted: bool of shape ({n_references},)"
        )
    return array
