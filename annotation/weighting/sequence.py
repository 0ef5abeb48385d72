"""Drift: whether raters change with time, or along their sequence of screens."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from annotation.weighting.groups import aligned, centred, codes_of, crossed
from annotation.weighting.intervals import check_confidence, student_quantile
from annotation.weighting.table import IntArray


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


def drift(
    value: npt.ArrayLike, rater: npt.ArrayLike, position: npt.ArrayLike, *, confidence: float = 0.95
) -> DriftResult:
    """Regress ratings on time or on the position in the sequence, within raters.

    Each rater has a level of their own, so that neither a severe rater who came late nor one who stayed long counts as
    drift; the slope is common to all.

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
        The error is robust against ratings of one rater that belong together (clusters), and the p-value takes
        Student's t with one degree of freedom less than raters. With few raters, say below ten, it is somewhat too
        small; with one there is none.

    Raises
    ------
    ValueError
        Columns of different length, or ``confidence`` outside (0, 1).

    References
    ----------
    [1] Cameron & Miller, A practitioner's guide to cluster-robust inference, Journal of Human Resources 2015: eq. 11,
    with the finite-sample factor of eq. 12 for a regression whose fixed effects are nested in the clusters
    (section III.B), and t(G - 1).

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
    known = ~np.isnan(values) & ~np.isnan(positions)
    values, positions = values[known], positions[known]
    code = codes_of(raters[known])
    n = np.bincount(code)
    x, y = centred(positions, code, n), centred(values, code, n)
    x[np.abs(x) < 1e-12 * np.abs(positions).max(initial=0.0)] = 0.0
    moving = np.bincount(code, x**2) > 0
    keep = moving[code] if len(code) else np.zeros(0, dtype=np.bool_)
    x, y, code = x[keep], y[keep], codes_of(code[keep])
    n_raters = int(code.max(initial=-1)) + 1
    if n_raters == 0:
        return DriftResult(0, 0, "no rater has ratings at two different positions")
    squares = float(x @ x)
    slope = float(x @ y) / squares
    if n_raters < 2:
        return DriftResult(len(x), 1, "one rater: no interval, no p-value", slope)
    # [1] The score of each cluster; factor G / (G - 1) (N - 1) / (N - k) with the one slope as k.
    score = np.bincount(code, x * (y - slope * x))
    factor = n_raters / (n_raters - 1)
    error = float(np.sqrt(factor * (score @ score))) / squares
    if error <= 1e-12 * max(abs(slope), 1e-300):
        return DriftResult(len(x), n_raters, "every rater has exactly this slope", slope, standard_error=0.0)
    half = float(student_quantile(float(n_raters - 1), confidence)) * error
    pvalue = float(2 * stdtr(n_raters - 1, -abs(slope / error)))
    return DriftResult(len(x), n_raters, "", slope, slope - half, slope + half, pvalue, error)


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
