"""Statistics of the BLEU family for many thresholds of the weight at the cost of about one.

The references of weight >= t for falling t are sets that only grow. Of the references that clip an n-gram to the same
count (a tier) the one of highest weight joins first, and later ones change nothing. So each tier matters at one
threshold only: there it may raise the running maximum of its n-gram. The increase is entered at that threshold, and
increases are summed from the highest threshold down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.metric import MeanStatistics, MetricStatistics, mean_packed, to_decimals
from metrics.scoring.ngrams import MatchTable, OrderMatches, ranges
from metrics.scoring.pairs import chunks
from metrics.scoring.statistics import SEMANTICS, SegmentStatistics, exact_weights, maximum_per_segment
from metrics.scoring.texts import check_choice

PAIRS_AT_ONCE = 1 << 15  # of hypotheses and references


@dataclass(frozen=True, eq=False)
class _Falling:
    """Tiers of one n-gram order, within each case by falling threshold; those below all thresholds are left out.

    ``clipped`` (K,) is the count of each, ``best`` (K,) its reference of highest weight, ``rank`` (K,) its index within
    the case. Of E uses of tiers by hypotheses ``tier`` (E,) is the tier, and ``cell`` (E,) where it is entered:
    (level, hypothesis), flat.
    """

    clipped: Floats
    best: Ints
    rank: Ints
    tier: Ints
    cell: Ints

    def increases(self, running: Floats) -> Floats:
        """Return what each use (E,) adds to the running value of its n-gram, which begins at 0."""
        before = np.concatenate(([0.0], running[:-1]))
        return (running - np.where(self.rank > 0, before, 0.0))[self.tier]

    def running(self, values: Floats) -> Floats:
        """Return the running maximum of ``values`` (K,) within each case."""
        maxima = values.copy()
        for rank in range(1, int(self.rank.max(initial=0)) + 1):
            tiers = np.flatnonzero(self.rank == rank)
            maxima[tiers] = np.maximum(maxima[tiers], maxima[tiers - 1])
        return maxima


class ThresholdSweep:
    """All subsets of the references with a weight at or above each of some thresholds.

    Parameters
    ----------
    table : MatchTable
    weights : (R,) float
        Unitless, finite.
    thresholds : L numbers, ascending and different to nine decimals
    max_order : int, optional
        That of the table by default.

    Examples
    --------
    >>> from metrics.scoring.ngrams import build_match_table
    >>> table = build_match_table([["a b"]], [["a", "b"]], max_order=1)
    >>> [level.numerators.item() for level in ThresholdSweep(table, [0.9, 0.5], [0.0, 0.6]).bleu()]
    [2.0, 1.0]
    """

    def __init__(
        self, table: MatchTable, weights: ArrayLike, thresholds: Sequence[float], *, max_order: int | None = None
    ) -> None:
        self.table = table
        self.thresholds = to_decimals(thresholds)
        if self.thresholds.size == 0 or (np.diff(self.thresholds) <= 0).any():
            raise ValueError(f"thresholds: found {list(thresholds)}; accepted: one or more, each above the one before")
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (table.n_references,) or not np.isfinite(values).all():
            raise ValueError(f"weights: found shape {values.shape}; accepted: ({table.n_references},) finite numbers")
        self._scaled, self._scale = exact_weights(values)
        self._by_weight = np.argsort(values)
        self._level = np.empty(values.size, dtype=np.int64)
        ascending = to_decimals(values)[self._by_weight]
        self._level[self._by_weight] = np.searchsorted(self.thresholds, ascending, side="right") - 1
        self._falling = [self._tiers(matches) for matches in table.orders[:max_order]]
        # (L, S): how many references of each segment are in the subset.
        reached = np.flatnonzero(self._level >= 0)
        at = self._level[reached] * table.n_segments + table.reference_segment[reached]
        self._n_references = np.bincount(at, minlength=self.thresholds.size * table.n_segments).reshape(
            -1, table.n_segments
        )
        _sum_from_above(self._n_references)
        self._ref_len = self._closest_lengths()
        self._bleu: list[SegmentStatistics] | None = None  # BLEU and sBLEU read the same

    def bleu(self) -> list[SegmentStatistics]:
        """Return `metrics.scoring.statistics.bleu_statistics` for each threshold."""
        if self._bleu is None:
            running = [tiers.running(tiers.clipped) for tiers in self._falling]
            self._bleu = self._statistics(running, np.ones(self.table.n_segments), 1)
        return self._bleu

    def delta_bleu(self, semantics: str = "galley2015") -> list[SegmentStatistics]:
        """Return `metrics.scoring.statistics.delta_bleu_statistics` for each threshold."""
        check_choice("semantics", semantics, SEMANTICS)
        top_weight = maximum_per_segment(self.table, self._scaled)
        # Segments without a positive weight do not count.
        weights = np.where(top_weight[self.table.reference_segment] > 0, self._scaled, 0.0)
        running = []
        for tiers in self._falling:
            weight = weights[tiers.best]
            if semantics == "galley2015":
                running.append(tiers.running(weight * tiers.clipped))
            else:
                running.append(tiers.running(weight) * tiers.running(tiers.clipped))
        return self._statistics(running, top_weight, self._scale)

    def _tiers(self, matches: OrderMatches) -> _Falling:
        n_levels, n_rows = self.thresholds.size, self.table.hyp_len.size
        rank = np.empty(self._by_weight.size, dtype=np.int32)
        rank[self._by_weight] = np.arange(rank.size)
        best = np.empty(0, dtype=np.int64)
        if matches.tiers.size:
            best = self._by_weight[np.maximum.reduceat(rank[matches.reference], matches.tiers)]
        level = self._level[best]
        case = np.repeat(np.arange(matches.cases.size), np.diff(np.append(matches.cases, matches.tiers.size)))
        order = np.argsort(case * (n_levels + 1) + (n_levels - level), kind="stable")
        order = order[level[order] >= 0]
        level, case = level[order], case[order]
        size = np.bincount(case, minlength=matches.cases.size)
        first = np.cumsum(size) - size
        _, tier = ranges(first[matches.case], size[matches.case])
        cell = level[tier] * n_rows + np.repeat(matches.hypothesis, size[matches.case])
        return _Falling(matches.clipped[order], best[order], np.arange(case.size) - first[case], tier, cell)

    def _closest_lengths(self) -> Floats:
        """Return the length (L, H) of the closest reference of each subset, ties to the shorter; 0 if it is empty."""
        table, pairs = self.table, self.table.lengths
        closest, lengths = np.empty(pairs.key.size), np.zeros((self.thresholds.size, table.hyp_len.size))
        if not closest.size:
            return lengths
        # References of a segment are neighbours in the pairs of each of its hypotheses: sort them once for all.
        falling = np.argsort(table.reference_segment * (self.thresholds.size + 1) - self._level, kind="stable")
        moved = falling - np.arange(falling.size)
        # In chunks that fit into the processor's cache: pairs are many, and each is read a dozen times.
        bounds = np.append(pairs.starts, closest.size)
        for first, last in chunks(bounds, PAIRS_AT_ONCE):
            part = slice(bounds[first], bounds[last])
            key = pairs.key[part][np.arange(part.stop - part.start) + moved[pairs.reference[part]]]
            # Shifted apart, and with their signs changed, all hypotheses share one running maximum.
            span = int(key.max()) + 1
            shift = np.repeat(np.arange(1, last - first + 1), np.diff(bounds[first : last + 1])) * span
            closest[part] = (shift - np.maximum.accumulate(shift - key)) & (pairs.radix - 1)
        before = np.zeros(table.hyp_len.size, dtype=np.int64)
        before[pairs.hypothesis] = pairs.starts - 1
        for level, counts in zip(lengths, self._n_references, strict=True):
            n_references = counts[table.row_segment]
            np.multiply(closest.take(before + n_references, mode="clip"), n_references > 0, out=level)
        return lengths

    def _statistics(self, running: list[Floats], top_weight: Floats, scale: int) -> list[SegmentStatistics]:
        """Return the statistics of each level from the running values (K,) of each order."""
        table, n_orders = self.table, len(running)
        numerators = [self._numerators(*each) for each in zip(self._falling, running, strict=True)]
        n_grams = [np.maximum(table.hyp_len - order, 0) for order in range(n_orders)]
        # For an empty subset the length is 0 already.
        positive = top_weight > 0
        ref_len = self._ref_len if positive.all() else self._ref_len * positive[table.row_segment]
        rows = np.empty((table.hyp_len.size, 2 + 2 * n_orders))
        # One block for all levels: allocating one is faster.
        packed = np.empty((self.thresholds.size, *table.rows.shape, 2 + 2 * n_orders))
        statistics: list[SegmentStatistics] = []
        valid, weight = np.empty(0, dtype=np.bool_), np.empty(0)
        for level, block in enumerate(packed):
            counted = (self._n_references[level] > 0) & positive
            if not np.array_equal(counted, valid):
                valid, weight = counted, np.where(counted, top_weight, 0.0)
                np.multiply(table.hyp_len, valid[table.row_segment], out=rows[:, 0])
                row_weight = weight[table.row_segment]
                for order, most in enumerate(n_grams, start=2 + n_orders):
                    np.multiply(row_weight, most, out=rows[:, order])
            rows[:, 1] = ref_len[level]
            for order, levels in enumerate(numerators, start=2):
                rows[:, order] = levels[level]
            rows.take(table.rows, axis=0, out=block, mode="clip")  # without checks, hence without a buffer
            statistics.append(SegmentStatistics.of_segments(block, weight, valid, scale))
        return statistics

    def _numerators(self, tiers: _Falling, running: Floats) -> Floats:
        """Return (L, H) sums over the n-grams of each hypothesis of the increases of this level and higher ones."""
        shape = self.thresholds.size, self.table.hyp_len.size
        entered = np.bincount(tiers.cell, weights=tiers.increases(running), minlength=math.prod(shape))
        levels = entered.astype(np.float64, copy=False).reshape(shape)  # bincount of nothing returns integers
        _sum_from_above(levels)
        return levels


def _sum_from_above(levels: NDArray[Any]) -> None:
    """Add to each level all higher ones, in place."""
    for level in range(levels.shape[0] - 1, 0, -1):
        levels[level - 1] += levels[level]


def threshold_sweep(
    table: MatchTable, weights: ArrayLike, thresholds: Sequence[float], max_order: int
) -> ThresholdSweep:
    """Return the sweep, made once for all metrics that read this table."""
    key = ("sweep", max_order, np.asarray(weights, dtype=np.float64).tobytes(), tuple(thresholds))
    return table.remembered(key, lambda: ThresholdSweep(table, weights, thresholds, max_order=max_order))


def means_at_each(levels: list[SegmentStatistics], smooth_brevity: bool) -> list[MetricStatistics]:
    """Return the statistics of the mean over segments for each level of a sweep."""
    blocks = np.empty((len(levels), *levels[0].valid.shape, 2))
    for block, level in zip(blocks, levels, strict=True):
        mean_packed(level.sentence_scores(smooth_brevity=smooth_brevity), block)
    return [MeanStatistics(block) for block in blocks]
