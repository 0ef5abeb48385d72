"""Self-BLEU: how much a system's outputs repeat each other; lower is more diverse.

    self-BLEU = mean over outputs h_i of BLEU(h_i, all other outputs of the system as references)

BLEU of one output has clipped precisions of n = 1..N and the brevity penalty for the closest length, ties to the
shorter. ``smoothing="epsilon"`` is that of the authors' code (NLTK's method 1): an order without a match counts 0.1
matches. "add-one" is BLEU+1. NaN for an output without a token, and if there is no other output.

Zhu, Lu, Zheng, Guo, Zhang, Wang, Yu, Texygen: A Benchmarking Platform for Text Generation Models, SIGIR 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.aggregates import log_brevity_penalty
from metrics.scoring.arrays import Bools, Floats, Ints
from metrics.scoring.metric import CorpusState, PooledStatistics
from metrics.scoring.parameters import choice, flag, whole
from metrics.scoring.tallies import Keys, grouped, key_range, looked_up, narrow
from metrics.scoring.text_ngrams import (
    NumberedNgrams,
    PoolMetric,
    TextNgrams,
    TextPreparation,
    laid_end_to_end,
    pooled_statistics,
    row_tallies,
    taken_apart,
)
from metrics.scoring.texts import TOKENIZERS, check_choice

# Keys, and the highest and the second highest count of each in one output.
Peaks = tuple[Keys, NDArray[Any], NDArray[Any]]

SMOOTHINGS = ("epsilon", "add-one", "none")

# Chen and Cherry, A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU, WMT 2014: NLTK's default.
EPSILON = 0.1


@dataclass(frozen=True)
class SelfBleu(PoolMetric):
    """Self-BLEU."""

    name: ClassVar[str] = "self_bleu"
    label: ClassVar[str] = "Self-BLEU"
    summary: ClassVar[str] = "How much a system's outputs repeat each other: lower is more diverse, not better."
    higher_is_better: ClassVar[bool] = False
    no_lone_score: ClassVar[str] = "It compares the outputs of a system with one another; here is one."

    max_order: int = whole(4, low=1, high=5, label="Longest n-gram", key="order")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")
    smoothing: str = choice("epsilon", SMOOTHINGS, label="Smoothing of an order without a match", key="smooth")

    def preparation(self) -> TextPreparation:
        return TextPreparation(self.tokenize, self.lowercase, self.max_order)

    def corpus_state(
        self, prepared: TextNgrams, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> PoolPeaks:
        return pool_peaks(prepared, prepared.orders[: self.max_order])

    def statistics(
        self,
        prepared: TextNgrams,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> PooledStatistics:
        orders = prepared.orders[: self.max_order]

        def scores(rows: Ints, system: int | None = None) -> Floats:
            pool = None if state is None or system is None else state.of_system(system)
            return scores_against_others(orders, prepared.length, rows, smoothing=self.smoothing, pool=pool)

        def pooled(segments: Ints | None) -> Floats:
            by_system = of_systems if segments is None else [scores(rows) for rows in prepared.rows_of(segments)]
            return np.array([_mean(values[~np.isnan(values)]) for values in by_system])

        of_systems = [scores(rows, system) for system, rows in enumerate(prepared.rows)]
        return pooled_statistics(np.stack(of_systems), pooled, means=True)


def _mean(scores: Floats) -> float:
    return float(scores.mean()) if scores.size else float("nan")


@dataclass(frozen=True, eq=False)
class PoolPeak:
    """What the score of an output reads of all outputs of its system.

    Attributes
    ----------
    keys : (K,) uint64
        Hashes of n-grams of all orders, ascending; those in one output only may be missing.
    second : (K,) int
        The second highest of the n-gram's counts in single outputs; the highest if two outputs have it; 0 if only one
        output holds the n-gram.
    lengths : (L,) int
        How many outputs have 0, 1, ... tokens.
    """

    keys: Keys
    second: NDArray[Any]
    lengths: Ints


@dataclass(frozen=True, eq=False)
class PoolPeaks(CorpusState):
    """`PoolPeak` of each of T systems; parts of a corpus can be joined.

    Attributes
    ----------
    keys : (K,) uint64
        System after system, ascending within each.
    highest, second : (K,) int of any width
    offsets : (T + 1,) int
        Where each system's keys start and end.
    lengths : (T, L) int
    """

    keys: Keys
    highest: NDArray[Any]
    second: NDArray[Any]
    offsets: Ints
    lengths: Ints

    def of_system(self, system: int) -> PoolPeak:
        part = slice(self.offsets[system], self.offsets[system + 1])
        return PoolPeak(self.keys[part], self.second[part], self.lengths[system])

    @classmethod
    def of_systems(cls, parts: Sequence[Peaks], lengths: Ints) -> PoolPeaks:
        keys, highest, second, offsets = laid_end_to_end(parts)
        return cls(keys, narrow(highest), narrow(second), offsets, lengths)

    def joined(self, other: PoolPeaks) -> PoolPeaks:
        parts = [
            _peaks(*map(np.concatenate, zip(ours, theirs, strict=True)))
            for ours, theirs in zip(self._by_system(), other._by_system(), strict=True)
        ]
        width = max(self.lengths.shape[1], other.lengths.shape[1])
        lengths = sum(np.pad(part.lengths, ((0, 0), (0, width - part.lengths.shape[1]))) for part in (self, other))
        return self.of_systems(parts, np.asarray(lengths))

    def ranged(self, index: int, of: int) -> PoolPeaks:
        inside = np.zeros(self.keys.size, dtype=np.bool_)
        for start, (keys, _, _) in zip(self.offsets, self._by_system(), strict=False):
            part = key_range(keys, index, of)
            inside[start + part.start : start + part.stop] = True
        return self._with(inside, self.lengths if index == 0 else self.lengths[:, :0])

    def settled(self) -> PoolPeaks:
        """Return it without n-grams of one output only: no other output shares them."""
        return self._with(self.second > 0, self.lengths)

    def of_texts(self, prepared: TextNgrams) -> PoolPeaks:
        known = np.unique(np.concatenate([ngrams.keys for ngrams in prepared.orders]))
        return self._with(np.isin(self.keys, known), self.lengths)

    def _with(self, chosen: Bools, lengths: Ints) -> PoolPeaks:
        offsets = np.concatenate(([0], np.cumsum(chosen)))[self.offsets]
        return PoolPeaks(self.keys[chosen], self.highest[chosen], self.second[chosen], offsets, lengths)

    def _by_system(self) -> list[tuple[NDArray[Any], ...]]:
        return taken_apart(self.offsets, self.keys, self.highest, self.second)


def _peaks(keys: Keys, highest: NDArray[Any], second: NDArray[Any]) -> Peaks:
    """Return the distinct keys, ascending, with the two highest of the counts given for each."""
    if not keys.size:
        return keys, highest, second
    distinct, order, starts = grouped(keys)
    highest, second = highest[order], second[order]
    first = np.maximum.reduceat(highest, starts)
    holds = highest == np.repeat(first, np.diff(np.append(starts, keys.size)))
    others = np.maximum.reduceat(np.where(holds, second, highest), starts)
    several = np.add.reduceat(holds, starts, dtype=np.int64) > 1
    return distinct, first, np.where(several, first, others)


def pool_peaks(texts: TextNgrams, orders: Sequence[NumberedNgrams]) -> PoolPeaks:
    """Return the peaks of all segments and systems."""
    longest = int(texts.length.max(initial=0))
    parts, lengths = [], []
    for rows in texts.rows:
        counted = [row_tallies(ngrams, rows) for ngrams in orders]
        keys = np.concatenate([ngrams.keys[gram] for ngrams, (gram, _, _) in zip(orders, counted, strict=True)])
        counts = narrow(np.concatenate([count for _, _, count in counted]))
        parts.append(_peaks(keys, counts, np.zeros_like(counts)))
        lengths.append(np.bincount(texts.length[rows], minlength=longest + 1))
    return PoolPeaks.of_systems(parts, np.stack(lengths))


def scores_against_others(
    orders: tuple[NumberedNgrams, ...],
    length: Ints,
    rows: Ints,
    *,
    smoothing: str = "epsilon",
    pool: PoolPeak | None = None,
) -> Floats:
    """Return BLEU of each output against all others, in time that grows with the number of n-grams.

    The largest count of an n-gram among the others is the largest of all, or the second largest for the only output
    that holds the largest: outputs are not compared in pairs.

    Parameters
    ----------
    orders : tuple of N NumberedNgrams
    length : (H,) int
        Tokens of each row.
    rows : (S,) int
        The outputs; an output that is given twice counts as two equal ones.
    smoothing : {"epsilon", "add-one", "none"}
    pool : PoolPeak, optional
        Of all outputs, if these are a part of them.

    Returns
    -------
    (S,) float
        In [0, 1]; NaN for an empty output, and for all if there are fewer than two.
    """
    check_choice("smoothing", smoothing, SMOOTHINGS)
    row_length = length[rows]
    lengths = np.bincount(row_length) if pool is None else pool.lengths
    if lengths.sum() < 2:
        return np.full(rows.size, np.nan)
    log_sum = np.zeros(rows.size)
    positive = np.ones(rows.size, dtype=bool)
    for order, ngrams in enumerate(orders, start=1):
        numerator = _clipped_by_others(ngrams, rows, pool)
        denominator = np.maximum(row_length - order + 1, 0).astype(np.float64)
        if order == 1 or smoothing == "none":
            positive &= numerator > 0
        elif smoothing == "add-one":
            numerator, denominator = numerator + 1, denominator + 1
        else:
            numerator = np.where(numerator > 0, numerator, EPSILON)
        # An output too short for the order has no such n-gram: NLTK divides by 1.
        log_sum += np.log(np.where(positive, numerator, 1.0) / np.maximum(denominator, 1.0))
    closest = _closest_other(row_length, lengths)
    brevity = log_brevity_penalty(row_length.astype(np.float64), closest.astype(np.float64))
    scores = np.where(positive, np.exp(log_sum / len(orders) + brevity), 0.0)
    return np.where(row_length > 0, scores, np.nan)


def _clipped_by_others(ngrams: NumberedNgrams, rows: Ints, pool: PoolPeak | None) -> Floats:
    """Return the number (S,) of n-grams of each output, each counted up to its largest count in another output."""
    gram, row, count = row_tallies(ngrams, rows)
    if not gram.size:
        return np.zeros(rows.size)
    if pool is None:
        numbers, _, peaks = _peaks(gram.astype(np.uint64), count, np.zeros_like(count))
        second = peaks[np.searchsorted(numbers, gram.astype(np.uint64))]
    else:
        second = looked_up(pool.keys, pool.second, ngrams.keys)[gram]
    # An output with more than the second highest count is the only one with the highest.
    clipped = np.minimum(count, second)
    return np.bincount(row, weights=clipped, minlength=rows.size).astype(np.float64)


def _closest_other(length: Ints, lengths: Ints) -> Ints:
    """Return the closest length (S,) among the other outputs, ties to the shorter; there are two outputs or more.

    Parameters
    ----------
    length : (S,) int
        Of some outputs.
    lengths : (L,) int
        How many of all outputs have 0, 1, ... tokens.

    Examples
    --------
    >>> _closest_other(np.array([3, 5, 3, 7]), np.bincount([3, 5, 3, 7])).tolist()
    [3, 3, 3, 5]
    """
    known = np.flatnonzero(lengths)
    index = np.searchsorted(known, length)
    far = 2 * int(known[-1]) + 1
    padded = np.concatenate(([-far], known, [known[-1] + far]))
    shorter, longer = padded[index], padded[index + 2]
    closest = np.where(length - shorter <= longer - length, shorter, longer)
    return np.where(lengths[length] > 1, length, closest)
