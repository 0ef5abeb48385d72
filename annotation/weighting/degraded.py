"""The degraded test, by which direct assessment keeps or drops raters: are degraded texts rated lower?"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy
from scipy.special import ndtr

from annotation.weighting.checks import CheckLog
from annotation.weighting.groups import (
    BoolArray,
    TextArray,
    aligned,
    checked_codes,
    codes_of,
    compact,
    crossed,
    reasons,
)
from annotation.weighting.intervals import auc_interval
from annotation.weighting.table import FloatArray, IntArray, ratio

_EXACT_UP_TO = 8  # scipy's own rule: the exact distribution of U while the smaller sample has no more


@dataclass(frozen=True, eq=False)
class DegradedTest:
    """Results of the degraded test for K raters; arrays of shape (K,).

    Attributes
    ----------
    n_degraded, n_others : ratings compared.
    u : Mann-Whitney's U of the degraded ratings: pairs in which the degraded text has the higher rating, ties one half.
    pvalue : one-sided; small where degraded texts are rated lower. 1 for a rater who rates everything alike.
    auc : probability that an undegraded text is rated above a degraded one, ties one half; 0.5 is no difference.
    auc_low, auc_high : its interval (Newcombe's fifth method).
    exact : whether the p-value comes from the exact distribution of U.
    reason : why the numbers are NaN; empty where they are not.
    """

    n_degraded: IntArray
    n_others: IntArray
    u: FloatArray
    pvalue: FloatArray
    auc: FloatArray
    auc_low: FloatArray
    auc_high: FloatArray
    exact: BoolArray
    reason: TextArray


def degraded_test(
    checks: CheckLog,
    rater: npt.ArrayLike,
    value: npt.ArrayLike,
    n_raters: int,
    *,
    criterion: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> DegradedTest:
    """Test per rater, one-sided by Mann-Whitney, that degraded texts are rated lower than the others.

    Parameters
    ----------
    checks : CheckLog
        Raters as codes 0..n_raters - 1; its degraded texts that were judged count.
    rater : int array, shape (n,)
        Codes of the raters of ordinary ratings.
    value : float array, shape (n,)
        Ordinary ratings, of undegraded texts; NaN does not count.
    n_raters : int
    criterion : array, shape (n,), optional
        As in ``checks``. Ratings are compared within a criterion, and U is summed over criteria.
    confidence : float
        In (0, 1), of the interval of ``auc``.

    Returns
    -------
    DegradedTest
        The p-value is exact where one criterion is rated, no two ratings are equal and the smaller sample has at most
        eight; otherwise normal, corrected for ties and continuity. ``auc_low``, ``auc_high`` take ratings as
        independent.

    Raises
    ------
    ValueError
        Columns that do not align, raters that are no such codes, or ``confidence`` outside (0, 1).

    References
    ----------
    [1] Mann & Whitney, Annals of Mathematical Statistics 1947; ties as in Hollander & Wolfe, Nonparametric Statistical
    Methods, section 4.1. [2] Graham, Baldwin, Moffat & Zobel, Can machine translation systems be evaluated by the crowd
    alone, Natural Language Engineering 2017: raters kept by this test. Interval: Newcombe 2006
    (``intervals.auc_interval``).

    Examples
    --------
    >>> checks = CheckLog([0, 0, 0], kind=["degraded"] * 3, value=[1, 2, 3])
    >>> result = degraded_test(checks, [0] * 4, [4, 5, 6, 7], 1)
    >>> result.auc.tolist(), result.pvalue.round(4).tolist(), result.exact.tolist()
    ([1.0], [0.0286], [True])
    """
    degraded = checks.of("degraded")
    ordinary, raters, criteria = _ordinary_columns(value, rater, criterion, degraded)
    codes = np.concatenate([checked_codes(degraded.rater, n_raters), checked_codes(raters, n_raters)])
    values = np.concatenate([degraded.value, ordinary])
    is_degraded = np.arange(len(values)) < len(degraded)
    known = ~np.isnan(values)
    criterion_codes = codes_of(np.concatenate([degraded.criterion, criteria]))
    strata, keep = _comparable(crossed(codes, criterion_codes), is_degraded, known)
    codes, values, is_degraded = codes[keep], values[keep], is_degraded[keep]
    u, m, n, spread, owner = _stratum_u(strata, values, is_degraded, codes)

    def per_rater(column: npt.NDArray[np.generic]) -> FloatArray:
        total: FloatArray = np.bincount(owner, column, minlength=n_raters).astype(np.float64)
        return total

    total, pairs = per_rater(u), per_rater(m * n)
    n_degraded, n_others = per_rater(m).astype(np.int64), per_rater(n).astype(np.int64)
    compared = pairs > 0
    pvalue = np.where(compared, _normal_pvalues(total, pairs, per_rater(spread)), np.nan)
    few = np.minimum(n_degraded, n_others) <= _EXACT_UP_TO
    tied = np.zeros(n_raters, dtype=np.bool_)
    tied[owner[spread < m * n * (m + n + 1) / 12 - 1e-9]] = True
    exact = compared & few & (np.bincount(owner, minlength=n_raters) == 1) & ~tied
    _exact_pvalues(pvalue, np.flatnonzero(exact), total, n_degraded, n_others)
    auc = 1 - ratio(total, pairs)
    interval = auc_interval(auc, n_degraded, n_others, confidence=confidence)
    judged = degraded.select(~np.isnan(degraded.value))
    some = np.bincount(checked_codes(judged.rater, n_raters), minlength=n_raters) > 0
    return DegradedTest(
        n_degraded=n_degraded,
        n_others=n_others,
        u=np.where(compared, total, np.nan),
        pvalue=pvalue,
        auc=auc,
        auc_low=interval.low,
        auc_high=interval.high,
        exact=exact,
        reason=reasons(
            [(~some, "no degraded text judged"), (~compared, "no undegraded text judged on the same criterion")],
            n_raters,
        ),
    )


def _ordinary_columns(
    value: npt.ArrayLike, rater: npt.ArrayLike, criterion: npt.ArrayLike | None, degraded: CheckLog
) -> tuple[FloatArray, npt.NDArray[np.generic], npt.NDArray[np.generic]]:
    """Return the columns of the ordinary ratings, checked: they align, and name criteria as the checks do."""
    ordinary = np.asarray(value, dtype=np.float64)
    raters = np.asarray(rater)
    criteria = np.zeros(ordinary.shape, np.int64) if criterion is None else np.asarray(criterion)
    for name, column in (("rater", raters), ("criterion", criteria)):
        aligned(name, column, ordinary.shape)
    if len(degraded) and len(criteria) and (degraded.criterion.dtype.kind in "US") != (criteria.dtype.kind in "US"):
        raise ValueError("criterion names criteria by text and the checks by number, or the reverse; accepted: alike")
    return ordinary, raters, criteria


def _normal_pvalues(total: FloatArray, pairs: FloatArray, variance: FloatArray) -> FloatArray:
    """Return p-values of U by the normal distribution; 1 where nothing varies."""
    # [1] The continuity correction shrinks the distance from the mean by one half.
    z = ratio(total - pairs / 2 + 0.5, np.sqrt(variance))
    pvalue: FloatArray = np.where(variance > 0, ndtr(np.nan_to_num(z)), 1.0)
    return pvalue


def _comparable(strata: IntArray, is_degraded: BoolArray, known: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return dense codes of the strata with known ratings of both sorts, and the mask of their ratings."""
    code = codes_of(strata)
    both = (np.bincount(code, is_degraded & known) > 0) & (np.bincount(code, ~is_degraded & known) > 0)
    keep: BoolArray = both[code] & known
    dense = np.cumsum(both) - 1
    return dense[code[keep]], keep


def _stratum_u(
    strata: IntArray, values: FloatArray, is_degraded: BoolArray, codes: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Return per stratum: U, both sizes, the variance of U with ties, and the rater."""
    m = np.bincount(strata, is_degraded).astype(np.float64)
    size = np.bincount(strata).astype(np.float64)
    n = size - m
    # Mid-ranks: within a stratum, the ratings below and half of those equal.
    level = codes_of(values)
    cells, cell, times = np.unique(crossed(strata, level), return_inverse=True, return_counts=True)
    stratum_of_cell = cells // (level.max(initial=0) + 1)
    before = np.cumsum(times) - times
    start = np.cumsum(size) - size
    rank = before - start[stratum_of_cell] + (times + 1) / 2
    u = np.bincount(strata[is_degraded], rank[cell[is_degraded]], minlength=len(m)) - m * (m + 1) / 2
    ties = np.bincount(stratum_of_cell, times.astype(np.float64) ** 3 - times, minlength=len(m))
    spread = m * n / 12 * ((size + 1) - ratio(ties, size * (size - 1)))
    spread[spread < 1e-9] = 0.0
    _, owner = compact(strata, codes)
    return u, m, n, spread, owner


def _exact_pvalues(pvalue: FloatArray, raters: IntArray, u: FloatArray, m: IntArray, n: IntArray) -> None:
    """Set the exact p-values in ``pvalue``; they depend only on U and the sizes, so any samples with this U do."""
    for rater in raters.tolist():
        pvalue[rater] = _exact_pvalue(float(u[rater]), int(m[rater]), int(n[rater]))


@lru_cache(maxsize=1024)
def _exact_pvalue(u: float, m: int, n: int) -> float:
    # Lift the top of m bottom ranks past n others until u pairs are reversed.
    whole, rest = divmod(round(u), n)
    rank = np.arange(m, dtype=np.float64)
    rank[m - whole :] += n
    if rest:
        rank[m - whole - 1] += rest
    others = np.setdiff1d(np.arange(m + n, dtype=np.float64), rank)
    return float(scipy.stats.mannwhitneyu(rank, others, alternative="less", method="exact").pvalue)
