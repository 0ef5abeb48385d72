"""Statistics of the BLEU family for many thresholds of the weight at the price of about one.

The references of weight >= t for falling t are sets that only grow. An n-gram's best match over a growing set is a
running maximum, so one pass over the matches, highest weights first, holds the answer for every threshold: what each
match adds to the running maximum is entered at the threshold at which its reference joins, and summed from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.metric import to_decimals
from metrics.scoring.ngrams import LengthPairs, MatchTable, OrderMatches
from metrics.scoring.statistics import SEMANTICS, SegmentStatistics, WeightScale, exact_weights
from metrics.scoring.texts import check_choice

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Falling:
    """Members of groups, within each group those of the highest threshold first.

    ``order`` (K,) sorts them, ``level`` (K,) is the index of the highest threshold that each reaches, ``group`` (K,)
    the group of each, ``rank`` (K,) its place within the group. Members that reach no threshold are left out.
    """

    order: Ints
    level: Ints
    group: Ints
    rank: Ints

    def running(self, values: Floats, ufunc: np.ufunc) -> Floats:
        """The running maximum (or minimum) of ``values``, given in the sorted order, within each group."""
        found = values.copy()
        for rank in range(1, int(self.rank.max(initial=0)) + 1):
            places = np.flatnonzero(self.rank == rank)
            found[places] = ufunc(found[places], found[places - 1])
        return found

    def steps(self, running: Floats) -> Floats:
        """What each member adds to the running value of its group, which begins at 0."""
        before = np.concatenate(([0.0], running[:-1]))
        return running - np.where(self.rank > 0, before, 0.0)


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
        self._orders = table.orders[:max_order]
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
        self._matches = [self._falling(matches, matches.hypothesis.size) for matches in self._orders]
        # (L, S): whether a segment has a reference in the subset.
        self._reached = self._segment_levels() >= np.arange(self.thresholds.size)[:, None]
        self._ref_len = self._closest_lengths()
        self._bleu: list[SegmentStatistics] | None = None  # BLEU and sBLEU read the same

    def bleu(self) -> list[SegmentStatistics]:
        """For each threshold and hypothesis row (H,) what `metrics.scoring.statistics.bleu_statistics` says."""
        if self._bleu is None:
            self._bleu = self._statistics(self._bleu_numerators(), np.ones(self.table.n_segments), 1)
        return self._bleu

    def _bleu_numerators(self) -> list[Floats]:
        return [
            self._summed(falling, matches, falling.running(matches.clipped[falling.order], np.maximum))
            for falling, matches in zip(self._matches, self._orders, strict=True)
        ]

    def delta_bleu(self, semantics: str = "galley2015") -> list[SegmentStatistics]:
        """As `metrics.scoring.statistics.delta_bleu_statistics`, likewise."""
        check_choice("semantics", semantics, SEMANTICS)
        numerators = []
        for falling, matches in zip(self._matches, self._orders, strict=True):
            clipped, weight = matches.clipped[falling.order], self._scaled[matches.reference[falling.order]]
            if semantics == "galley2015":
                running = falling.running(weight * clipped, np.maximum)
            else:
                running = falling.running(weight, np.maximum) * falling.running(clipped, np.maximum)
            numerators.append(self._summed(falling, matches, running))
        return self._statistics(numerators, self._top_weights(), self._scale)

    def _falling(self, groups: OrderMatches | LengthPairs, n_groups: int) -> _Falling:
        size = np.diff(np.append(groups.starts, groups.reference.size))
        group = np.repeat(np.arange(n_groups), size)
        level = self._level[groups.reference]
        n_levels = self.thresholds.size
        # Stable, so that what is sorted by group already is merged, not sorted.
        order = np.argsort(group * (n_levels + 1) + (n_levels - level), kind="stable")
        order = order[level[order] >= 0]
        group = group[order]
        first = np.searchsorted(group, np.arange(n_groups))
        return _Falling(order, level[order], group, np.arange(group.size) - first[group])

    def _summed(self, falling: _Falling, matches: OrderMatches, running: Floats) -> Floats:
        """(L, H) sums over the n-grams of each hypothesis."""
        return self._from_above(matches.hypothesis[falling.group], falling.level, falling.steps(running))

    def _from_above(self, row: Ints, level: Ints, steps: Floats) -> Floats:
        n_levels, n_rows = self.thresholds.size, self.table.hyp_len.size
        entered = np.bincount(level * n_rows + row, weights=steps, minlength=n_levels * n_rows)
        return np.asarray(np.cumsum(entered.reshape(n_levels, n_rows)[::-1], axis=0)[::-1])

    def _segment_levels(self) -> Ints:
        """(S,) the highest threshold that a reference of the segment reaches; -1 where none does."""
        levels = np.full(self.table.n_segments, -1, dtype=np.int64)
        filled = np.flatnonzero(self.table.references_per_segment())
        if filled.size:
            levels[filled] = np.maximum.reduceat(self._level, self.table.reference_offsets[filled])
        return levels

    def _top_weights(self) -> Floats:
        """(S,) the highest weight of each segment; -inf where it has no reference."""
        top = np.full(self.table.n_segments, -np.inf)
        filled = np.flatnonzero(self.table.references_per_segment())
        if filled.size:
            top[filled] = np.maximum.reduceat(self._scaled, self.table.reference_offsets[filled])
        return top

    def _closest_lengths(self) -> Floats:
        """(L, H) length of the closest reference of each subset, ties to the shorter; 0 where it is empty."""
        pairs = self.table.lengths
        falling = self._falling(pairs, pairs.hypothesis.size)
        running = falling.running(pairs.key[falling.order].astype(np.float64), np.minimum)
        keys = self._from_above(pairs.hypothesis[falling.group], falling.level, falling.steps(running))
        return np.rint(keys) % pairs.radix

    def _statistics(self, numerators: list[Floats], top_weight: Floats, scale: int) -> list[SegmentStatistics]:
        table = self.table
        n_grams = np.maximum(table.hyp_len[:, None] - np.arange(len(numerators)), 0)
        summed = np.stack(numerators, axis=-1)
        found = []
        for level, reached in enumerate(self._reached):
            valid = (reached & (top_weight > 0))[table.row_segment]
            weight = np.where(valid, top_weight[table.row_segment], 0.0)
            found.append(
                SegmentStatistics(
                    summed[level] * valid[:, None],
                    weight[:, None] * n_grams,
                    table.hyp_len * valid,
                    self._ref_len[level] * valid,
                    weight,
                    valid,
                    scale,
                )
            )
        return found


def threshold_sweep(
    table: MatchTable, weights: ArrayLike, thresholds: Sequence[float], max_order: int
) -> ThresholdSweep:
    """The sweep, made once for all metrics that read this table."""
    key = ("sweep", max_order, np.asarray(weights, dtype=np.float64).tobytes(), tuple(thresholds))
    return table.remembered(key, lambda: ThresholdSweep(table, weights, thresholds, max_order=max_order))
