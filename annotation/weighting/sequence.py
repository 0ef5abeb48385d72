"""Whether raters change while they work: ratings against time, or against place in the rater's own sequence."""

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
    slope : change of a rating per unit of what it is set against.
    low, high : interval, at 95% unless another confidence was asked for.
    pvalue : two-sided, of no slope.
    standard_error : with raters as the independent units.
    n, n_raters : ratings and raters that tell of a slope: of raters with two or more different places.
    reason : why the slope, or else its interval and p-value, are NaN; empty where none is.
    """

    slope: float
    low: float
    high: float
    pvalue: float
    standard_error: float
    n: int
    n_raters: int
    reason: str


def drift(value: npt.ArrayLike, rater: npt.ArrayLike, place: npt.ArrayLike, *, confidence: float = 0.95) -> DriftResult:
    """Regress ratings on time or on place in the sequence, each within its rater.

    Each rater has a level of their own, so that neither a severe rater who came late nor one who stayed long counts as
    drift; the slope is common to all.

    Parameters
    ----------
    value : float array, shape (n,)
        Ratings on one criterion; NaN does not count.
    rater : array, shape (n,)
        Who gave each.
    place : float array, shape (n,)
        What to set them against, in the unit the slope is wanted per: hours, or screens; NaN does not count.
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
    values, places = np.asarray(value, dtype=np.float64), np.asarray(place, dtype=np.float64)
    who = np.asarray(rater)
    for name, column in (("rater", who), ("place", places)):
        aligned(name, column, values.shape, per="rating")
    check_confidence(confidence)
    known = ~np.isnan(values) & ~np.isnan(places)
    values, places = values[known], places[known]
    code = codes_of(who[known])
    n = np.bincount(code)
    x, y = centred(places, code, n), centred(values, code, n)
    x[np.abs(x) < 1e-12 * np.abs(places).max(initial=0.0)] = 0.0
    moving = np.bincount(code, x**2) > 0
    keep = moving[code] if len(code) else np.zeros(0, dtype=np.bool_)
    x, y, code = x[keep], y[keep], codes_of(code[keep])
    n_raters = int(code.max(initial=-1)) + 1
    if n_raters == 0:
        nan = float("nan")
        return DriftResult(nan, nan, nan, nan, nan, 0, 0, "no rater has ratings at two different places")
    squares = float(x @ x)
    slope = float(x @ y) / squares
    if n_raters < 2:
        nan = float("nan")
        return DriftResult(slope, nan, nan, nan, nan, len(x), 1, "one rater: no interval, no p-value")
    # [1] The score of each cluster; factor G / (G - 1) (N - 1) / (N - k) with the one slope as k.
    score = np.bincount(code, x * (y - slope * x))
    factor = n_raters / (n_raters - 1)
    error = float(np.sqrt(factor * (score @ score))) / squares
    if error <= 1e-12 * max(abs(slope), 1e-300):
        nan = float("nan")
        return DriftResult(slope, nan, nan, nan, 0.0, len(x), n_raters, "every rater has exactly this slope")
    half = float(student_quantile(float(n_raters - 1), confidence)) * error
    pvalue = float(2 * stdtr(n_raters - 1, -abs(slope / error)))
    return DriftResult(slope, slope - half, slope + half, pvalue, error, len(x), n_raters, "")


def sequence_places(rater: npt.ArrayLike, order: npt.ArrayLike) -> IntArray:
    """Place of each screen in its rater's own sequence, from 0; entries of equal order share a place.

    Parameters
    ----------
    rater : array, shape (n,)
    order : array, shape (n,)
        Anything that ascends along a rater's work: times, or numbers of presentations.

    Examples
    --------
    >>> sequence_places(["a", "b", "a", "a"], [10, 11, 12, 12]).tolist()
    [0, 0, 1, 1]
    """
    who, when = codes_of(np.asarray(rater)), codes_of(np.asarray(order))
    steps, step = np.unique(crossed(who, when), return_inverse=True)
    owner = steps // (when.max(initial=0) + 1)
    first = np.searchsorted(owner, np.arange(owner.max(initial=-1) + 1))
    places: IntArray = (np.arange(len(steps)) - first[owner])[step] if len(steps) else np.zeros(0, dtype=np.int64)
    return places
