"""Ratings standardised per rater, which removes a rater's severity and spread."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


def standardised(rater: npt.ArrayLike, rating: npt.ArrayLike) -> FloatArray:
    """Return each rating as its distance from its rater's mean, in standard deviations of that rater's ratings.

    Parameters
    ----------
    rater : (n,) int
        Codes from 0.
    rating : (n,) float

    Returns
    -------
    (n,) float
        NaN for ratings of a rater whose ratings are all equal, or who gave one; n - 1 in the denominator.

    References
    ----------
    Graham et al., Continuous Measurement Scales in Human Evaluation of Machine Translation, LAW 2013, section 4.

    Examples
    --------
    >>> standardised([0, 0, 0, 1, 1], [1, 2, 3, 4, 4])
    array([-1.,  0.,  1., nan, nan])
    """
    codes, values = np.asarray(rater, dtype=np.int64), np.asarray(rating, dtype=np.float64)
    if codes.shape != values.shape or codes.ndim != 1:
        raise ValueError(f"rater and rating have shapes {codes.shape} and {values.shape}; accepted: one length")
    n = np.bincount(codes)
    deviation = values - (np.bincount(codes, values) / np.maximum(n, 1))[codes]
    spread = np.sqrt(np.bincount(codes, deviation**2) / np.maximum(n - 1, 1))
    # A constant rater's mean may be off by a rounding: compare values, not the spread, with zero.
    lowest, highest = np.full((2, n.size), np.nan)
    np.fmin.at(lowest, codes, values)
    np.fmax.at(highest, codes, values)
    varies = (highest > lowest)[codes]
    z: FloatArray = np.divide(deviation, spread[codes], out=np.full(values.shape, np.nan), where=varies)
    return z


def furthest_mean(rater: npt.ArrayLike, weight: npt.ArrayLike) -> float:
    """Return how far from 0 a weighted mean of standardised ratings can lie, whatever the raters answer.

    Each rater's n standardised ratings sum to 0 and their squares to n - 1, so that a weighted sum of them is at most
    the length of the centred weights times the root of n - 1 (Cauchy and Schwarz).

    Parameters
    ----------
    rater : (n,) int
        Codes from 0.
    weight : (n,) float
        Of each of the raters' ratings in the mean; 0 for ratings of others.

    Examples
    --------
    >>> round(furthest_mean([0, 0, 0, 0], [0.5, 0.5, 0, 0]), 3)  # of two systems with two ratings each: sqrt(3) / 2
    0.866
    """
    codes, weights = np.asarray(rater, dtype=np.int64), np.asarray(weight, dtype=np.float64)
    n = np.bincount(codes)
    centred = weights - (np.bincount(codes, weights) / np.maximum(n, 1))[codes]
    return float(np.sqrt(np.bincount(codes, centred**2) * np.maximum(n - 1, 0)).sum())
