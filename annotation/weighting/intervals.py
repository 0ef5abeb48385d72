"""Confidence intervals of simple statistics, many at once.

Every function takes arrays that broadcast, and returns NaN at both ends where the observations allow no interval.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy
from scipy.special import ndtri, stdtrit

from annotation.weighting.table import FloatArray, ratio

_BISECTIONS = 60  # halves [0, 1] down to the last bit


class Intervals(NamedTuple):
    """Lower and upper ends; both NaN where there is no interval."""

    low: FloatArray
    high: FloatArray


def wilson_interval(successes: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95) -> Intervals:
    """Compute Wilson's score interval of a share.

    Parameters
    ----------
    successes, n : int arrays, 0 <= successes <= n
    confidence : float
        In (0, 1).

    Returns
    -------
    Intervals
        Within [0, 1]; NaN where n is 0.

    Raises
    ------
    ValueError
        Counts outside their range, or ``confidence`` outside (0, 1).

    References
    ----------
    [1] Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 1927; in the form of Brown,
    Cai & DasGupta, Interval Estimation for a Binomial Proportion, Statistical Science 2001, eq. 4.

    Examples
    --------
    >>> low, high = wilson_interval([8], [10])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.49], [0.943])
    """
    hits, total = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(n, np.float64))
    if ((hits < 0) | (hits > total)).any():
        raise ValueError("successes lie outside their n; accepted: 0 <= successes <= n")
    z2 = normal_quantile(confidence) ** 2
    share = ratio(hits, total)
    # [1] centre and half-width over the common denominator n + z^2
    centre = (hits + z2 / 2) / (total + z2)
    half = np.sqrt(z2 * (total * share * (1 - share) + z2 / 4)) / (total + z2)
    low = np.where(hits == 0, 0.0, centre - half)
    high = np.where(hits == total, 1.0, centre + half)
    some = total > 0
    return Intervals(np.where(some, low, np.nan), np.where(some, high, np.nan))


def mean_interval(
    mean: npt.ArrayLike, spread: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> Intervals:
    """Compute Student's interval of a mean from mean, standard deviation (n - 1 in the denominator) and sample size.

    Returns
    -------
    Intervals
        In units of the mean; NaN below two observations, or where all are equal: a spread of 0 allows no interval.

    Raises
    ------
    ValueError
        ``confidence`` outside (0, 1).

    References
    ----------
    Student, The Probable Error of a Mean, Biometrika 1908.

    Examples
    --------
    >>> low, high = mean_interval([3.0], [1.0], [4])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.409], [4.591])
    """
    centre, deviation = np.asarray(mean, np.float64), np.asarray(spread, np.float64)
    size = np.asarray(n, np.float64)
    half = student_quantile(size - 1, confidence) * np.where(deviation > 0, deviation, np.nan)
    half = half / np.sqrt(np.maximum(size, 1))
    return Intervals(centre - half, centre + half)


def correlation_interval(r: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95) -> Intervals:
    """Compute the interval of a correlation through Fisher's z, with standard error 1 / sqrt(n - 3).

    Parameters
    ----------
    r : float array, in [-1, 1] or NaN
    n : array
        Observations behind it; for a partial correlation, less the number of variables held fixed.

    Returns
    -------
    Intervals
        NaN where r is, for n below 4, and where r is -1 or 1, of which z is infinite.

    Raises
    ------
    ValueError
        ``r`` outside [-1, 1], or ``confidence`` outside (0, 1).

    References
    ----------
    Fisher, On the "probable error" of a coefficient of correlation deduced from a small sample, Metron 1921.

    Examples
    --------
    >>> low, high = correlation_interval([0.5], [30])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.17], [0.729])
    """
    coefficient, size = np.broadcast_arrays(np.asarray(r, np.float64), np.asarray(n, np.float64))
    if (np.abs(coefficient) > 1).any():
        raise ValueError("r lies outside [-1, 1]; accepted: correlations")
    defined = (np.abs(coefficient) < 1 - 1e-12) & (size > 3)
    z = np.arctanh(np.where(defined, coefficient, np.nan))
    reach = normal_quantile(confidence) / np.sqrt(np.where(defined, size - 3, 1))
    return Intervals(np.tanh(z - reach), np.tanh(z + reach))


def median_interval(
    ordered: FloatArray, first: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> Intervals:
    """Compute the distribution-free interval of the medians of groups: from one order statistic to its mirror image.

    Parameters
    ----------
    ordered : float array
        Values, group after group, ascending within each.
    first, n : int arrays
        Where each group starts in ``ordered``, and how many values it has.

    Returns
    -------
    Intervals
        Holds the median with at least ``confidence``; NaN where even minimum to maximum does not: below six values at
        95%.

    Raises
    ------
    ValueError
        ``confidence`` outside (0, 1).

    References
    ----------
    Conover, Practical Nonparametric Statistics, 3rd edition 1999, section 3.2 (confidence interval for a quantile).

    Examples
    --------
    >>> low, high = median_interval(np.arange(1.0, 11.0), [0], [10])
    >>> low.tolist(), high.tolist()
    ([2.0], [9.0])
    """
    check_confidence(confidence)
    start, size = np.asarray(first, np.int64), np.asarray(n, np.int64)
    # The l-th smallest lies above the median with probability P(X <= l - 1), X binomial(n, 1/2): at most half the rest.
    rank = np.where(size > 0, scipy.stats.binom.ppf((1 - confidence) / 2, np.maximum(size, 1), 0.5), 0).astype(np.int64)
    low, high = np.full((2, *size.shape), np.nan)
    defined = rank > 0
    low[defined] = ordered[(start + rank - 1)[defined]]
    high[defined] = ordered[(start + size - rank)[defined]]
    return Intervals(low, high)


def auc_interval(
    auc: npt.ArrayLike, n_first: npt.ArrayLike, n_second: npt.ArrayLike, *, confidence: float = 0.95
) -> Intervals:
    """Compute the score interval of the probability that a value of one sample exceeds one of the other.

    Parameters
    ----------
    auc : float array, in [0, 1] or NaN
        U / (n_first n_second); ties count one half.
    n_first, n_second : int arrays
        Sizes of the two samples.

    Returns
    -------
    Intervals
        Within [0, 1], and of some width even where ``auc`` is 0 or 1; NaN where it is NaN.

    Raises
    ------
    ValueError
        ``confidence`` outside (0, 1).

    References
    ----------
    [1] Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part 2,
    Statistics in Medicine 2006, method 5: the limits where |theta - auc| = z sqrt(V(theta)), V of Hanley & McNeil 1982
    with both sample sizes less one replaced by (m + n) / 2 - 1.

    Examples
    --------
    >>> low, high = auc_interval([1.0], [5], [20])
    >>> low.round(3).tolist(), high.tolist()
    ([0.761], [1.0])
    """
    estimate, m, n = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (auc, n_first, n_second)))
    z2 = normal_quantile(confidence) ** 2
    pairs, other = np.maximum(m * n, 1), (m + n) / 2 - 1

    def outside(theta: FloatArray) -> npt.NDArray[np.bool_]:
        # [1] eq. of the variance
        spread = theta * (1 - theta) * (1 + other * (1 - theta) / (2 - theta) + other * theta / (1 + theta)) / pairs
        beyond: npt.NDArray[np.bool_] = (theta - estimate) ** 2 > z2 * spread
        return beyond

    low = _bisect(outside, np.zeros_like(estimate), estimate)
    high = _bisect(outside, np.ones_like(estimate), estimate)
    known = ~np.isnan(estimate)
    return Intervals(
        np.where(known, np.where(estimate == 0, 0.0, low), np.nan),
        np.where(known, np.where(estimate == 1, 1.0, high), np.nan),
    )


def student_quantile(df: npt.ArrayLike, confidence: float) -> FloatArray:
    """Return the two-sided quantile of Student's t; NaN below one degree of freedom."""
    check_confidence(confidence)
    degrees = np.asarray(df, np.float64)
    quantile = stdtrit(np.where(degrees >= 1, degrees, np.nan), 0.5 + confidence / 2)
    return np.asarray(quantile, dtype=np.float64)


def normal_quantile(confidence: float) -> float:
    """Return the two-sided quantile of the standard normal distribution: 1.96 for 0.95."""
    check_confidence(confidence)
    return float(ndtri(0.5 + confidence / 2))


def check_confidence(confidence: float) -> None:
    """Raise a ValueError for a confidence outside (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; accepted: above 0 and below 1")


def _bisect(outside: Callable[[FloatArray], npt.NDArray[np.bool_]], far: FloatArray, near: FloatArray) -> FloatArray:
    """Find where ``outside`` changes between ``far``, outside or at the end, and ``near``, inside."""
    for _ in range(_BISECTIONS):
        middle = (far + near) / 2
        beyond = outside(middle)
        far, near = np.where(beyond, middle, far), np.where(beyond, near, middle)
    return near
