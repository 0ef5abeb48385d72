"""System-level correlation under resampling of items and systems, and tests that swap two metrics' scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ranks import Bools, Floats, Ints
from correlations.stats.resampling import RaterRatings
from correlations.stats.significance import Comparison

Over = Literal["items", "systems", "both"]
OVER: tuple[Over, ...] = ("items", "systems", "both")
NO_OUTPUT = "a system has no output with both scores and a rating"
FEW_OUTPUTS = "fewer than 3 outputs have both scores and a rating"
_TIE = 1e-6  # sums in single precision: permutations that equal the observed one differ by less
_CELLS = 4_000_000  # swapped outputs, or ratings of drawn raters, in memory at a time


def nested_bootstrap(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    rng: np.random.Generator,
    over: Over | None = "both",
    coefficient: str = "pearson",
    n_replicates: int = 1000,
    raters: RaterRatings | None = None,
) -> Floats:
    """Return the system-level coefficient on resampled items, systems, or both; and on resampled raters.

    A system's score is the mean of its scores of outputs, over those that have a score and a rating.

    Parameters
    ----------
    metric, human : (T, S) float
        Of T >= 2 systems on S items; NaN if missing.
    rng : numpy.random.Generator
    over : {"items", "systems", "both", None}
        What is drawn, with replacement: the same items for all systems. None with ``raters`` draws raters alone.
    coefficient : str
        A key of ``COEFFICIENTS``.
    n_replicates : int
        B, at least 1.
    raters : RaterRatings, optional
        Draw raters with replacement, too, and take the ratings from theirs. An output whose raters were all left out
        does not count in that replicate.

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
    if over is not None or raters is None:
        _check(str(over), coefficient, n_replicates, "n_replicates")
    n_items = x.shape[1]
    weights = np.ones((1, n_items))
    if over in ("items", "both"):
        weights = _times_drawn(n_items, n_replicates, rng)
    if raters is not None:
        of_metric, of_human = _over_drawn_raters(x, raters, np.broadcast_to(weights, (n_replicates, n_items)), rng)
    else:
        counts = weights @ both.T
        with np.errstate(invalid="ignore"):
            of_metric, of_human = ((weights @ np.where(both, side, 0.0).T) / counts for side in (x, y))
    if over in ("systems", "both"):
        of_metric, of_human = over_drawn_systems(of_metric, of_human, rng=rng, n_replicates=n_replicates)
    return COEFFICIENTS[coefficient].batch(of_metric, of_human)


