"""Which systems can be told apart: all pairs, corrected for their number.

Scores of a metric are compared by the paired bootstrap; for mean ratings see ``annotation.ranking``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr

from annotation.ranking.ranks import rank_ranges
from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.resampling import (
    BLOCK,
    REPLICATES,
    SEED,
    PairedDifference,
    block_sizes,
    draws_in_block,
    draws_per_block,
    paired_difference,
)

LEVEL = 0.05
NOT_SHARED = "no segment has a score of both"


@dataclass(frozen=True)
class PairOfSystems:
    """Two systems on the same resamples of segments; the first has the better score.

    Attributes
    ----------
    first, second : int
        Indices of the systems.
    difference : float
        Score of the first less that of the second; negative if lower is better.
    low, high : float
        95% interval of the difference; NaN where undefined.
    p_value : float
        Two-sided, of this pair alone; NaN where undefined.
    adjusted : float
        The p-value corrected for the number of pairs.
    reason : str
        Why it is undefined; empty if it is defined.
    segments : int or None
        How many segments have a score of both, if the pair is compared on shared segments.
    """

    first: int
    second: int
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    reason: str = ""
    segments: int | None = None

    @property
    def differs(self) -> bool:
        """Return whether the two differ significantly at 5%, corrected for all pairs."""
        return self.adjusted <= LEVEL

    @classmethod
    def tested(
        cls,
        pair: tuple[int, int],
        test: PairedDifference,
        adjusted: float,
        *,
        reason: str = "",
        segments: int | None = None,
    ) -> PairOfSystems:
        reason = reason or test.reason
        return cls(*pair, test.difference, test.low, test.high, test.p_value, adjusted, reason, segments)


def compare_systems(
    scores: Sequence[float],
    replicates: ArrayLike,
    *,
    n_segments: int,
    higher_is_better: bool = True,
    shared: ArrayLike | None = None,
) -> list[PairOfSystems]:
    """Compare all pairs of T systems, the better of each first, in the order of their scores.

    Parameters
    ----------
    scores : (T,) float
        Over all segments; a system with NaN comes last.
    replicates : (B, T) float
        On the same B resamples for all systems; see `metrics.scoring.resampling.bootstrap_replicates`.
    n_segments : int
        How many segments were resampled.
    higher_is_better : bool
    shared : (T, T) int, optional
        How many segments count for both systems; two that share none are not compared. By default all share some.

    Returns
    -------
    list of T (T - 1) / 2 PairOfSystems
        Undefined, with the reason, if the two share no segment.

    Raises
    ------
    ValueError
        Replicates of other than T systems.

    References
    ----------
    Koehn, Statistical Significance Tests for Machine Translation Evaluation, EMNLP 2004 (the test). The correction is
    that of `step_down_adjusted`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.normal(size=(500, 1))
    >>> replicates = noise + [[0.1, 0.9, 0.5]] + 0.01 * rng.normal(size=(500, 3))
    >>> pairs = compare_systems([0.1, 0.9, 0.5], replicates, n_segments=100)
    >>> [(pair.first, pair.second, pair.differs) for pair in pairs]
    [(1, 2, True), (1, 0, True), (2, 0, True)]
    """
    values = np.asarray(scores, dtype=np.float64)
    resampled = np.asarray(replicates, dtype=np.float64)
    if resampled.ndim != 2 or resampled.shape[1] != values.size:
        raise ValueError(f"replicates: found shape {resampled.shape}; accepted: (B, {values.size})")
    order = best_first(values, higher_is_better=higher_is_better)
    pairs = list(combinations(order, 2))
    meets = np.ones((values.size, values.size)) if shared is None else np.asarray(shared)
    tests = [
        paired_difference(float(values[i]), float(values[j]), resampled[:, i], resampled[:, j], n_segments=n_segments)
        if meets[i, j]
        else PairedDifference(math.nan, math.nan, math.nan, math.nan, NOT_SHARED)
        for i, j in pairs
    ]
    adjusted = step_down_adjusted(
        tests, lambda k: resampled[:, pairs[k][0]] - resampled[:, pairs[k][1]], [n_segments] * len(pairs)
    ).tolist()
    return [PairOfSystems.tested(*each) for each in zip(pairs, tests, adjusted, strict=True)]


def compare_on_shared_segments(
    scores: ArrayLike, *, higher_is_better: bool = True, replicates: int = REPLICATES, seed: int = SEED
) -> list[PairOfSystems]:
    """Compare all pairs of T systems whose scores are means over segments, each pair on segments with a score of both.

    A system's mean also depends on which segments have a score; this cancels out here. Resamples are those of
    `metrics.scoring.resampling.bootstrap_replicates`: without a missing score this is `compare_systems`.

    Parameters
    ----------
    scores : (T, S) float
        Of segments; NaN if there is none. A segment without any score is ignored.
    higher_is_better : bool
    replicates, seed : int
        As for `bootstrap_replicates`.

    Returns
    -------
    list of T (T - 1) / 2 PairOfSystems
        The better system on the shared segments comes first, of equal ones the earlier. Undefined, with the reason, if
        they share no segment, or if a resample has no shared one.

    Raises
    ------
    ValueError
        Scores of another shape, or none at all.

    Examples
    --------
    >>> pair, = compare_on_shared_segments([[0.9, 0.4, 0.5], [math.nan, 0.5, 0.8]])
    >>> pair.first, round(pair.difference, 9), pair.segments
    (1, 0.2, 2)
    """
    values = _of_segments(scores)
    pairs, left, right = _all_pairs(len(values))
    (total, n_shared), (totals, drawn_of_both) = np.zeros((2, len(pairs))), np.zeros((2, replicates, len(pairs)))
    sizes = block_sizes(values.shape[1])
    drawn = draws_per_block(sizes, replicates, seed)
    for number, size in enumerate(sizes.tolist()):
        counts = draws_in_block(drawn[:, number], size, number, seed)
        block = values[:, number * BLOCK : number * BLOCK + size]
        differences = block[left] - block[right]  # (P, n)
        shared = np.isfinite(differences)
        differences[~shared] = 0.0
        total, n_shared = total + differences.sum(axis=1), n_shared + shared.sum(axis=1)
        totals += counts @ differences.T
        drawn_of_both += counts @ shared.T
    with np.errstate(invalid="ignore"):  # undefined without shared segments
        means, resampled = total / n_shared, totals / drawn_of_both
    # The better one first; equal ones in the given order.
    signs = np.where(means < 0 if higher_is_better else means > 0, -1.0, 1.0)
    tests = [
        paired_difference(float(sign * mean), 0.0, sign * column, np.zeros(replicates), n_segments=int(n))
        for sign, mean, column, n in zip(signs, means, resampled.T, n_shared, strict=True)
    ]
    adjusted = step_down_adjusted(tests, lambda k: resampled[:, k], n_shared).tolist()
    return [
        PairOfSystems.tested(pair if sign > 0 else pair[::-1], test, p, reason="" if n else NOT_SHARED, segments=n)
        for pair, sign, test, p, n in zip(pairs, signs, tests, adjusted, map(int, n_shared), strict=True)
    ]


def _of_segments(scores: ArrayLike) -> Floats:
    """Return scores (T, S) without the segments that no system has a score of."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"scores: found shape {values.shape}; accepted: (T, S)")
    values = values[:, np.isfinite(values).any(axis=0)]
    if not values.shape[1]:
        raise ValueError("scores: found none; accepted: one or more")
    return values


