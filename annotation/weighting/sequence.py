"""Drift: whether raters change with time, or along their sequence of screens."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from annotation.weighting.groups import aligned, centred, codes_of, crossed
from annotation.weighting.intervals import check_confidence, mean_interval, student_quantile
from annotation.weighting.table import FloatArray, IntArray

MOST_STRETCHES = 12
_BISECTIONS = 60


@dataclass(frozen=True)
class DriftResult:
    """Slope of ratings within raters; NaN with a reason where undefined.

    Attributes
    ----------
    slope : change of a rating per unit of position.
    low, high : its interval.
    pvalue : two-sided, of no slope.
    standard_error : with raters as the independent units.
    n, n_raters : ratings and raters behind the slope: of raters with two or more different positions.
    reason : why the slope, or else its interval and p-value, are NaN; empty where none is.
    """

    n: int
    n_raters: int
    reason: str = ""
    slope: float = np.nan
    low: float = np.nan
    high: float = np.nan
    pvalue: float = np.nan
    standard_error: float = np.nan


@dataclass(frozen=True)
class Stretch:
    """Ratings of a stretch of time or of items, less the mean of all that their rater gave."""

    start: float
    end: float
    n: int
    mean: float
    low: float
    high: float


def drift(
    value: npt.ArrayLike, rater: npt.ArrayLike, position: npt.ArrayLike, *, confidence: float = 0.95
) -> DriftResult:
    """Average raters' slopes of their ratings on time or on the position in their sequence.

    Each rater has a level of their own, so that neither a severe rater who came late nor one who stayed long counts as
    drift. Raters drift differently: a slope counts the more, the better it is known, but beyond the variance
    between raters no more.

    Parameters
    ----------
    value : float array, shape (n,)
        Ratings on one criterion; NaN does not count.
    rater : array, shape (n,)
        The rater of each.
    position : float array, shape (n,)
        Hours, or positions in the sequence of screens; NaN does not count.
    confidence : float
        In (0, 1).

    Returns
    -------
    DriftResult
        Interval and p-value take Student's t with one degree of freedom less than the raters that equal shares would
        need (one over the sum of squared shares). With one rater there is none.

    Raises
    ------
    ValueError
        Columns of different length, or ``confidence`` outside (0, 1).

    References
    ----------
    [1] Paule & Mandel, Consensus Values and Weighting Factors, Journal of Research of the National Bureau of Standards
    1982. [2] Bell & McCaffrey, Bias reduction in standard errors for linear regression with multi-stage samples, Survey
    Methodology 2002, for a mean of clusters.

    Examples
    --------
    >>> result = drift([5, 4, 3, 4, 4, 2], [0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])
    >>> result.slope, result.n_raters
    (-1.0, 2)
    """
    values, positions = np.asarray(value, dtype=np.float64), np.asarray(position, dtype=np.float64)
    raters = np.asarray(rater)
    for name, column in (("rater", raters), ("position", positions)):
        aligned(name, column, values.shape, per="rating")
    check_confidence(confidence)
    x, y, code = _within_raters(values, raters, positions)
    n_raters = int(code.max(initial=-1)) + 1
    if n_raters == 0:
        return DriftResult(0, 0, "no rater has ratings at two different positions")
    squares: FloatArray = np.bincount(code, x * x).astype(np.float64, copy=False)
    slopes = np.bincount(code, x * y) / squares
    if n_raters < 2:
        return DriftResult(len(x), 1, "one rater: no interval, no p-value", float(slopes[0]))
    residual = y - slopes[code] * x
    df = len(x) - 2 * n_raters
    noise = float(residual @ residual) / df if df > 0 else 0.0
    share = _shares(slopes, noise / squares if df > 0 else None, squares)
    slope = float(share @ slopes)
    # [2] Each rater's squared distance, over what is left of it in expectation because the rater moved the mean.
    error = float(np.sqrt((share**2 * (slopes - slope) ** 2 / (1 - share)).sum()))
    if error <= 1e-12 * max(abs(slope), 1e-300):
        return DriftResult(len(x), n_raters, "every rater has exactly this slope", slope, standard_error=0.0)
    freedom = max(1 / float(share @ share) - 1, 1.0)
    half = float(student_quantile(freedom, confidence)) * error
    pvalue = float(2 * stdtr(freedom, -abs(slope / error)))
    return DriftResult(len(x), n_raters, "", slope, slope - half, slope + half, pvalue, error)


def _within_raters(
    values: FloatArray, raters: npt.NDArray[Any], positions: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return positions and values less their rater's mean, and the rater's code, of raters at several positions."""
    known = ~np.isnan(values) & ~np.isnan(positions)
    values, positions = values[known], positions[known]
    code = codes_of(raters[known])
    n = np.bincount(code)
    x, y = centred(positions, code, n), centred(values, code, n)
    x[np.abs(x) < 1e-12 * np.abs(positions).max(initial=0.0)] = 0.0
    moving = np.bincount(code, x**2) > 0
    keep = moving[code] if len(code) else np.zeros(0, dtype=np.bool_)
    return x[keep], y[keep], codes_of(code[keep])


