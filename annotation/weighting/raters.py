"""One line per rater: what they gave, how fast, and how it goes with what the others gave."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.weighting.table import FloatArray, IntArray, RatingTable, ratio


@dataclass(frozen=True, eq=False)
class RaterSummary:
    """Figures of K raters, every array of shape (K,); NaN where undefined.

    Attributes
    ----------
    n : ratings given.
    mean, spread : mean and standard deviation (n - 1 in the denominator) of the ratings.
    agreement : Pearson correlation of the ratings with the mean rating the other raters gave the same responses.
    n_compared : ratings behind ``agreement``: those of responses somebody else rated too.
    entropy : of the distribution of answers, in bits; 0 for a rater who always gives the same.
    median_seconds : median time per rating, of the ratings whose time is known.
    agreement_reason : why ``agreement`` is NaN; empty where it is not.
    """

    n: IntArray
    mean: FloatArray
    spread: FloatArray
    agreement: FloatArray
    n_compared: IntArray
    entropy: FloatArray
    median_seconds: FloatArray
    agreement_reason: npt.NDArray[np.str_]


def summarise_raters(table: RatingTable, *, seconds: npt.ArrayLike | None = None) -> RaterSummary:
    """Summarise each rater's ratings.

    Parameters
    ----------
    table : RatingTable
    seconds : float array, shape (n,), optional
        Time per rating in seconds; NaN where unknown.

    Returns
    -------
    RaterSummary
        ``agreement`` is NaN, with a reason, below three compared ratings or when either side is constant.

    Raises
    ------
    ValueError
        ``seconds`` of another length than the table.

    Examples
    --------
    >>> table = RatingTable([0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], [1, 3, 5, 1, 2, 3])
    >>> summary = summarise_raters(table)
    >>> summary.agreement.round(3).tolist(), summary.entropy.round(3).tolist()
    ([1.0, 1.0], [1.585, 1.585])
    """
    k = table.n_raters
    n = np.bincount(table.rater, minlength=k)
    mean = ratio(np.bincount(table.rater, table.value, minlength=k), n)
    squares = np.bincount(table.rater, (table.value - mean[table.rater]) ** 2, minlength=k)
    agreement, n_compared, reason = _agreement(table)
    return RaterSummary(
        n=n,
        mean=mean,
        spread=np.sqrt(ratio(squares, n - 1)),
        agreement=agreement,
        n_compared=n_compared,
        entropy=_entropy(table, n),
        median_seconds=_median_seconds(table, seconds),
        agreement_reason=reason,
    )


def _agreement(table: RatingTable) -> tuple[FloatArray, IntArray, npt.NDArray[np.str_]]:
    k = table.n_raters
    _, pair = np.unique(table.response * k + table.rater, return_inverse=True)
    # What others gave: everything on the response, less all this rater gave it.
    n_others = np.bincount(table.response)[table.response] - np.bincount(pair)[pair]
    sum_others = np.bincount(table.response, table.value)[table.response] - np.bincount(pair, table.value)[pair]
    shared = n_others > 0
    rater, own = table.rater[shared], table.value[shared]
    others = sum_others[shared] / n_others[shared]
    n = np.bincount(rater, minlength=k)
    own, others = _centre(own, rater, n), _centre(others, rater, n)
    own_squares = np.bincount(rater, own**2, minlength=k)
    other_squares = np.bincount(rater, others**2, minlength=k)
    # A constant column centred in floating point leaves about 1e-30; ratings differ by far more.
    constant_own, constant_others = own_squares < 1e-20, other_squares < 1e-20
    defined = (n >= 3) & ~constant_own & ~constant_others
    product = np.where(defined, own_squares * other_squares, 0.0)
    correlation = ratio(np.bincount(rater, own * others, minlength=k), np.sqrt(product))
    reason = np.select(
        [n < 3, constant_own, constant_others],
        ["fewer than three responses rated by others too", "all ratings equal", "the others' means are all equal"],
        default="",
    ).astype(np.str_)
    return np.clip(correlation, -1.0, 1.0), n, reason


def _centre(values: FloatArray, rater: IntArray, n: IntArray) -> FloatArray:
    mean = np.bincount(rater, values, minlength=len(n)) / np.maximum(n, 1)
    centred: FloatArray = values - mean[rater]
    return centred


def _entropy(table: RatingTable, n: IntArray) -> FloatArray:
    values, code = np.unique(table.value, return_inverse=True)
    width = max(len(values), 1)
    counts = np.bincount(table.rater * width + code, minlength=len(n) * width).reshape(len(n), width)
    share = counts / np.maximum(n, 1)[:, None]
    bits = np.log2(share, out=np.zeros_like(share), where=share > 0)
    entropy = np.abs((share * bits).sum(axis=1))  # abs, not minus: no -0.0 for constant raters
    return np.where(n > 0, entropy, np.nan)


def _median_seconds(table: RatingTable, seconds: npt.ArrayLike | None) -> FloatArray:
    result = np.full(table.n_raters, np.nan)
    if seconds is None:
        return result
    taken = np.asarray(seconds, dtype=np.float64)
    if taken.shape != table.value.shape:
        raise ValueError(f"seconds has shape {taken.shape}; accepted: {table.value.shape}, one per rating")
    known = ~np.isnan(taken)
    rater, taken = table.rater[known], taken[known]
    ordered = taken[np.lexsort((taken, rater))]
    n = np.bincount(rater, minlength=table.n_raters)
    first = np.cumsum(n) - n
    some = n > 0
    lower, upper = first + (n - 1) // 2, first + n // 2
    result[some] = (ordered[lower[some]] + ordered[upper[some]]) / 2
    return result