def _all_pairs(n_systems: int) -> tuple[list[tuple[int, int]], Ints, Ints]:
    """Return the pairs, and the first and the second of each as arrays."""
    pairs = list(combinations(range(n_systems), 2))
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return pairs, left, right


def best_first(scores: ArrayLike, *, higher_is_better: bool = True) -> list[int]:
    """Return the indices of systems from best to worst, those without a score (NaN) last; ties in the given order.

    Examples
    --------
    >>> best_first([0.2, float("nan"), 0.9]), best_first([0.2, 0.9], higher_is_better=False)
    ([2, 0, 1], [0, 1])
    """
    values = np.asarray(scores, dtype=np.float64)
    return np.argsort(-values if higher_is_better else values, kind="stable").tolist()  # type: ignore[no-any-return]


def place_ranges(n_systems: int, pairs: Sequence[PairOfSystems]) -> list[tuple[int, int]]:
    """Return the range of ranks of each system: behind those that are better, before those that are worse.

    Examples
    --------
    >>> pair = PairOfSystems(0, 1, 0.2, 0.1, 0.3, 0.001, 0.003)
    >>> tie = PairOfSystems(0, 2, 0.1, -0.1, 0.2, 0.4, 0.8), PairOfSystems(2, 1, 0.1, -0.1, 0.2, 0.5, 0.8)
    >>> place_ranges(3, [pair, *tie])
    [(1, 2), (2, 3), (1, 3)]
    """
    p_values, better = np.full((n_systems, n_systems), math.nan), np.zeros((n_systems, n_systems), dtype=bool)
    for pair in pairs:
        p_values[pair.first, pair.second] = pair.adjusted
        better[pair.first, pair.second] = True
    return [(first, last) for first, last in rank_ranges(p_values, better, alpha=LEVEL).tolist()]