def _over_drawn_raters(
    scores: Floats, raters: RaterRatings, weights: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the means (B, T) of scores and of drawn raters' ratings, those of an item as often as weights (B, S) say.

    A replicate's raters are drawn anew.
    """
    means = np.empty((2, len(weights), len(scores)))
    block = max(1, _CELLS // scores.size)
    for start in range(0, len(weights), block):
        of_items = weights[start : start + block]
        ratings = raters.replicates(rng, len(of_items), scores.shape)
        counted = np.isfinite(ratings) & np.isfinite(scores)
        with np.errstate(invalid="ignore"):
            for place, side in enumerate((np.broadcast_to(scores, ratings.shape), ratings)):
                total = np.einsum("bs,bts->bt", of_items, np.where(counted, side, 0.0))
                means[place, start : start + block] = total / np.einsum("bs,bts->bt", of_items, counted)
    return means[0], means[1]


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

    Parameters
    ----------
    first, second, human : (T, S) float
        Of T systems on S items; NaN if missing. An output counts if it has all three.
    rng, over, coefficient, n_permutations
        As in `system_permutation_tests`, of which this is the case of two metrics.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> human = np.arange(8.0)[:, None] + rng.normal(size=(8, 50))
    >>> good, bad = human + rng.normal(size=(8, 50)), rng.normal(size=(8, 50))
    >>> system_permutation_test(good, bad, human, rng=rng, n_permutations=999).pvalue < 0.05
    True
    """
    x, y, _ = _checked(first, second)
    (test,) = system_permutation_tests(
        np.stack([x, y]), human, [(0, 1)], rng=rng, over=over, coefficient=coefficient, n_permutations=n_permutations
    )
    return test


def system_permutation_tests(
    metrics: ArrayLike,
    human: ArrayLike,
    pairs: Sequence[tuple[int, int]],
    *,
    rng: np.random.Generator,
    over: Over = "both",
    coefficient: str = "pearson",
    n_permutations: int = 9999,
) -> tuple[Comparison, ...]:
    """Test pairs of metrics for a difference in system-level correlation, all on the same swaps of their scores.

    Metrics are first standardised, for a swap of raw scores would mix units of measurement. A system's score is the
    mean of its scores of outputs.

    Parameters
    ----------
    metrics : (R, T, S) float
        Of R metrics, T systems and S items; NaN if missing.
    human : (T, S) float
        An output counts if it has a rating and a score of every metric.
    pairs : sequence of (first, second)
        Indices of metrics.
    rng : numpy.random.Generator
    over : {"items", "systems", "both"}
        What is swapped by itself: all outputs of an item, all of a system, or each output.
    coefficient : str
        A key of ``COEFFICIENTS``.
    n_permutations : int
        At least 1.

    Returns
    -------
    tuple of Comparison
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
    """
    _check(over, coefficient, n_permutations, "n_permutations")
    scores, target, counted = _checked_together(metrics, human)
    counts = counted.sum(axis=1)
    if not counts.all():
        return tuple(Comparison(math.nan, math.nan, NO_OUTPUT) for _ in pairs)
    scores = np.stack([_standardised(each, counted) for each in scores])
    ratings, sums = np.where(counted, target, 0.0).sum(axis=1) / counts, scores.sum(axis=2)
    formula = COEFFICIENTS[coefficient].batch

    def differences(gained: Floats, a: int, b: int) -> Floats:
        """Return the difference, (B,), where the first metric keeps this much of what it is ahead, (B, T)."""
        of_first, of_second = sums[b] + gained, sums[a] - gained
        return np.asarray(formula(of_first / counts, ratings) - formula(of_second / counts, ratings))

    observed = [float(differences((sums[a] - sums[b])[None], a, b)[0]) for a, b in pairs]
    as_extreme, valid = np.zeros((2, len(pairs)), dtype=np.int64)
    # Swaps are of single metrics' scores where these are fewer than pairs, so that all pairs share one product.
    by_metric = len(scores) < len(pairs)
    parts = scores if by_metric else np.stack([scores[a] - scores[b] for a, b in pairs])
    block = max(1, _CELLS // target.size)
    for begin in range(0, n_permutations, block):
        kept = _kept(parts, min(block, n_permutations - begin), over, rng)
        for place, (a, b) in enumerate(pairs):
            permuted = differences(kept[a] - kept[b] if by_metric else kept[place], a, b)
            as_extreme[place] += int((np.abs(permuted) >= abs(observed[place]) - _TIE).sum())
            valid[place] += int((~np.isnan(permuted)).sum())
    return _compared(observed, as_extreme, valid)


def _kept(parts: Floats, size: int, over: Over, rng: np.random.Generator) -> Floats:
    """Return sums (P, B, T) of parts (P, T, S) over what is not swapped."""
    n_parts, n_systems, n_items = parts.shape
    if over == "items":
        kept = (rng.random((size, n_items)) < 0.5).astype(np.float64) @ parts.reshape(-1, n_items).T
        return np.asarray(kept.reshape(size, n_parts, n_systems).swapaxes(0, 1))
    if over == "systems":
        return np.where(rng.random((size, n_systems)) < 0.5, parts.sum(axis=2)[:, None], 0.0)
    bits = rng.integers(0, 2**64, -(-size * n_systems * n_items // 64), dtype=np.uint64).astype("<u8").view(np.uint8)
    unswapped = np.unpackbits(bits, count=size * n_systems * n_items).reshape(n_systems, size, n_items)
    # Single precision holds the bits exactly, and halves what is moved; sums are of some hundred terms near 1.
    single, of_system = parts.astype(np.float32), np.empty((size, n_items), dtype=np.float32)
    sums = np.empty((n_parts, size, n_systems))
    for t in range(n_systems):
        np.copyto(of_system, unswapped[t])  # one array for all systems, which stays in the cache
        sums[..., t] = single[:, t] @ of_system.T
    return sums


def output_permutation_tests(
    metrics: ArrayLike,
    human: ArrayLike,
    pairs: Sequence[tuple[int, int]],
    *,
    rng: np.random.Generator,
    n_permutations: int = 9999,
) -> tuple[Comparison, ...]:
    """Test pairs of metrics for a difference in Pearson's r over outputs, by swapping all outputs of an item together.

    Outputs of one item share its difficulty, so they are not independent; items are.

    Parameters
    ----------
    metrics, human, pairs, rng, n_permutations
        As in `system_permutation_tests`.

    Returns
    -------
    tuple of Comparison
        As there.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(4, 50))
    >>> metrics = np.stack([human + rng.normal(size=(4, 50)), rng.normal(size=(4, 50))])
    >>> output_permutation_tests(metrics, human, [(0, 1)], rng=rng, n_permutations=999)[0].pvalue < 0.05
    True
    """
    _check("items", "pearson", n_permutations, "n_permutations")
    scores, target, counted = _checked_together(metrics, human)
    if counted.sum() < 3:
        return tuple(Comparison(math.nan, math.nan, FEW_OUTPUTS) for _ in pairs)
    x = np.stack([_standardised(each, counted) for each in scores])
    y, n = _standardised(target, counted), float(counted.sum())
    # Of each item: sums of scores, of their squares, and of their products with the ratings, (R, 3, S).
    parts = np.stack([x.sum(axis=1), (x * x).sum(axis=1), (x * y).sum(axis=1)], axis=1)
    whole, of_ratings = parts.sum(axis=2), float((y * y).sum())

    def coefficient(sums: Floats) -> Floats:
        below = (sums[..., 1] - sums[..., 0] ** 2 / n) * of_ratings
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below > 1e-9, sums[..., 2] / np.sqrt(np.maximum(below, 0)), np.nan)

    values = coefficient(whole)
    observed = [float(values[a] - values[b]) for a, b in pairs]
    as_extreme, valid = np.zeros((2, len(pairs)), dtype=np.int64)
    flat = parts.reshape(-1, parts.shape[2]).T
    block = max(1, _CELLS // max(flat.shape))
    for begin in range(0, n_permutations, block):
        size = min(block, n_permutations - begin)
        kept = (rng.random((size, flat.shape[0])) < 0.5).astype(np.float64) @ flat
        kept = kept.reshape(size, len(x), 3)
        for place, (a, b) in enumerate(pairs):
            gained = kept[:, a] - kept[:, b]
            permuted = coefficient(whole[b] + gained) - coefficient(whole[a] - gained)
            as_extreme[place] += int((np.abs(permuted) >= abs(observed[place]) - _TIE).sum())
            valid[place] += int((~np.isnan(permuted)).sum())
    return _compared(observed, as_extreme, valid)


def _compared(observed: Sequence[float], as_extreme: Ints, valid: Ints) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(math.nan, math.nan, "a coefficient is undefined: constant scores or ratings")
        if math.isnan(value)
        else Comparison(value, (extreme + 1) / (defined + 1))
        for value, extreme, defined in zip(observed, as_extreme.tolist(), valid.tolist(), strict=True)
    )


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


def _checked_together(metrics: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats, Bools]:
    """Return metrics (R, T, S), ratings (T, S), and which outputs have all scores and a rating."""
    x, y = np.asarray(metrics, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if x.ndim != 3 or x.shape[1:] != y.shape or len(y) < 2:
        raise ValueError(f"shapes are {x.shape} and {y.shape}: (metrics, systems, items) and (systems, items) of 2 up")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("a value is infinite: finite, or NaN if missing, is expected")
    return x, y, np.isfinite(x).all(axis=0) & np.isfinite(y)
