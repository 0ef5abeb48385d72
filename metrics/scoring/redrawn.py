"""Statistics of the BLEU family under many sets of weights at once: matches stay, maxima and sums are made again.

The sets lie side by side in memory, so that one pass over the matches serves all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from metrics.scoring.arrays import Bools, Floats, Ints
from metrics.scoring.ngrams import MatchTable, OrderMatches
from metrics.scoring.statistics import SegmentStatistics, closest_lengths, exact_weights

LATEST = "the latest statistics of BLEU under many masks"


def redrawn_statistics(
    table: MatchTable,
    weights: Floats,
    masks: Bools,
    *,
    max_order: int,
    semantics: str = "galley2015",
    weighted: bool = True,
) -> list[SegmentStatistics]:
    """Return the statistics of ΔBLEU, or of BLEU, for each of B sets of weights.

    Parameters
    ----------
    table : MatchTable
    weights : (B, R) float
        Finite where the mask is True.
    masks : (B, R) bool
        True for a reference to use.
    max_order : int
    semantics : str
        As in ``delta_bleu_statistics``.
    weighted : bool
        False for BLEU: each reference of the mask counts alike.

    Returns
    -------
    list of B SegmentStatistics
        Each to the last bit what ``delta_bleu_statistics``, or ``bleu_statistics``, returns for the same weights and
        mask.

    Examples
    --------
    >>> from metrics.scoring.ngrams import build_match_table
    >>> table = build_match_table([["a a"]], [["a", "a a"]], max_order=1)
    >>> sets = redrawn_statistics(table, np.array([[0.9, 0.5], [0.2, 0.5]]), np.ones((2, 2), bool), max_order=1)
    >>> [each.numerators.item() / each.weight_scale for each in sets]
    [1.0, 1.0]
    """
    used = np.where(masks, weights, 0.0) if weighted else masks.astype(np.float64)
    scaled = [exact_weights(each) if weighted else (each, 1) for each in used]
    masked = np.ascontiguousarray(np.where(masks, np.stack([each for each, _ in scaled]), -np.inf).T)
    numerators = [_numerators(table, order, masked, semantics) for order in range(max_order)]
    top = np.zeros((table.n_segments, len(masks)))
    filled = np.flatnonzero(table.references_per_segment())
    if filled.size:
        groups = _Groups.of(table.reference_offsets[filled], table.n_references)
        top[filled[groups.order]] = np.maximum(groups.maxima(masked), 0.0)
    valid = top > 0
    closest = _closest(table, masks)
    n_grams = np.maximum(table.hyp_len[:, None] - np.arange(max_order), 0)
    tops, valids = np.ascontiguousarray(top.T), np.ascontiguousarray(valid.T)
    above = [np.ascontiguousarray(each.T) for each in numerators]
    packed = np.empty((table.hyp_len.size, 2 + 2 * max_order))
    packed[:, 0] = table.hyp_len
    results = []
    for b, (_, scale) in enumerate(scaled):
        packed[:, 1], highest = closest[b], tops[b].take(table.row_segment)
        for order in range(max_order):
            packed[:, 2 + order] = above[order][b]
            np.multiply(highest, n_grams[:, order], out=packed[:, 2 + max_order + order])
        rows = packed.take(table.rows, axis=0)
        if not valids[b].all():
            rows[:, ~valids[b]] = 0.0
        results.append(SegmentStatistics.of_segments(rows, tops[b], valids[b], scale))
    return results


def redrawn_bleu(table: MatchTable, masks: Bools, *, max_order: int) -> list[SegmentStatistics]:
    """Return BLEU's statistics under each mask (B, R); metrics of one study ask for the same ones in turn."""
    key = max_order, masks.shape, hashlib.blake2b(np.packbits(masks).tobytes(), digest_size=16).digest()
    latest = table.results.get(LATEST)
    if latest is None or latest[0] != key:
        latest = key, redrawn_statistics(table, np.zeros(masks.shape), masks, max_order=max_order, weighted=False)
        table.results[LATEST] = latest  # in place of the one before: it can be large
    found: list[SegmentStatistics] = latest[1]
    return found