def p_of_best(scores: ArrayLike, pairs: Sequence[PairOfSystems], *, higher_is_better: bool = True) -> Floats:
    """Return the corrected p of each system's difference to the one with the best score; NaN for that one itself.

    Examples
    --------
    >>> pairs = PairOfSystems(0, 1, 0.2, 0.1, 0.3, 0.001, 0.002), PairOfSystems(0, 2, 0.1, -0.1, 0.2, 0.4, 0.4)
    >>> p_of_best([0.5, 0.3, 0.4], pairs)
    array([  nan, 0.002, 0.4  ])
    """
    p_values = np.full(np.shape(scores), math.nan)
    if p_values.size:
        best = best_first(scores, higher_is_better=higher_is_better)[0]
        for pair in pairs:
            if best in (pair.first, pair.second):
                p_values[pair.second if pair.first == best else pair.first] = pair.adjusted
    return p_values


def step_down_adjusted(
    tests: Sequence[PairedDifference], resampled: Callable[[int], Floats], n_segments: ArrayLike
) -> Floats:
    """Return p-values corrected for the number of tests, from the resamples that all of them share.

    With z the difference in standard deviations of its resamples, the corrected p of a test is the share of resamples
    on which it, or any test with a smaller z, reaches its z by chance, but no less than its p alone. This bounds the
    chance of any false difference as Holm's correction does. But p stays at least 1 / (B + 1) however many tests there
    are; Holm multiplies it by their number, so that many systems could never be told apart.

    A standard deviation from n segments is itself uncertain, which resamples do not show far from the centre: z is the
    normal deviate that is as rare as the ratio is by Student's t with n - 1 degrees of freedom.

    Parameters
    ----------
    tests : sequence of K PairedDifference
        An undefined one stays so and is not counted as a comparison.
    resampled : callable
        The differences (B,) of the k-th test on the resamples, which are the same for all tests.
    n_segments : (K,) int
        How many segments each test has.

    Returns
    -------
    (K,) float
        A test alone keeps its p-value.

    References
    ----------
    Westfall and Young, Resampling-Based Multiple Testing, 1993, section 2.6 (free step-down); Romano and Wolf,
    Efficient Computation of Adjusted p-Values for Resampling-Based Stepdown Multiple Testing, Statistics and
    Probability Letters 113, 2016, algorithm 4.2.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(size=(999, 3)) + [4.0, 1.0, 0.0]
    >>> tests = [paired_difference(each, 0.0, draws[:, k], np.zeros(999)) for k, each in enumerate((4.0, 1.0, 0.0))]
    >>> adjusted = step_down_adjusted(tests, lambda k: draws[:, k], [500] * 3)
    >>> [bool(p > test.p_value) for p, test in zip(adjusted, tests, strict=True)]
    [False, True, False]
    """
    adjusted = np.array([test.p_value for test in tests], dtype=np.float64)
    defined = np.flatnonzero(~np.isnan(adjusted))
    if defined.size < 2:
        return adjusted
    spreads = np.array([resampled(k).std() for k in range(len(tests))])
    differences = np.abs([test.difference for test in tests])
    n = np.maximum(np.asarray(n_segments, dtype=np.float64), 2)
    with np.errstate(divide="ignore", invalid="ignore"):  # equal on every resample
        ratios = np.where(differences > 0, differences / spreads, 0.0)
    z = -ndtri(stdtr(n - 1, -ratios * np.sqrt((n - 1) / n)))  # resamples are spread by 1 / n, not 1 / (n - 1)
    order = defined[np.argsort(z[defined], kind="stable")]
    largest: Floats | float = 0.0
    for k in order.tolist():
        draws = resampled(k)
        if spreads[k] > 0:
            largest = np.maximum(largest, np.abs(draws - draws.mean()) / spreads[k])
        beyond = np.broadcast_to(largest >= z[k], draws.shape).sum()
        adjusted[k] = max((beyond + 1) / (draws.size + 1), tests[k].p_value)
    adjusted[order[::-1]] = np.maximum.accumulate(adjusted[order[::-1]])
    return adjusted
