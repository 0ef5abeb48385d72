"""Coefficients of several studies: pooled over data sets, the difference of two, and average ranks of metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.intervals import LEVELS, NOWHERE, Interval
from correlations.stats.ranks import Floats, Ints

LEVEL = 0.05  # of the critical difference
NO_INTERVAL = "a study has no interval over items"
FEW_OBSERVATIONS = "a study has 3 observations or fewer"
FEW_DATASETS = "one data set alone gives no average"
FEW_METRICS = "one metric alone has no rank"
_REACH = float(special.ndtri(LEVELS[1]))
_EDGE = 1e-9  # a coefficient of 1 has no finite z


@dataclass(frozen=True)
class Pooled:
    """A coefficient over several data sets; NaN, with the reason, where undefined.

    Attributes
    ----------
    value : float
        In [-1, 1]: the mean of Fisher's z, weighted by observations, and transformed back.
    interval : Interval
        95%, for these data sets and other items of theirs; NaN, with ``interval_reason``, if a study has none.
    heterogeneity : float
        Share of the spread between data sets that their own intervals do not explain, in [0, 1] (I squared).
    pvalue : float
        Of Cochran's test that all data sets have one coefficient.
    """

    value: float
    interval: Interval
    heterogeneity: float
    pvalue: float
    reason: str | None = None
    interval_reason: str | None = None


class Difference(NamedTuple):
    """A difference of two coefficients with its 95% interval; NaN if one of them is."""

    value: float
    interval: Interval

    @property
    def is_significant(self) -> bool:
        """Return whether the interval leaves out 0."""
        return self.interval.low > 0 or self.interval.high < 0


@dataclass(frozen=True, eq=False)
class AverageRanks:
    """Ranks of M metrics, 1 the best, over K data sets; NaN, with the reason, where undefined.

    Attributes
    ----------
    ranks : (K, M) float
        Ties share the mean of their ranks.
    means : (M,) float
    leads : (M,) int
        On how many data sets each metric is first, alone or with others.
    pvalue : float
        Friedman's, of no difference between metrics: the chi-square approximation, which is rough for few data sets.
    critical : float
        Nemenyi's: average ranks that are nearer than this cannot be told apart.
    """

    ranks: Floats
    means: Floats
    leads: Ints
    pvalue: float
    critical: float
    reason: str | None = None


def pooled_correlation(coefficients: ArrayLike, observations: ArrayLike, intervals: ArrayLike) -> Pooled:
    """Pool one metric's coefficients over data sets that share no item.

    Parameters
    ----------
    coefficients : (K,) float
        In [-1, 1], one a data set.
    observations : (K,) float
        Independent observations behind each: mirror images counted once. The weights are n - 3 ([1], p. 230).
    intervals : (K, 2) float
        Each one's own 95% interval, such as a bootstrap's over items; NaN where there is none. Half its width in z,
        divided by 1.96, is the standard error; data sets share no item, so that errors add as independent ones do.

    Returns
    -------
    Pooled
        Undefined if a coefficient is, or has 3 observations or fewer. Heterogeneity needs every interval.

    Raises
    ------
    ValueError
        If the lengths differ, there is no coefficient, or one lies outside [-1, 1].

    References
    ----------
    [1] Hedges and Olkin, "Statistical methods for meta-analysis", 1985, chapter 11.
    [2] Higgins and Thompson, "Quantifying heterogeneity in a meta-analysis", Statistics in Medicine 2002: I squared.

    Examples
    --------
    >>> pooled = pooled_correlation([0.3, 0.5], [103, 53], [[0.11, 0.47], [0.26, 0.68]])
    >>> round(pooled.value, 3), [round(end, 2) for end in pooled.interval]
    (0.371, [0.22, 0.5])
    """
    values = np.asarray(coefficients, dtype=np.float64)
    counts = np.asarray(observations, dtype=np.float64)
    ends = np.asarray(intervals, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"coefficients have shape {values.shape}: a flat list of at least one is expected")
    if counts.shape != values.shape or ends.shape != (values.size, 2):
        raise ValueError(
            f"{values.size} coefficients, observations of shape {counts.shape}, intervals of shape {ends.shape}: "
            "each coefficient has a number of observations and two ends"
        )
    outside = np.flatnonzero(np.abs(values) > 1)
    if outside.size:
        raise ValueError(f"coefficients[{outside[0]}] is {values[outside[0]]}: a correlation lies in [-1, 1]")
    if np.isnan(values).any():
        return _undefined("the coefficient is undefined in a study")
    if not (counts > 3).all():
        return _undefined(FEW_OBSERVATIONS)
    z, weights = _z(values), counts - 3
    mean = float(weights @ z / weights.sum())
    if np.isnan(ends).any():
        return Pooled(math.tanh(mean), NOWHERE, math.nan, math.nan, interval_reason=NO_INTERVAL)
    errors = (_z(ends[:, 1]) - _z(ends[:, 0])) / (2 * _REACH)
    reach = _REACH * math.sqrt(float((weights**2) @ (errors**2))) / float(weights.sum())
    interval = Interval(math.tanh(mean - reach), math.tanh(mean + reach))
    return Pooled(math.tanh(mean), interval, *_heterogeneity(z, errors))


def _undefined(reason: str) -> Pooled:
    return Pooled(math.nan, NOWHERE, math.nan, math.nan, reason, reason)


def _heterogeneity(z: Floats, errors: Floats) -> tuple[float, float]:
    """Return I squared and the p-value of Cochran's Q, by each study's own error; NaN if an error is 0."""
    if z.size < 2 or not (errors > 0).all():
        return math.nan, math.nan
    precision = errors**-2
    q = float(precision @ (z - precision @ z / precision.sum()) ** 2)
    freedom = z.size - 1
    return max(0.0, 1 - freedom / q) if q > 0 else 0.0, float(special.chdtrc(freedom, q))


def correlation_difference(first: float, of_first: Interval, second: float, of_second: Interval) -> Difference:
    """Return the difference of two coefficients from independent data, with an interval from their own ones.

    If both are of the same items, their errors mostly go together, and the interval is wider than it need be.

    Parameters
    ----------
    first, second : float
    of_first, of_second : Interval
        Their 95% intervals, by whatever method; they need not be symmetric.

    Returns
    -------
    Difference
        first - second; NaN if a coefficient is; an interval of NaN if an interval is.

    References
    ----------
    Zou, "Toward using confidence intervals to compare correlations", Psychological Methods 2007: equations for
    independent correlations, the method of variance estimates recovery.

    Examples
    --------
    >>> difference = correlation_difference(0.5, Interval(0.3, 0.65), 0.3, Interval(0.15, 0.45))
    >>> [round(end, 2) for end in (difference.value, *difference.interval)]
    [0.2, -0.05, 0.41]
    """
    value = first - second
    low = value - math.hypot(first - of_first.low, of_second.high - second)
    high = value + math.hypot(of_first.high - first, second - of_second.low)
    return Difference(value, NOWHERE if math.isnan(low) or math.isnan(high) else Interval(low, high))


def average_ranks(coefficients: ArrayLike) -> AverageRanks:
    """Rank metrics within each data set, and average their ranks.

    Parameters
    ----------
    coefficients : (K, M) float
        Of M metrics on K data sets, high ones the better, without NaN.

    Returns
    -------
    AverageRanks
        With one data set or one metric the p-value and the critical difference are NaN, with the reason.

    Raises
    ------
    ValueError
        If the shape is not (data sets, metrics), or a coefficient is NaN.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 2006, section 3.2.2: the Friedman
    test, and Nemenyi's critical difference q sqrt(M (M + 1) / (6 K)).

    Examples
    --------
    >>> result = average_ranks([[0.5, 0.4, 0.1], [0.6, 0.2, 0.3]])
    >>> result.means.tolist(), result.leads.tolist(), round(result.critical, 2)
    ([1.0, 2.5, 2.5], [2, 0, 0], 2.34)
    """
    values = np.asarray(coefficients, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"coefficients have shape {values.shape}: (data sets, metrics) is expected")
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0].tolist()
        raise ValueError(f"coefficients[{row}, {column}] is undefined: only metrics with all coefficients have ranks")
    n_datasets, n_metrics = values.shape
    ranks = scipy.stats.rankdata(-values, axis=1)
    leads = (values == values.max(axis=1, keepdims=True)).sum(axis=0)
    means = ranks.mean(axis=0)
    reason = FEW_DATASETS if n_datasets < 2 else FEW_METRICS if n_metrics < 2 else None
    if reason:
        return AverageRanks(ranks, means, leads, math.nan, math.nan, reason)
    quantile = float(scipy.stats.studentized_range.ppf(1 - LEVEL, n_metrics, np.inf)) / math.sqrt(2)
    critical = quantile * math.sqrt(n_metrics * (n_metrics + 1) / (6 * n_datasets))
    return AverageRanks(ranks, means, leads, _friedman(ranks), critical)


def _friedman(ranks: Floats) -> float:
    """Return the p-value of the Friedman test with its correction for ties; NaN if every data set ties all metrics."""
    n_datasets, n_metrics = ranks.shape
    centred = ranks.sum(axis=0) - n_datasets * (n_metrics + 1) / 2
    spread = float(((ranks - (n_metrics + 1) / 2) ** 2).sum())
    if spread == 0:
        return math.nan
    chi_square = (n_metrics - 1) * float(centred @ centred) / spread
    return float(special.chdtrc(n_metrics - 1, chi_square))


def _z(values: Floats) -> Floats:
    return np.arctanh(np.clip(values, _EDGE - 1, 1 - _EDGE))
