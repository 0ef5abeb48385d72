"""Ranks of many samples at once: one sort serves Spearman's rho and Kendall's tau-b."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class RankedBatch(NamedTuple):
    """The ranks of each value in its sample; every array has shape (batch, n)."""

    order: NDArray[np.intp]  # positions in ascending order of value
    below: Ints  # how many values are strictly smaller
    upto: Ints  # how many values are smaller or equal, itself included

    @property
    def doubled(self) -> Ints:
        """Return twice the average rank, counted from 0 and less one: an exact integer, ties included."""
        return self.below + self.upto

    @property
    def has_ties(self) -> bool:
        return bool((self.upto - self.below > 1).any())

    def tied_pairs(self) -> Ints:
        """Return how many unordered pairs of each sample are tied, shape (batch,)."""
        return np.asarray((self.upto - self.below - 1).sum(axis=-1) // 2)

    def rows(self, rows: slice) -> RankedBatch:
        return RankedBatch(*(array[rows] for array in self))


def rank_batch(values: Floats) -> RankedBatch:
    """Rank each row of ``values``, shape (batch, n), free of NaN."""
    batch, n = values.shape
    order = np.argsort(values, axis=1)
    ascending = np.take_along_axis(values, order, axis=1)
    position = np.arange(n)
    starts = np.ones((batch, n), dtype=bool)  # first of a run of equal values
    np.not_equal(ascending[:, 1:], ascending[:, :-1], out=starts[:, 1:])
    first = np.broadcast_to(position, (batch, n))
    last = first
    if not starts.all():
        ends = np.ones((batch, n), dtype=bool)
        ends[:, :-1] = starts[:, 1:]
        first = np.maximum.accumulate(np.where(starts, position, 0), axis=1)
        last = np.minimum.accumulate(np.where(ends, position, n)[:, ::-1], axis=1)[:, ::-1]
    below = np.empty((batch, n), dtype=np.int64)
    np.put_along_axis(below, order, first, axis=1)
    if last is first:
        return RankedBatch(order, below, below + 1)
    upto = np.empty((batch, n), dtype=np.int64)
    np.put_along_axis(upto, order, last + 1, axis=1)
    return RankedBatch(order, below, upto)


def as_paired_batches(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Broadcast ``x`` and ``y`` to one shape and flatten the leading axes: (batch, n) twice, and the leading shape."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim == 0 or second.ndim == 0:
        raise ValueError("x and y need at least one axis: the observations lie along the last one")
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(
            f"x has {first.shape[-1]} observations along its last axis and y has {second.shape[-1]}: "
            "they are paired, so the numbers must be equal"
        )
    try:
        first, second = np.broadcast_arrays(first, second)
    except ValueError:
        raise ValueError(f"the leading shapes of x {first.shape} and y {second.shape} do not broadcast") from None
    leading, n = first.shape[:-1], first.shape[-1]
    batch = int(np.prod(leading, dtype=np.int64))
    return first.reshape(batch, n), second.reshape(batch, n), leading
