"""Pearson, Spearman and Kendall coefficients of many samples at once, equal to ``scipy.stats`` with ties.

The ``mirrored`` forms take the observations (x, y) and answer for the doubled sample {(x, y), (-x, -y)}: what
system-pair differences become when the sign must not depend on which system is called A. They never build the doubled
sample. With a = |x|, the doubled sample's centred rank of x is sign(x) (rank(a) - 1/2), and a pair of observations
counts as concordant, over its four mirror images, only through the one that dominates in |x| and |y|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.concordance import BITSET_LIMIT, concordant_minus_discordant, doubled_dominance
from correlations.stats.ranks import Bools, Floats, RankedBatch, as_paired_batches, rank_batch


class Ranked(NamedTuple):
    """One side of paired samples, sorted once. ``sign`` is set for mirrored samples: ``ranks`` are then of |values|."""

    ranks: RankedBatch
    sign: Floats | None
    undefined: Bools  # (batch,): holds a NaN


def prepare(values: Floats, *, mirrored: bool) -> Ranked:
    """Sort each row of ``values``, shape (batch, n), for ``spearman`` and ``kendall``; a row with NaN is marked."""
    undefined: Bools = np.asarray(np.isnan(values).any(axis=1))
    if mirrored:
        return Ranked(rank_batch(np.abs(values)), np.nan_to_num(np.sign(values)), undefined)
    return Ranked(rank_batch(values), None, undefined)


def _ratio(numerator: Floats, squares: Floats, x: Ranked, y: Ranked) -> Floats:
    """numerator / sqrt(squares), within [-1, 1]; NaN where a side is constant or undefined."""
    result = np.full(numerator.shape, np.nan)
    defined = (squares > 0) & ~x.undefined & ~y.undefined
    np.divide(numerator, np.sqrt(squares), out=result, where=defined)
    return np.asarray(np.clip(result, -1.0, 1.0))


def spearman(x: Ranked, y: Ranked) -> Floats:
    """Spearman's rho of prepared samples, shape (batch,)."""
    n = x.ranks.below.shape[1]
    # Everything below is a whole number under 2^53 for n up to 100,000: the sums are exact.
    if x.sign is not None and y.sign is not None:
        first, second = x.sign * x.ranks.doubled, y.sign * y.ranks.doubled
    else:
        first, second = (x.ranks.doubled - n).astype(np.float64), (y.ranks.doubled - n).astype(np.float64)
    covariance = np.einsum("bn,bn->b", first, second)
    squares = np.einsum("bn,bn->b", first, first) * np.einsum("bn,bn->b", second, second)
    return _ratio(covariance, squares, x, y)


def kendall(x: Ranked, y: Ranked) -> Floats:
    """Kendall's tau-b of prepared samples, shape (batch,)."""
    n = x.ranks.below.shape[1]
    if x.sign is not None and y.sign is not None and n > BITSET_LIMIT:
        # Signed ranks stand in for the values, so the doubled sample can be built and counted by merging.
        first, second = x.sign * x.ranks.doubled, y.sign * y.ranks.doubled
        x = Ranked(rank_batch(np.hstack([first, -first])), None, x.undefined)
        y = Ranked(rank_batch(np.hstack([second, -second])), None, y.undefined)
        n *= 2
    tied_x, tied_y = x.ranks.tied_pairs(), y.ranks.tied_pairs()
    if x.sign is not None and y.sign is not None:
        pairs = n * (2 * n - 1)
        balance = np.einsum("bn,bn->b", x.sign * y.sign, doubled_dominance(x.ranks, y.ranks).astype(np.float64))
        # Each group of equal |x| appears twice, once per sign; zeros are their own mirror image and tie across, too.
        tied_x = 2 * tied_x + (x.sign == 0).sum(axis=1) ** 2
        tied_y = 2 * tied_y + (y.sign == 0).sum(axis=1) ** 2
    else:
        pairs = n * (n - 1) // 2
        balance = concordant_minus_discordant(x.ranks, y.ranks).astype(np.float64)
    squares = (pairs - tied_x).astype(np.float64) * (pairs - tied_y).astype(np.float64)
    return _ratio(balance, squares, x, y)


def spearman_batch(x: ArrayLike, y: ArrayLike, *, mirrored: bool = False) -> Floats:
    """Spearman's rank correlation over the last axis, ties given their average rank.

    Parameters
    ----------
    x, y : arrays of shape (..., n)
        Paired observations; leading shapes broadcast. Infinite values are ranked like any others.
    mirrored : bool
        Answer for the 2 n observations (x, y) and (-x, -y).

    Returns
    -------
    ndarray of shape (...)
        In [-1, 1]. NaN where n < 2, where x or y is constant (mirrored: all zero), or where either holds a NaN.

    Raises
    ------
    ValueError
        If the last axes differ in length or the leading shapes do not broadcast.

    References
    ----------
    Spearman, "The proof and measurement of association between two things", 1904.

    Examples
    --------
    >>> spearman_batch([[1, 2, 3, 4], [1, 2, 2, 4]], [1, 3, 2, 4]).round(4).tolist()
    [0.8, 0.9487]
    """
    first, second, leading = as_paired_batches(x, y)
    result = spearman(prepare(first, mirrored=mirrored), prepare(second, mirrored=mirrored))
    return result.reshape(leading)


def kendall_tau_b_batch(x: ArrayLike, y: ArrayLike, *, mirrored: bool = False) -> Floats:
    """Kendall's tau-b over the last axis: concordant minus discordant pairs, corrected for ties.

    Parameters, result, and errors are those of ``spearman_batch``.

    References
    ----------
    Kendall, "The treatment of ties in ranking problems", Biometrika 1945.

    Examples
    --------
    >>> kendall_tau_b_batch([[1, 2, 3, 4], [1, 2, 2, 4]], [1, 3, 2, 4]).round(4).tolist()
    [0.6667, 0.9129]
    """
    first, second, leading = as_paired_batches(x, y)
    result = kendall(prepare(first, mirrored=mirrored), prepare(second, mirrored=mirrored))
    return result.reshape(leading)


def pearson_batch(x: ArrayLike, y: ArrayLike) -> Floats:
    """Pearson's product-moment correlation over the last axis.

    Parameters, result, and errors are those of ``spearman_batch``; an infinite value also gives NaN.

    Examples
    --------
    >>> pearson_batch([1, 2, 3, 4], [[1, 3, 2, 4], [5, 5, 5, 5]]).round(4).tolist()
    [0.8, nan]
    """
    first, second, leading = as_paired_batches(x, y)
    if first.shape[1] < 2:
        return np.full(leading, np.nan)
    # A constant sample's mean can miss its value by rounding: constancy is asked of the values themselves.
    defined = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    defined &= (first != first[:, :1]).any(axis=1) & (second != second[:, :1]).any(axis=1)
    result = np.full(first.shape[0], np.nan)
    a = first[defined] - first[defined].mean(axis=1, keepdims=True)
    b = second[defined] - second[defined].mean(axis=1, keepdims=True)
    a /= np.abs(a).max(axis=1, keepdims=True)  # keeps squares clear of underflow and overflow
    b /= np.abs(b).max(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum("bn,bn->b", a, a) * np.einsum("bn,bn->b", b, b))
    result[defined] = np.clip(np.einsum("bn,bn->b", a, b) / scale, -1.0, 1.0)
    return result.reshape(leading)