def _shares(slopes: FloatArray, variance: FloatArray | None, squares: FloatArray) -> FloatArray:
    """Return the share of each slope in their mean: inverse to its own variance plus that between raters.

    Without their own variances, inverse to what they would be in proportion.
    """
    if variance is None:
        in_proportion: FloatArray = squares / squares.sum()
        return in_proportion
    n = len(slopes)

    def shares(between: float) -> tuple[FloatArray, float]:
        weight = 1 / np.maximum(between + variance, 1e-300)
        share = weight / weight.sum()
        return share, float((weight * (slopes - share @ slopes) ** 2).sum())

    low, high = 0.0, float(slopes.var(ddof=1))
    if shares(low)[1] <= n - 1:
        return shares(low)[0]
    for _ in range(_BISECTIONS):  # [1] the variance between raters at which the weighted sum of squares is n - 1
        middle = (low + high) / 2
        low, high = (middle, high) if shares(middle)[1] > n - 1 else (low, middle)
    return shares(high)[0]


def stretches(value: FloatArray, rater: npt.NDArray[np.generic], when: FloatArray) -> list[Stretch]:
    """Divide ratings into at most a dozen stretches of equal length, each with Student's interval of its mean.

    Parameters
    ----------
    value : float array, shape (n,)
    rater : array, shape (n,)
    when : float array, shape (n,)
        Hours or positions; NaN does not count.

    Returns
    -------
    list of Stretch
        Those with ratings, in order; NaN ends below two ratings and where all are equal.

    Examples
    --------
    >>> [(part.n, part.mean) for part in stretches(np.array([4.0, 2]), np.array([0, 0]), np.array([1.0, 2]))]
    [(1, 1.0), (1, -1.0)]
    """
    known = ~np.isnan(when)
    value, when, code = value[known], when[known], codes_of(rater[known])
    if not len(value) or np.ptp(when) == 0:
        return []
    deviation = value - (np.bincount(code, value) / np.bincount(code))[code]
    is_whole = bool((when == np.round(when)).all())
    width = np.ptp(when) / MOST_STRETCHES
    if is_whole:
        width = max(np.ceil((np.ptp(when) + 1) / MOST_STRETCHES), 1.0)
    number = np.minimum(((when - when.min()) / width).astype(np.int64), MOST_STRETCHES - 1)
    n = np.bincount(number)
    filled = np.flatnonzero(n)
    mean = np.bincount(number, deviation)[filled] / n[filled]
    squares = np.bincount(number, deviation**2)[filled] - n[filled] * mean**2
    spread = np.sqrt(np.maximum(squares, 0) / np.maximum(n[filled] - 1, 1))
    interval = mean_interval(mean, np.where(n[filled] > 1, spread, np.nan), n[filled])
    starts = when.min() + filled * width
    columns = (starts, starts + width - is_whole, n[filled], mean, interval.low, interval.high)
    return [Stretch(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def sequence_positions(rater: npt.ArrayLike, order: npt.ArrayLike) -> IntArray:
    """Return the position of each screen in its rater's sequence, from 0; entries of equal order share a position.

    Parameters
    ----------
    rater : array, shape (n,)
    order : array, shape (n,)
        Anything that ascends along a rater's work: times, or numbers of presentations.

    Examples
    --------
    >>> sequence_positions(["a", "b", "a", "a"], [10, 11, 12, 12]).tolist()
    [0, 0, 1, 1]
    """
    raters, when = codes_of(np.asarray(rater)), codes_of(np.asarray(order))
    steps, step = np.unique(crossed(raters, when), return_inverse=True)
    owner = steps // (when.max(initial=0) + 1)
    first = np.searchsorted(owner, np.arange(owner.max(initial=-1) + 1))
    positions: IntArray = (np.arange(len(steps)) - first[owner])[step] if len(steps) else np.zeros(0, dtype=np.int64)
    return positions
