"""Bootstrap over segments from sufficient statistics.

Segments are drawn in two steps: how many of a resample's draws fall into each block of `BLOCK` segments, then which of
the block. Together these are draws with replacement from all segments. Since blocks are fixed, the same seed gives the
same replicates for any division of the segments into files, shards or workers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr

from metrics.scoring.aggregates import Aggregate
from metrics.scoring.arrays import Floats, Ints

BLOCK = 1000
REPLICATES = 1000
SEED = 12345  # as sacrebleu's
FEW_SEGMENTS = 50  # p where the 95% interval ends at 0 is 0.058 with so many, and more with fewer
AT_ONCE = 100  # replicates drawn together: they fit into the processor's cache

REPEATED = "a resample repeats segments, and what is repeated is not distinct"


@dataclass(frozen=True)
class Interval:
    """A 95% percentile interval of bootstrap replicates.

    Attributes
    ----------
    low, high : float
        NaN if undefined.
    mean : float
        Of the replicates.
    reason : str
        Why it is undefined; empty if it is defined.
    """

    low: float
    high: float
    mean: float
    reason: str = ""


@dataclass(frozen=True)
class PairedDifference:
    """Two systems on the same resamples.

    Attributes
    ----------
    difference : float
        Score of the first less that of the second.
    low, high : float
        95% percentile interval of the difference; NaN if undefined.
    p_value : float
        Two-sided; NaN if undefined.
    reason : str
        Why it is undefined; empty if it is defined.
    """

    difference: float
    low: float
    high: float
    p_value: float
    reason: str = ""


def check_least(*numbers: tuple[str, int, int]) -> None:
    """Raise ValueError for the first of these (name, value, least accepted value) that is too small."""
    for name, value, least in numbers:
        if value < least:
            raise ValueError(f"{name}: found {value}; accepted: {least} or more")


def bootstrap_replicates(
    blocks: Iterable[Floats], n_segments: int, aggregate: Aggregate, *, replicates: int = REPLICATES, seed: int = SEED
) -> Floats:
    """Return scores of T systems on B resamples of the segments, the same resamples for all systems.

    Parameters
    ----------
    blocks : iterable of (T, n, D) float
        Sufficient statistics of the S segments in their order, n = `BLOCK` each; only the last may hold fewer. One is
        in memory at a time.
    n_segments : int
        S, at least 1.
    aggregate : Aggregate
        Sums (..., D) to scores (...).
    replicates : int
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
        The blocks do not fit S segments, or a number is out of range.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13 (percentile interval); Koehn, Statistical
    Significance Tests for Machine Translation Evaluation, EMNLP 2004 (segments resampled in pairs).

    Examples
    --------
    >>> from metrics.scoring.aggregates import MeanAggregate
    >>> packed = np.stack([np.arange(10.0), np.ones(10)], axis=-1)[None]
    >>> scores = bootstrap_replicates([packed], 10, MeanAggregate(), replicates=500)
    >>> scores.shape, bool(abs(scores.mean() - 4.5) < 0.1)
    ((500, 1), True)
    """
    check_least(("n_segments", n_segments, 1), ("replicates", replicates, 1), ("seed", seed, 0))
    sizes = block_sizes(n_segments)
    drawn = draws_per_block(sizes, replicates, seed)
    sums: Floats | None = None
    number = -1
    for number, packed in enumerate(blocks):
        size = packed.shape[1]
        if number >= sizes.size or size != sizes[number]:
            raise ValueError(f"blocks[{number}]: found {size} segments; accepted: {BLOCK} each, {n_segments} in all")
        counts = draws_in_block(drawn[:, number], size, number, seed)
        added = resampled_sums(packed, counts)
        sums = added if sums is None else sums + added
    if sums is None or number + 1 != sizes.size:
        raise ValueError(f"blocks: found {number + 1}; accepted: {sizes.size}, which hold {n_segments} segments")
    return aggregate(sums)


def block_sizes(n_segments: int) -> Ints:
    """Return the number of segments of each block: `BLOCK`, and the rest in the last one.

    Examples
    --------
    >>> block_sizes(2100).tolist()
    [1000, 1000, 100]
    """
    whole, rest = divmod(n_segments, BLOCK)
    return np.array([BLOCK] * whole + [rest] * (rest > 0), dtype=np.int64)


def draws_per_block(sizes: Ints, replicates: int, seed: int) -> Ints:
    """Return (B, G) how many of each resample's S draws fall into each of the G blocks; rows sum to S."""
    total = int(sizes.sum())
    return np.random.default_rng(seed).multinomial(total, sizes / total, size=replicates)


