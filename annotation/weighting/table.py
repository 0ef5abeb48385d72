"""Ratings in long form, a row per rating: the input of everything in this package."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class RatingTable:
    """Ratings in long form, in the order they were given.

    Parameters
    ----------
    response : int array, shape (n,)
        Dense code of the rated response, 0..R-1.
    rater : int array, shape (n,)
        Dense code of the rater, 0..K-1.
    value : float array, shape (n,)
        The rating, in units of its scale.
    n_responses : int, optional
        R; by default one more than the largest code. Larger when some responses have no rating.
    n_raters : int, optional
        K; likewise.

    Raises
    ------
    ValueError
        Columns of different length, codes that are no integers >= 0 or not below the stated count, values that are
        not finite. The message names the column and the row.

    Examples
    --------
    >>> table = RatingTable([0, 0, 1], [0, 1, 0], [4, 5, 2])
    >>> table.n_responses, table.n_raters, len(table)
    (2, 2, 3)
    """

    __slots__ = ("n_raters", "n_responses", "rater", "response", "value")

    def __init__(
        self,
        response: npt.ArrayLike,
        rater: npt.ArrayLike,
        value: npt.ArrayLike,
        n_responses: int | None = None,
        n_raters: int | None = None,
    ) -> None:
        self.value: FloatArray = _finite_column("value", value)
        self.response, self.n_responses = _code_column("response", response, len(self.value), n_responses)
        self.rater, self.n_raters = _code_column("rater", rater, len(self.value), n_raters)

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        return f"RatingTable({len(self)} ratings, {self.n_responses} responses, {self.n_raters} raters)"

    def select(self, keep: npt.NDArray[np.bool_]) -> "RatingTable":
        """Return the rows of a mask, with the same codes and counts."""
        return RatingTable(self.response[keep], self.rater[keep], self.value[keep], self.n_responses, self.n_raters)

    def counts(self) -> IntArray:
        """Return the number of ratings of each response."""
        return np.bincount(self.response, minlength=self.n_responses)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over each response of values that stand beside the ratings."""
        return np.bincount(self.response, values, minlength=self.n_responses).astype(np.float64, copy=False)

    def means(self) -> FloatArray:
        """Return the mean rating of each response; NaN without ratings."""
        return ratio(self.sums(self.value), self.counts())

    def latest_per_rater(self) -> "RatingTable":
        """Keep only each rater's latest rating of each response."""
        pair = self.response * self.n_raters + self.rater
        _, from_end = np.unique(pair[::-1], return_index=True)
        keep = np.zeros(len(self), dtype=bool)
        keep[len(self) - 1 - from_end] = True
        return self.select(keep)


Ratings = RatingTable | Sequence[Sequence[float]] | npt.NDArray[np.generic]


def as_table(ratings: Ratings) -> RatingTable:
    """Return a table unchanged, or make one from nested ratings: a row per response, a column per rater.

    Rows may differ in length; the j-th rating of every row is taken as the same rater's.

    >>> as_table([[4, 5], [2]])
    RatingTable(3 ratings, 2 responses, 2 raters)
    """
    if isinstance(ratings, RatingTable):
        return ratings
    for index, row in enumerate(ratings):
        if isinstance(row, str) or not (isinstance(row, Sequence) or (isinstance(row, np.ndarray) and row.ndim == 1)):
            raise ValueError(
                f"ratings[{index}] is {row!r}; accepted: a RatingTable, or one sequence of ratings per response"
            )
    lengths = [len(row) for row in ratings]
    response = np.repeat(np.arange(len(lengths)), lengths)
    rater = np.fromiter(chain.from_iterable(range(length) for length in lengths), dtype=np.int64)
    value = np.asarray(list(chain.from_iterable(ratings)), dtype=np.float64)
    return RatingTable(response, rater, value, n_responses=len(lengths))


def scale_is_open(low: float, high: float) -> bool:
    """Return whether a scale has no ends (both NaN), as magnitudes have: logarithms of value over standard."""
    return bool(np.isnan(low) and np.isnan(high))


def check_scale(table: RatingTable, low: float, high: float) -> None:
    """Raise a ValueError for an invalid scale, or for the first rating outside it."""
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"scale is [{low}, {high}]; accepted: two finite numbers, low < high")
    outside = np.flatnonzero((table.value < low) | (table.value > high))
    if outside.size:
        row = int(outside[0])
        raise ValueError(
            f"rating {row} (response {table.response[row]}, rater {table.rater[row]}) is {table.value[row]:g}; "
            f"accepted: {low:g} to {high:g} ({outside.size} outside in all)"
        )


def value_counts(table: RatingTable) -> tuple[FloatArray, IntArray]:
    """Count how often each response got each value.

    Returns
    -------
    values : float array, shape (V,)
        The distinct ratings, ascending.
    counts : int array, shape (R, V)

    Examples
    --------
    >>> values, counts = value_counts(as_table([[4, 5, 5], [2]]))
    >>> values.tolist(), counts.tolist()
    ([2.0, 4.0, 5.0], [[0, 1, 2], [1, 0, 0]])
    """
    values, code = np.unique(table.value, return_inverse=True)
    flat = np.bincount(table.response * len(values) + code, minlength=table.n_responses * len(values))
    return values, flat.reshape(table.n_responses, len(values))


def ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> FloatArray:
    """Return the quotient; NaN if the denominator is not above 0."""
    out: FloatArray = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def _finite_column(name: str, column: npt.ArrayLike) -> FloatArray:
    array = np.asarray(column, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; accepted: one")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] is {array[bad[0]]}; accepted: a finite number")
    return array


def _code_column(name: str, column: npt.ArrayLike, length: int, count: int | None) -> tuple[IntArray, int]:
    array = np.asarray(column)
    if array.shape != (length,):
        raise ValueError(f"{name} has shape {array.shape}; accepted: ({length},), one code per value")
    if length == 0:
        return np.zeros(0, dtype=np.int64), count or 0
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {array.dtype} values; accepted: integer codes from 0")
    largest = int(array.max())
    limit = largest + 1 if count is None else count
    bad = np.flatnonzero((array < 0) | (array >= limit))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] is {array[bad[0]]}; accepted: 0 to {limit - 1}")
    return array.astype(np.int64), limit