@dataclass(frozen=True)
class _Groups:
    """Groups of entries, the largest first, so that the groups that have a j-th entry come before those without.

    Maxima of many sets of values then are a few passes over whole arrays.
    """

    entries: tuple[Ints, ...]  # the j-th entry of each group that has one
    order: Ints  # of the groups, as they were

    @classmethod
    def of(cls, starts: Ints, n_entries: int) -> _Groups:
        lengths = np.diff(np.append(starts, n_entries))
        order = np.argsort(-lengths, kind="stable")
        sizes, starts = lengths[order], starts[order]
        counts = [int(np.count_nonzero(sizes > place)) for place in range(int(sizes.max(initial=0)))]
        return cls(tuple(starts[:count] + place for place, count in enumerate(counts)), order)

    def through(self, index: Ints) -> _Groups:
        """Return the same groups of what the entries refer to."""
        return _Groups(tuple(index[each] for each in self.entries), self.order)

    def maxima(self, values: Floats) -> Floats:
        """Return the maximum (groups, B) of each group's values (entries, B), the largest group first."""
        first, *others = self.entries
        result = values.take(first, axis=0)
        for each in others:
            part = result[: each.size]
            np.maximum(part, values.take(each, axis=0), out=part)
        return result


@dataclass(frozen=True)
class _Plan:
    """How an order's matches are reduced: references to tiers, tiers to cases, cases to hypotheses."""

    tiers: _Groups  # of references
    clipped: Floats  # (C, 1), in the order of the tiers there
    cases: _Groups  # of tiers, in that order
    uses: sparse.csr_array  # hypotheses x cases, in the order of the cases there: 1 for an n-gram that it holds

    @classmethod
    def of(cls, matches: OrderMatches, n_hypotheses: int) -> _Plan:
        tiers = _Groups.of(matches.tiers, matches.reference.size).through(matches.reference)
        cases = _Groups.of(matches.cases, matches.tiers.size).through(_places(tiers.order))
        by_hypothesis = np.argsort(matches.hypothesis, kind="stable")
        starts = np.searchsorted(matches.hypothesis[by_hypothesis], np.arange(n_hypotheses + 1))
        case = _places(cases.order)[matches.case[by_hypothesis]]
        shape = n_hypotheses, matches.cases.size
        uses = sparse.csr_array((np.ones(case.size), case, starts), shape=shape)
        return cls(tiers, matches.clipped[tiers.order, None], cases, uses)


def _places(order: Ints) -> Ints:
    """Return where each entry went in an order."""
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return places


def _numerators(table: MatchTable, order: int, masked: Floats, semantics: str) -> Floats:
    """Return the sums (H, B) over the n-grams of each hypothesis of the maxima over the references that hold them."""
    matches = table.orders[order]
    if not matches.tiers.size:
        return np.zeros((table.hyp_len.size, masked.shape[1]))
    plan = table.remembered(("redrawn", order), lambda: _Plan.of(matches, table.hyp_len.size))
    weight = plan.tiers.maxima(masked)
    if semantics == "galley2015":
        weight *= plan.clipped
        best = plan.cases.maxima(weight)
    else:
        counts = np.where(weight == -np.inf, 1.0, plan.clipped)
        best = plan.cases.maxima(weight) * plan.cases.maxima(counts)
    best[best == -np.inf] = 0.0
    return np.asarray(plan.uses @ best)


def _closest(table: MatchTable, masks: Bools) -> Sequence[Floats]:
    """Return the length (H,) of the closest reference of each mask, ties to the shorter; 0 if it is empty."""
    found: dict[bytes, Floats] = {}
    for mask in masks:
        key = mask.tobytes()
        if key not in found:
            found[key] = closest_lengths(table, None if mask.all() else mask)
    return [found[mask.tobytes()] for mask in masks]
