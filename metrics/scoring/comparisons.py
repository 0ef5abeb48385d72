"""Which systems a metric can tell apart: all pairs by the paired bootstrap, corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats
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
        The p-value by Holm, over all pairs.
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
    scores: Sequence[float], replicates: ArrayLike, *, higher_is_better: bool = True
) -> list[PairOfSystems]:
    """Compare all pairs of T systems, the better of each first, in the order of their scores.

    Parameters
    ----------
    scores : (T,) float
        Over all segments; a system with NaN comes last.
    replicates : (B, T) float
        On the same B resamples for all systems; see `metrics.scoring.resampling.bootstrap_replicates`.
    higher_is_better : bool

    Returns
    -------
    list of T (T - 1) / 2 PairOfSystems

    Raises
    ------
    ValueError
        Replicates of other than T systems.

    References
    ----------
    Koehn, Statistical Significance Tests for Machine Translation Evaluation, EMNLP 2004 (the test); Holm, A Simple
    Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979 (the correction).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.normal(size=(500, 1))
    >>> pairs = compare_systems([0.1, 0.9, 0.5], noise + [[0.1, 0.9, 0.5]] + 0.01 * rng.normal(size=(500, 3)))
    >>> [(pair.first, pair.second, pair.differs) for pair in pairs]
    [(1, 2, True), (1, 0, True), (2, 0, True)]
    """
    values = np.asarray(scores, dtype=np.float64)
    resampled = np.asarray(replicates, dtype=np.float64)
    if resampled.ndim != 2 or resampled.shape[1] != values.size:
        raise ValueError(f"replicates: found shape {resampled.shape}; accepted: (B, {values.size})")
    order = best_first(values, higher_is_better=higher_is_better)
    pairs = list(combinations(order, 2))
    tests = [paired_difference(float(values[i]), float(values[j]), resampled[:, i], resampled[:, j]) for i, j in pairs]
    adjusted = holm_adjusted([test.p_value for test in tests]).tolist()
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
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"scores: found shape {values.shape}; accepted: (T, S)")
    values = values[:, np.isfinite(values).any(axis=0)]
    if not values.shape[1]:
        raise ValueError("scores: found none; accepted: one or more")
    pairs = list(combinations(range(len(values)), 2))
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
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
        paired_difference(float(sign * mean), 0.0, sign * column, np.zeros(replicates))
        for sign, mean, column in zip(signs, means, resampled.T, strict=True)
    ]
    adjusted = holm_adjusted([test.p_value for test in tests]).tolist()
    return [
        PairOfSystems.tested(
            pair if sign > 0 else pair[::-1], test, p, reason="" if n else "no segment has a score of both", segments=n
        )
        for pair, sign, test, p, n in zip(pairs, signs, tests, adjusted, map(int, n_shared), strict=True)
    ]


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
    better, worse = [0] * n_systems, [0] * n_systems
    for pair in pairs:
        if pair.differs:
            better[pair.second] += 1
            worse[pair.first] += 1
    return [(1 + above, n_systems - below) for above, below in zip(better, worse, strict=True)]


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


def holm_adjusted(p_values: Sequence[float]) -> Floats:
    """Return Holm's step-down p-values; an undefined one (NaN) stays so and is not counted as a comparison.

    Examples
    --------
    >>> holm_adjusted([0.01, 0.04, 0.03, math.nan]).round(3).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(values.shape, math.nan)
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    steps = np.arange(order.size, 0, -1) * values[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
