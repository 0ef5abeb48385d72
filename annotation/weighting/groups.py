"""Statistics of many groups at once."""

import numpy as np
import numpy.typing as npt

from annotation.weighting.table import FloatArray, IntArray, ratio

BoolArray = npt.NDArray[np.bool_]
TextArray = npt.NDArray[np.str_]


def compact(group: IntArray, owner: IntArray) -> tuple[IntArray, IntArray]:
    """Return groups as dense codes in ascending order, and the owner of each group."""
    _, first, code = np.unique(group, return_index=True, return_inverse=True)
    return code, owner[first]


def codes_of(column: npt.NDArray[np.generic]) -> IntArray:
    """Return dense codes of a column's distinct values."""
    code: IntArray = np.unique(column, return_inverse=True)[1]
    return code


def crossed(outer: IntArray, inner: IntArray) -> IntArray:
    """Return codes of the pairs of two columns of codes, ascending in the first, then in the second."""
    pair: IntArray = outer * (inner.max(initial=0) + 1) + inner
    return pair


def centred(values: FloatArray, group: IntArray, n: IntArray) -> FloatArray:
    """Return values less the mean of their group, of groups of ``n`` values."""
    mean = np.bincount(group, values, minlength=len(n)) / np.maximum(n, 1)
    deviation: FloatArray = values - mean[group]
    return deviation


def mean_and_spread(values: FloatArray, group: IntArray, n: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation (n - 1 in the denominator) of groups of ``n`` values; NaN if undefined."""
    mean = ratio(np.bincount(group, values, minlength=len(n)), n)
    squares = np.bincount(group, (values - mean[group]) ** 2, minlength=len(n))
    return mean, np.sqrt(ratio(squares, n - 1))


def jackknife_error(without: FloatArray, group: IntArray, n: IntArray, times: IntArray | int = 1) -> FloatArray:
    """Return the standard error of a statistic of groups of ``n`` observations, from its values without each in turn.

    An entry of ``without`` stands for ``times`` observations. Efron & Tibshirani, An Introduction to the
    Bootstrap, 1993, eq. 11.5.
    """
    mean = ratio(np.bincount(group, times * without, minlength=len(n)), n)
    squares = np.bincount(group, times * (without - mean[group]) ** 2, minlength=len(n))
    error: FloatArray = np.sqrt(ratio((n - 1) * squares, n))
    return error


def checked_codes(column: npt.NDArray[np.generic], n_raters: int) -> IntArray:
    """Return raters as integer codes; raise a ValueError unless they are 0..n_raters - 1."""
    if len(column) == 0:
        return np.zeros(0, dtype=np.int64)
    if column.dtype.kind not in "iu":
        raise ValueError(f"rater holds {column.dtype} values; accepted: integer codes, 0 to {n_raters - 1}")
    codes = column.astype(np.int64)
    bad = np.flatnonzero((codes < 0) | (codes >= n_raters))
    if bad.size:
        raise ValueError(f"rater[{bad[0]}] is {codes[bad[0]]}; accepted: 0 to {n_raters - 1}")
    return codes


def reasons(cases: list[tuple[BoolArray, str]], size: int) -> TextArray:
    """Return the text of the first case that holds, for each of ``size`` raters; empty if none does."""
    conditions = [np.broadcast_to(condition, (size,)) for condition, _ in cases]
    return np.select(conditions, [text for _, text in cases], default="").astype(np.str_)


def aligned(
    name: str, column: npt.NDArray[np.generic], shape: tuple[int, ...], *, per: str = "answer"
) -> npt.NDArray[np.generic]:
    """Return the column; raise a ValueError if it has another shape."""
    if column.shape != shape:
        raise ValueError(f"{name} has shape {column.shape}; accepted: {shape}, one per {per}")
    return column