def draws_in_block(draws: Ints, size: int, number: int, seed: int) -> Floats:
    """Return (B, size) how often each segment of a block is drawn, with a separate generator for each block.

    Parameters
    ----------
    draws : (B,) int
        How many fall into this block.
    size : int
        At most `BLOCK`.
    number : int
        Of the block, from 0.
    seed : int
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
    counts = np.empty((draws.size, size))
    for start in range(0, draws.size, AT_ONCE):
        part = draws[start : start + AT_ONCE]
        cells = np.repeat(np.arange(0, part.size * size, size), part)
        cells += rng.integers(0, size, size=cells.size, dtype=np.uint16)
        counts[start : start + part.size] = np.bincount(cells, minlength=part.size * size).reshape(part.size, size)
    return counts


def resampled_sums(packed: Floats, counts: ArrayLike) -> Floats:
    """Return sums (B, T, D) of statistics (T, S, D) with segments counted ``counts`` (B, S) times."""
    n_systems, n_segments, width = packed.shape
    flat = np.moveaxis(packed, 1, 0).reshape(n_segments, n_systems * width)
    return np.asarray(np.asarray(counts, dtype=np.float64) @ flat).reshape(-1, n_systems, width)


def percentile_interval(replicates: ArrayLike) -> Interval:
    """Return the 95% interval between order statistics, as sacrebleu does: without a fortieth on each side.

    Parameters
    ----------
    replicates : (B,) float
        In the units of the score.

    Examples
    --------
    >>> percentile_interval(np.arange(1000.0))
    Interval(low=25.0, high=974.0, mean=499.5, reason='')
    """
    values = np.asarray(replicates, dtype=np.float64)
    undefined = int(np.isnan(values).sum())
    if undefined or not values.size:
        reason = f"{undefined:,} of {values.size:,} resamples have no score" if values.size else "no resample"
        return Interval(math.nan, math.nan, math.nan, reason)
    ordered = np.sort(values)
    cut = values.size // 40
    return Interval(float(ordered[cut]), float(ordered[values.size - cut - 1]), float(ordered.mean()))


def paired_difference(
    first: float,
    second: float,
    first_replicates: ArrayLike,
    second_replicates: ArrayLike,
    *,
    n_segments: int | None = None,
) -> PairedDifference:
    """Test whether two systems differ by more than the choice of segments explains: the paired bootstrap test.

    Parameters
    ----------
    first, second : float
        Scores over all segments.
    first_replicates, second_replicates : (B,) float
        On the same resamples: two columns of `bootstrap_replicates`.
    n_segments : int, optional
        How many segments were resampled; without it, so many that their number makes no difference.

    Returns
    -------
    PairedDifference
        With d the difference of the scores and d_b that on resample b, p is the larger of two:
        (1 + #{b : |d_b - mean| >= |d|}) / (B + 1), with the mean of all d_b: both tails of the resampled differences,
        centred at 0; and (1 + 2 #{b : d_b has not the sign of d}) / (B + 1), the level at which the percentile interval
        ends at 0. Few segments understate how differences spread: p is then that of Student's t with n - 1 degrees of
        freedom at the same deviate. Two systems with equal scores on every resample have p = 1.

    Raises
    ------
    ValueError
        Unequal numbers of replicates.

    Notes
    -----
    sacrebleu counts how often |d_b| less the mean of all |d_b| exceeds |d|: only one tail if all differences have one
    sign, so that its p is smaller. At 0.05 it finds more than 5% of equal systems different.

    Where few segments have a match at all, as in BLEU of some dozen segments with one reference, many resamples have
    none: the centred differences alone reject a fifth of equal systems.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 16.4 (resamples moved to the null hypothesis)
    and 15.4 (the level at which an interval ends at 0;
    one added to both counts after Davison and Hinkley, Bootstrap Methods and Their Application, 1997, section 4.2);
    Koehn, Statistical Significance Tests for Machine Translation Evaluation, EMNLP 2004 (segments resampled in pairs).

    Examples
    --------
    >>> paired_difference(0.5, 0.5, [0.4, 0.6], [0.4, 0.6]).p_value
    1.0
    """
    a, b = np.asarray(first_replicates, dtype=np.float64), np.asarray(second_replicates, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"second_replicates: found shape {b.shape}; accepted: {a.shape}, that of the first")
    difference = float(first) - float(second)
    resampled = a - b
    interval = percentile_interval(resampled)
    if interval.reason or math.isnan(difference):
        reason = interval.reason or "a system has no score"
        return PairedDifference(difference, math.nan, math.nan, math.nan, reason)
    if not resampled.any():
        return PairedDifference(difference, interval.low, interval.high, 1.0)
    beyond = int((np.abs(resampled - resampled.mean()) >= abs(difference)).sum())
    reversed_ = int((resampled * np.sign(difference) <= 0).sum())
    p_value = min(1.0, (1 + max(beyond, 2 * reversed_)) / (resampled.size + 1))
    if n_segments is not None:
        n = max(n_segments, 2)
        p_value = float(2 * stdtr(n - 1, ndtri(p_value / 2) * math.sqrt((n - 1) / n)))
    return PairedDifference(difference, interval.low, interval.high, p_value)
