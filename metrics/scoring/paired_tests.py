"""Intervals and paired tests with sacrebleu's draws: the same seed gives the same resamples and the same p-values.

The product's own intervals and tests, whose draws do not depend on how a corpus is divided, are in `resampling`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import Aggregate
from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.resampling import check_least, resampled_sums

RESAMPLES = 1000
TRIALS = 10_000
LEVEL = 0.05  # below which sacrebleu marks a p-value

CELLS = 4_000_000  # draws in memory at a time
WORD = 32  # NumPy draws this many booleans from one number, and drops the rest at the end of a call
EQUAL = 1e-12  # differences of scores that rounding explains


def resampled_scores(packed: Floats, aggregate: Aggregate, *, resamples: int, seed: int) -> Floats:
    """Return scores of T systems on B resamples of the segments, the same resamples for all systems.

    Parameters
    ----------
    packed : (T, S, D) float
        Sufficient statistics, S at least 1.
    aggregate : Aggregate
        Sums (..., D) to scores (...).
    resamples : int
        B, at least 1.
    seed : int
        Not negative.

    Returns
    -------
    (B, T) float
        NaN if a resample has no score.

    Raises
    ------
    ValueError
        A number is out of range.

    Notes
    -----
    sacrebleu 2 sums in single precision: its scores differ from these in the seventh digit.

    References
    ----------
    Koehn, Statistical Significance Tests for Machine Translation Evaluation, EMNLP 2004; draws as sacrebleu's
    ``_bootstrap_resample`` and ``_paired_bs_test``.

    Examples
    --------
    >>> from metrics.scoring.aggregates import MeanAggregate
    >>> packed = np.stack([np.arange(10.0), np.ones(10)], axis=-1)[None]
    >>> resampled_scores(packed, MeanAggregate(), resamples=2, seed=12345).ravel().tolist()
    [5.1, 4.7]
    """
    n_segments = packed.shape[1]
    check_least(("segments", n_segments, 1), ("resamples", resamples, 1), ("seed", seed, 0))
    rng = np.random.default_rng(seed)
    scores = []
    for size in _batches(resamples, max(1, CELLS // n_segments)):
        chosen = rng.choice(n_segments, size=(size, n_segments), replace=True)
        cells = chosen + np.arange(0, size * n_segments, n_segments)[:, None]
        counts = np.bincount(cells.ravel(), minlength=size * n_segments).reshape(size, n_segments)
        scores.append(aggregate(resampled_sums(packed, counts)))
    return np.concatenate(scores)


def paired_bootstrap_p(difference: float, first: ArrayLike, second: ArrayLike) -> float:
    """Return sacrebleu's p-value of two systems on the same resamples.

    Parameters
    ----------
    difference : float
        Of the scores over all segments; its sign does not matter.
    first, second : (B,) float
        Two columns of `resampled_scores`.

    Returns
    -------
    float
        (1 + #{b : |d_b| - mean |d_b| > |difference|}) / (B + 1); NaN if a score is.

    Notes
    -----
    Smaller than the product's `metrics.scoring.resampling.paired_difference`, which counts both tails. Two equal
    systems have p = 1 / (B + 1), as in sacrebleu: see `systems_agree`.

    References
    ----------
    sacrebleu's ``_paired_bs_test``, after the Moses script ``bootstrap-hypothesis-difference-significance.pl``.

    Examples
    --------
    >>> paired_bootstrap_p(0.1, [0.5, 0.7, 0.9], [0.5, 0.5, 0.5])
    0.5
    """
    gaps = np.abs(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
    return _p_value(gaps - gaps.mean(), difference)


def randomization_p(first: Floats, second: Floats, aggregate: Aggregate, *, trials: int, seed: int) -> float:
    """Return sacrebleu's p-value of two systems whose outputs are exchanged at random.

    Parameters
    ----------
    first, second : (S, D) float
        Sufficient statistics.
    aggregate : Aggregate
    trials : int
        At least 1.
    seed : int
        Not negative.

    Returns
    -------
    float
        (1 + #{trials whose difference is greater than that of the scores}) / (trials + 1); NaN if a score is.

    Raises
    ------
    ValueError
        A number is out of range.

    References
    ----------
    Riezler and Maxwell, On Some Pitfalls in Automatic Evaluation and Significance Testing for MT, 2005, section 4.2;
    draws as sacrebleu's ``_paired_ar_test``.

    Examples
    --------
    >>> from metrics.scoring.aggregates import MeanAggregate
    >>> ones = np.ones(12)
    >>> better, worse = (np.stack([ones * score, ones], axis=-1) for score in (0.9, 0.1))
    >>> randomization_p(better, worse, MeanAggregate(), trials=999, seed=12345)
    0.001
    """
    n_segments = len(first)
    check_least(("segments", n_segments, 1), ("trials", trials, 1), ("seed", seed, 0))
    gaps = [
        np.abs(aggregate(stays @ first + ~stays @ second) - aggregate(~stays @ first + stays @ second))
        for stays in _exchanges(n_segments, trials, seed)
    ]
    return _p_value(np.concatenate(gaps), float(aggregate(first.sum(axis=0)) - aggregate(second.sum(axis=0))))


def systems_agree(first: Floats, second: Floats) -> bool:
    """Return whether two systems have equal statistics (S, D): a test of them says nothing."""
    return bool(np.array_equal(first, second))


def _exchanges(n_segments: int, trials: int, seed: int) -> Iterator[Bools]:
    """Draw which outputs stay (trials, S), in batches that together are sacrebleu's one draw."""
    rng = np.random.default_rng(seed)
    for size in _batches(trials, max(1, CELLS // n_segments // WORD) * WORD):
        yield rng.integers(2, size=(size, n_segments), dtype=bool)


def _batches(total: int, size: int) -> Iterator[int]:
    for start in range(0, total, size):
        yield min(size, total - start)


def _p_value(statistics: Floats, difference: float) -> float:
    if math.isnan(difference) or np.isnan(statistics).any():
        return math.nan
    beyond = int((statistics > abs(difference) + EQUAL).sum())
    return (beyond + 1) / (statistics.size + 1)
