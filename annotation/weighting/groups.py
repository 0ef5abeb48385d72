"""Small tools for figures of many groups at once."""

import numpy as np
import numpy.typing as npt

from annotation.weighting.table import IntArray

BoolArray = npt.NDArray[np.bool_]
TextArray = npt.NDArray[np.str_]


def compact(group: IntArray, owner: IntArray) -> tuple[IntArray, IntArray]:
    """Groups as dense codes in ascending order, and the owner of each group."""
    _, first, code = np.unique(group, return_index=True, return_inverse=True)
    return code, owner[first]


def codes_of(column: npt.NDArray[np.generic]) -> IntArray:
    """Dense codes of a column's distinct values."""
    code: IntArray = np.unique(column, return_inverse=True)[1]
    return code


def checked_codes(column: npt.NDArray[np.generic], n_raters: int) -> IntArray:
    """Raters as they are, refused unless they are codes 0..n_raters - 1."""
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
    """The text of the first case that holds, for each of ``size`` raters; empty where none does."""
    conditions = [np.broadcast_to(condition, (size,)) for condition, _ in cases]
    return np.select(conditions, [text for _, text in cases], default="").astype(np.str_)


def aligned(name: str, column: npt.NDArray[np.generic], shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
    """The column, refused unless it has that shape."""
    if column.shape != shape:
        raise ValueError(f"{name} has shape {column.shape}; accepted: {shape}, one per answer")
    return column
