"""Tests for correlations: Williams' test, paired permutation, Holm's correction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from annotation.ranking.holm import holm_adjusted
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ranks import Bools, Floats
from metrics.scoring.williams import Comparison as Comparison  # the command line compares correlations, too
from metrics.scoring.williams import williams_test as williams_test

_PERMUTATION_BLOCK = 250  # permutations held in memory at once


def paired_permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    *,
    rng: np.random.Generator,
    coefficient: str = "spearman",
    mirrored: bool = False,
    n_permutations: int = 9999,
) -> Comparison:
    """Test whether two metrics correlate differently with the human scores, by swapping labels unit by unit.

    Both metrics are first brought to one scale (centred unless ``mirrored``, divided by their spread), for a swap
    of raw scores would mix units of measurement.

    Parameters
    ----------
    first, second, human : arrays of shape (n,)
        The two metrics and the human scores over the same n units, items or systems.
    rng : numpy.random.Generator
    coefficient : str
        A key of ``COEFFICIENTS``.
    mirrored : bool
        The observations are differences between two systems, and each stands for its mirror image, too.
    n_permutations : int
        At least 1. The smallest p-value that can come out is 1 / (n_permutations + 1).

    Returns
    -------
    Comparison
        coefficient(first, human) - coefficient(second, human), and the two-sided p, the observed labelling counted
        as one of the permutations. NaN, with the reason, where a coefficient is undefined.

    Raises
    ------
    ValueError
        If the lengths differ, the coefficient is unknown, or ``n_permutations`` is below 1.

    References
    ----------
    Deutsch et al., "A statistical analysis of summarization evaluation metrics using resampling methods", TACL 2021
    (PERM-BOTH over inputs); Phipson and Smyth, "Permutation p-values should never be zero", 2010.

    Examples
    --------
    >>> human = np.arange(12.0)
    >>> noise = np.array([3, 9, 1, 11, 5, 0, 8, 2, 10, 4, 7, 6.0])
    >>> result = paired_permutation_test(human, noise, human, rng=np.random.default_rng(1), n_permutations=999)
    >>> round(result.statistic, 2), result.pvalue < 0.05
    (0.9, True)
    """
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"coefficient is {coefficient!r}: accepted are {', '.join(COEFFICIENTS)}")
    if n_permutations < 1:
        raise ValueError(f"n_permutations is {n_permutations}: at least 1 is needed")
    scores = np.stack([_scaled(first, mirrored=mirrored), _scaled(second, mirrored=mirrored)])
    target = np.asarray(human, dtype=np.float64)

    def difference(a: Floats, b: Floats) -> Floats:
        of_a, of_b = COEFFICIENTS[coefficient].batch(np.stack([a, b]), target, mirrored=mirrored)
        return np.asarray(of_a - of_b)

    observed = float(difference(scores[0], scores[1]))
    if math.isnan(observed):
        return Comparison(math.nan, math.nan, "a coefficient is undefined: constant or missing values")
    as_extreme = valid = 0
    for start in range(0, n_permutations, _PERMUTATION_BLOCK):
        swap = rng.random((min(_PERMUTATION_BLOCK, n_permutations - start), target.size)) < 0.5
        permuted = difference(np.where(swap, scores[1], scores[0]), np.where(swap, scores[0], scores[1]))
        as_extreme += int((np.abs(permuted) >= abs(observed) - 1e-12).sum())
        valid += int((~np.isnan(permuted)).sum())
    return Comparison(observed, (as_extreme + 1) / (valid + 1))


def _scaled(values: ArrayLike, *, mirrored: bool) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"a metric's scores have shape {array.shape}: one axis, the units, is expected")
    centred = array if mirrored else array - array.mean()
    spread = math.sqrt(float((centred**2).mean()))
    return centred / spread if spread > 0 else centred


@dataclass(frozen=True)
class HolmResult:
    """``adjusted`` p-values in the order given, NaN where the input was; ``rejected`` at the level ``alpha``."""

    adjusted: Floats
    rejected: Bools


def holm_correction(pvalues: ArrayLike, *, alpha: float = 0.05) -> HolmResult:
    """Correct p-values by Holm's step-down method, which bounds the chance of any false rejection by ``alpha``.

    Parameters
    ----------
    pvalues : array of shape (n,)
        In [0, 1]. An undefined test (NaN) stays NaN and is not counted as one of the comparisons.
    alpha : float
        Strictly between 0 and 1.

    Raises
    ------
    ValueError
        If ``pvalues`` is not a flat list of values in [0, 1], or ``alpha`` lies outside (0, 1).

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.

    Examples
    --------
    >>> result = holm_correction([0.01, 0.04, 0.03])
    >>> result.adjusted.round(3).tolist(), result.rejected.tolist()
    ([0.03, 0.06, 0.06], [True, False, False])
    """
    values = np.asarray(pvalues, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"pvalues have shape {values.shape}: a flat list is expected")
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        raise ValueError(f"pvalues[{outside[0]}] is {values[outside[0]]!r}: a p-value lies in [0, 1]")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha!r}: it must lie strictly between 0 and 1")
    adjusted = holm_adjusted(values)
    return HolmResult(adjusted, adjusted <= alpha)
