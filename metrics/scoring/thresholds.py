"""Statistics of the BLEU family for many thresholds of the weight at the price of about one.

The references of weight >= t for falling t are sets that only grow. Of the references that clip an n-gram to the same
count (a tier) the one of highest weight joins first, and none that joins later can better it. So each tier matters at
one threshold alone: there it may raise the running maximum of its n-gram. What it adds is entered at that threshold,
and summed from above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.metric import MetricStatistics, mean_packed, to_decimals
from metrics.scoring.ngrams import MatchTable, OrderMatches, ranges
from metrics.scoring.statistics import (
    SEMANTICS,
    SegmentStatistics,
    SummedStatistics,
    WeightScale,
    exact_weights,
    maximum_per_segment,
)
from metrics.scoring.texts import check_choice

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Falling:
    """Tiers of one n-gram order, within each case those that a higher threshold lets in first.

    ``clipped`` (K,) is the count of each, ``best`` (K,) its reference of highest weight, ``rank`` (K,) its place within
    the case. Of E uses of tiers by hypotheses ``tier`` (E,) is the tier, and ``place`` (E,) where it is entered:
    (level, hypothesis), flat. Tiers that no threshold lets in are left out.
    """

    clipped: Floats
    best: Ints
    rank: Ints
    tier: Ints
    place: Ints

    def entered(self, running: Floats) -> Floats:
        """(E,) what each use adds to the running value of its n-gram, which begins at 0."""
        before = np.concatenate(([0.0], running[:-1]))
        return (running - np.where(self.rank > 0, before, 0.0))[self.tier]

    def running(self, values: Floats) -> Floats:
        """The running maximum of ``values`` (K,) within each case."""
        found = values.copy()
        for rank in range(1, int(self.rank.max(initial=0)) + 1):
            places = np.flatnonzero(self.rank == rank)
            found[places] = np.maximum(found[places], found[places - 1])
        return found


class ThresholdSweep:
    """All subsets of the references with a weight at or above each of some thresholds.

    Parameters
    ----------
    table : MatchTable
    weights : (R,) float
        Unitless, finite.
    thresholds : L numbers, ascending and different to nine decimals
    max_order : int, optional
        The table's own by default.
    weight_scale : WeightScale, optional
        See `metrics.scoring.statistics.delta_bleu_statistics`.

    Examples
    --------
    >>> from metrics.scoring.ngrams import build_match_table
    >>> table = build_match_table([["a b"]], [["a", "b"]], max_order=1)
    >>> [found.numerators.item() for found in ThresholdSweep(table, [0.9, 0.5], [0.0, 0.6]).bleu()]
    [2.0, 1.0]
    """

    def __init__(
        self,
        table: MatchTable,
        weights: ArrayLike,
        thresholds: Sequence[float],
        *,
        max_order: int | None = None,
        weight_scale: WeightScale | None = None,
    ) -> None:
        self.table = table
        self.thresholds = to_decimals(thresholds)
        if self.thresholds.size == 0 or (np.diff(self.thresholds) <= 0).any():
            raise ValueError(f"thresholds: found {list(thresholds)}; accepted: one or more, each above the one before")
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (table.n_references,) or not np.isfinite(values).all():
            raise ValueError(f"weights: found shape {values.shape}; accepted: ({table.n_references},) finite numbers")
        scaled, scale = exact_weights(values)
        if weight_scale is not None:
            scale = weight_scale.scale
            scaled = values if scale == 1 else np.rint(values * scale)
        self._scaled, self._scale = scaled, scale
        self._level = np.searchsorted(self.thresholds, to_decimals(values), side="right") - 1
        self._by_weight = np.argsort(values)
        self._falling = [self._tiers(matches) for matches in table.orders[:max_order]]
        n_levels, n_orders = self.thresholds.size, len(self._falling)
        self._places = np.concatenate([own.place * n_orders + order for order, own in enumerate(self._falling)])
        # (L, S): how many references of a segment are in the subset.
        reached = np.flatnonzero(self._level >= 0)
        at = self._level[reached] * table.n_segments + table.reference_segment[reached]
        self._n_references = np.bincount(at, minlength=n_levels * table.n_segments).reshape(n_levels, -1)
        _sum_from_above(self._n_references)
        self._ref_len = self._closest_lengths()
        self._bleu: list[SegmentStatistics] | None = None  # BLEU and sBLEU read the same

    def bleu(self) -> list[SegmentStatistics]:
        """For each threshold and hypothesis row (H,) what `metrics.scoring.statistics.bleu_statistics` says."""
        if self._bleu is None:
            running = [own.running(own.clipped) for own in self._falling]
            self._bleu = self._statistics(running, np.ones(self.table.n_segments), 1)
        return self._bleu

    def delta_bleu(self, semantics: str = "galley2015") -> list[SegmentStatistics]:
        """As `metrics.scoring.statistics.delta_bleu_statistics`, likewise."""
        check_choice("semantics", semantics, SEMANTICS)
        top_weight = maximum_per_segment(self.table, self._scaled)
        # Segments without a positive weight count for nothing.
        weights = np.where(top_weight[self.table.reference_segment] > 0, self._scaled, 0.0)
        running = []
        for own in self._falling:
            weight = weights[own.best]
            if semantics == "galley2015":
                running.append(own.running(weight * own.clipped))
            else:
                running.append(own.running(weight) * own.running(own.clipped))
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
        place = level[tier] * n_rows + np.repeat(matches.hypothesis, size[matches.case])
        return _Falling(matches.clipped[order], best[order], np.arange(case.size) - first[case], tier, place)

    def _closest_lengths(self) -> Floats:
        """(L, H) length of the closest reference of each subset, ties to the shorter; 0 where it is empty."""
        table, pairs = self.table, self.table.lengths
        if not pairs.key.size:
            return np.zeros((self.thresholds.size, table.hyp_len.size))
        # References of a segment stand side by side in the pairs of each of its hypotheses: sort them once for all.
        segment = table.reference_segment
        falling = np.argsort(segment * (self.thresholds.size + 1) - self._level, kind="stable")
        moved = (falling - np.arange(falling.size))[pairs.reference]
        key = pairs.key[np.arange(moved.size) + moved]
        # Shifted apart, and turned round, all hypotheses share one running maximum.
        span = int(key.max()) + 1
        row = np.repeat(np.arange(pairs.starts.size), np.diff(np.append(pairs.starts, key.size)))
        shift = (row + 1) * span
        closest = shift - np.maximum.accumulate(shift - key)
        length = (closest & (pairs.radix - 1)).astype(np.float64)
        before = np.zeros(table.hyp_len.size, dtype=np.int64)
        before[pairs.hypothesis] = pairs.starts - 1
        lengths = np.empty((self.thresholds.size, table.hyp_len.size))
        for own, counts in zip(lengths, self._n_references, strict=True):
            n_references = counts[table.row_segment]
            np.multiply(length.take(before + n_references, mode="clip"), n_references > 0, out=own)
        return lengths

    def _statistics(self, running: list[Floats], top_weight: Floats, scale: int) -> list[SegmentStatistics]:
        """From the running values (K,) of each order."""
        table = self.table
        shape = self.thresholds.size, table.hyp_len.size, len(running)
        entered = np.concatenate([own.entered(values) for own, values in zip(self._falling, running, strict=True)])
        numerators = np.bincount(self._places, weights=entered, minlength=math.prod(shape)).reshape(shape)
        numerators = numerators.astype(np.float64, copy=False)  # bincount of nothing returns integers
        _sum_from_above(numerators)
        n_grams = np.maximum(table.hyp_len[:, None] - np.arange(len(running)), 0)
        positive = top_weight > 0
        segment_valid = (self._n_references > 0) & positive
        # Where the subset is empty the length is 0 already.
        ref_len = self._ref_len if positive.all() else self._ref_len * positive[table.row_segment]
        found: list[SegmentStatistics] = []
        for level, counts in enumerate(segment_valid):
            if level and (counts == segment_valid[level - 1]).all():
                same = found[-1]
                rest = same.denominators, same.hyp_len, same.top_weight, same.valid
            else:
                valid = counts[table.row_segment]
                weight = np.where(counts, top_weight, 0.0)[table.row_segment]
                rest = weight[:, None] * n_grams, table.hyp_len * valid.astype(np.float64), weight, valid
            denominators, hyp_len, weight, valid = rest
            found.append(
                SegmentStatistics(numerators[level], denominators, hyp_len, ref_len[level], weight, valid, scale)
            )
        return found


def _sum_from_above(levels: NDArray[Any]) -> None:
    """Add to each level all higher ones, in place."""
    for level in range(levels.shape[0] - 1, 0, -1):
        levels[level - 1] += levels[level]


def threshold_sweep(
    table: MatchTable, weights: ArrayLike, thresholds: Sequence[float], max_order: int
) -> ThresholdSweep:
    """The sweep, made once for all metrics that read this table."""
    key = ("sweep", max_order, np.asarray(weights, dtype=np.float64).tobytes(), tuple(thresholds))
    return table.remembered(key, lambda: ThresholdSweep(table, weights, thresholds, max_order=max_order))


def summed_at_each(levels: list[SegmentStatistics], smoothing: str, table: MatchTable) -> list[MetricStatistics]:
    """Of a corpus metric, what each level of a sweep says of the systems' hypotheses."""
    # One block for all, written when it is read: memory comes cheaper in one piece.
    blocks = np.empty((len(levels), *table.rows.shape, 2 + 2 * levels[0].max_order))
    return [SummedStatistics(own, smoothing, table.rows, block) for own, block in zip(levels, blocks, strict=True)]


def means_at_each(levels: list[SegmentStatistics], smooth_brevity: bool, table: MatchTable) -> list[MetricStatistics]:
    """Of the mean over segments, likewise."""
    scores = np.empty((len(levels), *table.rows.shape))
    for own, found in zip(scores, levels, strict=True):
        found.sentence_scores(smooth_brevity=smooth_brevity).take(table.rows, out=own, mode="clip")
    packed, valid = mean_packed(scores)
    return [MetricStatistics(*own, MeanAggregate()) for own in zip(packed, valid, scores, strict=True)]
