"""System-level correlation under resampling of items and systems, and tests that swap two metrics' scores."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ranks import Bools, Floats
from correlations.stats.significance import Comparison

Over = Literal["items", "systems", "both"]
OVER: tuple[Over, ...] = ("items", "systems", "both")
_TIE = 1e-6  # sums in single precision: permutations that equal the observed one differ by less
_CELLS = 4_000_000  # swapped outputs in memory at a time


def nested_bootstrap(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    rng: np.random.Generator,
    over: Over = "both",
    coefficient: str = "pearson",
    n_replicates: int = 1000,
) -> Floats:
    """Return the system-level coefficient on resampled items, systems, or both.

    A system's score is the mean of its scores of outputs, over those that have a score and a rating.

    Parameters
    ----------
    metric, human : (T, S) float
        Of T >= 2 systems on S items; NaN if missing.
    rng : numpy.random.Generator
    over : {"items", "systems", "both"}
        What is drawn, with replacement: the same items for all systems.
    coefficient : str
        A key of ``COEFFICIENTS``.
    n_replicates : int
        B, at least 1.

    Returns
    -------
    (B,) float
        In [-1, 1]. NaN where a draw leaves a system without outputs, or scores or ratings all equal.

    Raises
    ------
    ValueError
        If the shapes differ, a value is infinite, or an argument is unknown or out of range.

    References
    ----------
    Deutsch, Dror and Roth, "A statistical analysis of summarization evaluation metrics using resampling methods",
    TACL 2021, section 4 (BOOT-INPUTS, BOOT-SYSTEMS, BOOT-BOTH).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> human = np.arange(8.0)[:, None] + rng.normal(size=(8, 50))
    >>> values = nested_bootstrap(human + rng.normal(size=(8, 50)), human, rng=rng, n_replicates=200)
    >>> values.shape, bool((values > 0.9).mean() > 0.9)
    ((200,), True)
    """
    x, y, both = _checked(metric, human)
    _check(over, coefficient, n_replicates, "n_replicates")
    n_items = x.shape[1]
    weights = np.ones((1, n_items))
    if over != "systems":
        weights = _times_drawn(n_items, n_replicates, rng)
    counts = weights @ both.T
    with np.errstate(invalid="ignore"):
        of_metric, of_human = ((weights @ np.where(both, side, 0.0).T) / counts for side in (x, y))
    if over != "items":
        of_metric, of_human = over_drawn_systems(of_metric, of_human, rng=rng, n_replicates=n_replicates)
    return COEFFICIENTS[coefficient].batch(of_metric, of_human)


def _times_drawn(n_items: int, n_replicates: int, rng: np.random.Generator) -> Floats:
    """Return how often each item is drawn, (B, S), if as many are drawn as there are."""
    drawn = rng.integers(0, n_items, (n_replicates, n_items))
    drawn += n_items * np.arange(n_replicates)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=n_replicates * n_items)
    return counts.reshape(n_replicates, n_items).astype(np.float64)


def over_drawn_systems(
    scores: Floats, ratings: Floats, *, rng: np.random.Generator, n_replicates: int
) -> tuple[Floats, Floats]:
    """Draw as many systems as there are, with replacement, in each replicate.

    Parameters
    ----------
    scores, ratings : (B, T) or (1, T) float
        One and the same for all replicates in the latter case.
    n_replicates : int
        B.

    Returns
    -------
    (B, T) float, (B, T) float
    """
    n_systems = scores.shape[1]
    drawn = rng.integers(0, n_systems, (n_replicates, n_systems))
    shape = n_replicates, n_systems
    of_scores, of_ratings = (
        np.take_along_axis(np.broadcast_to(side, shape), drawn, axis=1) for side in (scores, ratings)
    )
    return of_scores, of_ratings


def system_permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    *,
    rng: np.random.Generator,
    over: Over = "both",
    coefficient: str = "pearson",
    n_permutations: int = 9999,
) -> Comparison:
    """Test whether two metrics correlate differently with the raters over systems, by swapping their scores.

    Both metrics are first standardised, for a swap of raw scores would mix units of measurement.

    Parameters
    ----------
    first, second, human : (T, S) float
        Of T systems on S items; NaN if missing. An output counts if it has all three.
    rng : numpy.random.Generator
    over : {"items", "systems", "both"}
        What is swapped by itself: all outputs of an item, all of a system, or each output.
    coefficient : str
        A key of ``COEFFICIENTS``.
    n_permutations : int
        At least 1.

    Returns
    -------
    Comparison
        coefficient(first, human) - coefficient(second, human), of standardised scores, and the two-sided p, the
        observed labelling counted as one. NaN, with the reason, where a coefficient is undefined.

    Raises
    ------
    ValueError
        As `nested_bootstrap`.

    References
    ----------
    Deutsch, Dror and Roth, TACL 2021, section 5 (PERM-INPUTS, PERM-SYSTEMS, PERM-BOTH); Phipson and Smyth,
    "Permutation p-values should never be zero", 2010.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> human = np.arange(8.0)[:, None] + rng.normal(size=(8, 50))
    >>> good, bad = human + rng.normal(size=(8, 50)), rng.normal(size=(8, 50))
    >>> system_permutation_test(good, bad, human, rng=rng, n_permutations=999).pvalue < 0.05
    True
    """
    x, y, both = _checked(first, second)
    target, _, rated = _checked(human, human)
    if target.shape != x.shape:
        raise ValueError(f"human has shape {target.shape} and the metrics {x.shape}: all are (systems, items)")
    _check(over, coefficient, n_permutations, "n_permutations")
    both &= rated
    counts = both.sum(axis=1)
    if not counts.all():
        return Comparison(math.nan, math.nan, "a system has no output with both scores and a rating")
    a, b = _standardised(x, both), _standardised(y, both)
    ratings, start = np.where(both, target, 0.0).sum(axis=1) / counts, b.sum(axis=1)
    gain = a - b
    formula = COEFFICIENTS[coefficient].batch

    def difference(of_first: Floats) -> Floats:
        """Return the difference, (B,), where the first metric's sums of systems are these, (B, T)."""
        of_second = a.sum(axis=1) + start - of_first
        return np.asarray(formula(of_first / counts, ratings) - formula(of_second / counts, ratings))

    observed = float(difference(a.sum(axis=1)[None])[0])
    if math.isnan(observed):
        return Comparison(math.nan, math.nan, "a coefficient is undefined: constant scores or ratings")
    as_extreme = valid = 0
    block = max(1, _CELLS // gain.size)
    for begin in range(0, n_permutations, block):
        size = min(block, n_permutations - begin)
        permuted = difference(start + _kept_gain(gain, size, over, rng))
        as_extreme += int((np.abs(permuted) >= abs(observed) - _TIE).sum())
        valid += int((~np.isnan(permuted)).sum())
    return Comparison(observed, (as_extreme + 1) / (valid + 1))


def _kept_gain(gain: Floats, size: int, over: Over, rng: np.random.Generator) -> Floats:
    """Return the sums (B, T) of the gain (T, S) over what is not swapped."""
    n_systems, n_items = gain.shape
    if over == "items":
        return np.asarray((rng.random((size, n_items)) < 0.5).astype(np.float64) @ gain.T)
    if over == "systems":
        return np.where(rng.random((size, n_systems)) < 0.5, gain.sum(axis=1), 0.0)
    bits = np.frombuffer(rng.bytes(-(-size * gain.size // 8)), dtype=np.uint8)
    kept = np.unpackbits(bits, count=size * gain.size).reshape(n_systems, size, n_items)
    # Single precision holds the bits exactly, and halves what is moved; sums are of some hundred terms near 1.
    return np.stack([kept[t].astype(np.float32) @ gain[t].astype(np.float32) for t in range(n_systems)], axis=1)


def _standardised(values: Floats, counted: Bools) -> Floats:
    """Return the values less their mean, by their deviation, over counted outputs; 0 elsewhere."""
    known = values[counted]
    deviation = known.std()
    return np.where(counted, (values - known.mean()) / (deviation if deviation > 0 else 1.0), 0.0)


def _check(over: str, coefficient: str, n: int, name: str) -> None:
    if over not in OVER:
        raise ValueError(f"over is {over!r}: accepted are {', '.join(OVER)}")
    if coefficient not in COEFFICIENTS:
        raise ValueError(f"coefficient is {coefficient!r}: accepted are {', '.join(COEFFICIENTS)}")
    if n < 1:
        raise ValueError(f"{name} is {n}: at least 1 is needed")


def _checked(metric: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats, Bools]:
    x, y = np.asarray(metric, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 2 or len(x) < 2:
        raise ValueError(f"shapes are {x.shape} and {y.shape}: both are (systems, items), at least 2 systems")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("a value is infinite: finite, or NaN if missing, is expected")
    return x, y, np.isfinite(x) & np.isfinite(y)
