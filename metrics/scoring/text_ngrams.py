"""The n-grams of each hypothesis, numbered, for metrics that read the outputs only.

An n-gram has one number across systems and segments, and one hash across the parts of a corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.metric import CorpusState, Metric, PooledStatistics, Preparation, mean_statistics
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import choice, flag, whole
from metrics.scoring.segments import Segments
from metrics.scoring.tallies import Keys, extended_hashes, key_range, narrow, summed, token_hashes
from metrics.scoring.texts import TOKENIZERS
from metrics.scoring.token_ids import number_segments


@dataclass(frozen=True, eq=False)
class NumberedNgrams:
    """All n-grams of one order, laid end to end row after row.

    Attributes
    ----------
    ids : (L,) int
        The n-gram's number, below ``n_distinct``.
    offsets : (H + 1,) int
        Those of row h are ``ids[offsets[h]:offsets[h + 1]]``.
    keys : (n_distinct,) uint64
        The hash of each n-gram.
    """

    ids: Ints
    offsets: Ints
    keys: Keys

    @property
    def n_distinct(self) -> int:
        return self.keys.size

    def of_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the numbers of the n-grams of these rows, one after the other, and the index of each in ``rows``."""
        size = np.diff(self.offsets)[rows]
        index = np.repeat(np.arange(rows.size), size)
        first = np.cumsum(size) - size
        return self.ids[np.arange(index.size) + np.repeat(self.offsets[rows] - first, size)], index


@dataclass(frozen=True, eq=False)
class TextNgrams:
    """The hypotheses as numbers.

    Attributes
    ----------
    rows : (T, S) int
        Row of each system's hypothesis, as in `Segments`.
    length : (H,) int
        Tokens of each row.
    orders : tuple of NumberedNgrams
        ``orders[n - 1]`` holds the n-grams.
    """

    rows: Ints
    length: Ints
    orders: tuple[NumberedNgrams, ...]

    def rows_of(self, segments: Ints | None) -> Ints:
        """Return the rows (T, number of segments) of the segments with these indices, by default of all."""
        return self.rows if segments is None else self.rows[:, segments]


@dataclass(frozen=True)
class TextPreparation(Preparation):
    """`TextNgrams` for all metrics with these tokens, up to the longest order that any of them needs."""

    tokenize: str
    lowercase: bool
    max_order: int

    def joined(self, other: Preparation) -> Preparation | None:
        if not isinstance(other, TextPreparation) or replace(other, max_order=self.max_order) != self:
            return None
        return replace(self, max_order=max(self.max_order, other.max_order))

    def __call__(self, segments: Segments, models: ModelStore) -> TextNgrams:
        outputs = Segments(segments.systems, [[]] * segments.n_segments)
        numbered = number_segments(outputs, tokenize=self.tokenize, lowercase=self.lowercase)
        ids, length = numbered.hypotheses.ids, numbered.hypotheses.lengths
        return TextNgrams(numbered.rows, length, _numbered(ids, length, numbered.vocabulary, self.max_order))


def _numbered(ids: Ints, length: Ints, vocabulary: list[str], max_order: int) -> tuple[NumberedNgrams, ...]:
    """Number n-grams order by order, exactly: each is the number of its first n - 1 tokens and its last token."""
    remaining = np.repeat(np.cumsum(length), length) - np.arange(ids.size)
    at, grams = np.arange(ids.size), ids
    n_words, words = len(vocabulary), token_hashes(vocabulary)
    keys, orders = words, []
    for order in range(1, max_order + 1):
        if order > 1:
            room = remaining[at] >= order
            at = at[room]
            known, grams = np.unique(grams[room] * n_words + ids[at + order - 1], return_inverse=True)
            start, last = np.divmod(known, max(n_words, 1))
            keys = extended_hashes(keys[start], words[last])
        offsets = np.concatenate(([0], np.cumsum(np.maximum(length - order + 1, 0))))
        orders.append(NumberedNgrams(grams, offsets, keys))
    return tuple(orders)


def row_tallies(ngrams: NumberedNgrams, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the distinct (n-gram, index in ``rows``) pairs, ascending, and how often each occurs.

    Examples
    --------
    >>> ngrams = NumberedNgrams(np.array([1, 0, 1, 1]), np.array([0, 3, 4]), token_hashes(["a", "b"]))
    >>> [part.tolist() for part in row_tallies(ngrams, np.array([0, 1]))]
    [[0, 1, 1], [0, 0, 1], [1, 2, 1]]
    """
    ids, index = ngrams.of_rows(rows)
    keys, counts = np.unique(ids * max(rows.size, 1) + index, return_counts=True)
    return *np.divmod(keys, max(rows.size, 1)), counts


def pooled_statistics(scores: Floats, pooled: Callable[[Ints | None], Floats], *, means: bool) -> PooledStatistics:
    """Return statistics from segment scores (T, S), NaN if undefined, and from the score of a pool of segments."""
    mean = mean_statistics(scores)
    return PooledStatistics(mean.packed, mean.valid, mean.sentence_scores, mean.aggregate, pooled, means)


def frequencies(ngrams: NumberedNgrams, rows: Ints) -> Ints:
    """Return how often each n-gram (n_distinct,) occurs in these rows."""
    return np.bincount(ngrams.of_rows(rows)[0], minlength=ngrams.n_distinct)


# --- A pool in parts --------------------------------------------------------------------------------------------------


def laid_end_to_end(parts: Sequence[tuple[NDArray[Any], ...]]) -> tuple[NDArray[Any], ...]:
    """Join the arrays of T systems (keys, and values of each key) to one array each; return these and the bounds.

    Examples
    --------
    >>> keys, counts, offsets = laid_end_to_end([(np.array([3, 8]), np.array([1, 2])), (np.array([3]), np.array([5]))])
    >>> keys.tolist(), counts.tolist(), offsets.tolist()
    ([3, 8, 3], [1, 2, 5], [0, 2, 3])
    """
    offsets = np.concatenate(([0], np.cumsum([keys.size for keys, *_ in parts], dtype=np.int64)))
    return *map(np.concatenate, zip(*parts, strict=True)), offsets


def taken_apart(offsets: Ints, *arrays: NDArray[Any]) -> list[tuple[NDArray[Any], ...]]:
    """Undo `laid_end_to_end`."""
    return list(zip(*(np.split(array, offsets[1:-1]) for array in arrays), strict=True))


@dataclass(frozen=True, eq=False)
class SystemTallies(CorpusState):
    """Counts by key, for each of T systems.

    Attributes
    ----------
    keys : (K,) uint64
        System after system, ascending within each.
    counts : (K,) int of any width
        At least 1.
    offsets : (T + 1,) int
        Where each system's keys start and end.
    n_tokens : (T,) int
        In each system's outputs.
    """

    keys: Keys
    counts: NDArray[Any]
    offsets: Ints
    n_tokens: Ints

    def by_system(self) -> list[tuple[NDArray[Any], ...]]:
        """Return keys and counts of each system."""
        return taken_apart(self.offsets, self.keys, self.counts)

    @classmethod
    def of_systems(cls, parts: Sequence[tuple[NDArray[Any], ...]], n_tokens: Ints) -> Self:
        keys, counts, offsets = laid_end_to_end(parts)
        return cls(keys, counts, offsets, n_tokens)

    def joined(self, other: SystemTallies) -> Self:
        parts = [
            summed(*map(np.concatenate, zip(ours, theirs, strict=True)))
            for ours, theirs in zip(self.by_system(), other.by_system(), strict=True)
        ]
        return self.of_systems(parts, self.n_tokens + other.n_tokens)


@dataclass(frozen=True, eq=False)
class PoolCounts(SystemTallies):
    """How often each n-gram, identified by its hash, occurs in each system's outputs."""

    def ranged(self, index: int, of: int) -> PoolCounts:
        parts = []
        for keys, counts in self.by_system():
            part = key_range(keys, index, of)
            parts.append((keys[part], counts[part]))
        return self.of_systems(parts, self.n_tokens * (index == 0))

    def settled(self) -> FrequencySpectrum:
        return FrequencySpectrum.of_systems([spectrum(counts) for _, counts in self.by_system()], self.n_tokens)


@dataclass(frozen=True, eq=False)
class FrequencySpectrum(SystemTallies):
    """How many n-grams (``counts``) occur once, twice, ... (``keys``) in each system's outputs."""


def spectrum(counts: NDArray[Any]) -> tuple[Keys, Ints]:
    """Return the distinct counts, ascending, and how many n-grams have each.

    Examples
    --------
    >>> [part.tolist() for part in spectrum(np.array([2, 1, 1, 5]))]
    [[1, 2, 5], [2, 1, 1]]
    """
    count, n_ngrams = np.unique(counts, return_counts=True)
    return count.astype(np.uint64), n_ngrams


def pool_counts(ngrams: NumberedNgrams, texts: TextNgrams) -> PoolCounts:
    """Count each n-gram of an order in all outputs of each system."""
    ascending = np.argsort(ngrams.keys)
    parts = []
    for rows in texts.rows:
        counts = frequencies(ngrams, rows)[ascending]
        held = counts > 0
        parts.append((ngrams.keys[ascending[held]], narrow(counts[held])))
    return PoolCounts.of_systems(parts, texts.length[texts.rows].sum(axis=1))


class PoolMetric(Metric):
    """A metric over a system's outputs as one pool: how diverse they are, not how good."""

    group: ClassVar[str] = "text"
    needs_references: ClassVar[bool] = False
    judges_quality: ClassVar[bool] = False
    pools: ClassVar[bool] = True


@dataclass(frozen=True)
class SpectrumMetric(PoolMetric):
    """A metric that reads how many n-grams of one order occur how often in the pool."""

    order: int = whole(2, low=1, high=4, label="Words of an n-gram", key="order")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")

    def preparation(self) -> TextPreparation:
        return TextPreparation(self.tokenize, self.lowercase, self.order)

    def corpus_state(
        self, prepared: TextNgrams, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> PoolCounts:
        return pool_counts(prepared.orders[self.order - 1], prepared)


def spectrum_statistics(
    texts: TextNgrams,
    order: int,
    row_scores: Floats,
    score: Callable[[Ints, Ints, int], float],
    state: PoolCounts | FrequencySpectrum | None,
) -> PooledStatistics:
    """Return the statistics of a metric that reads how many n-grams occur how often in a pool.

    Parameters
    ----------
    texts : TextNgrams
    order : int
    row_scores : (H,) float
        Of each row alone; NaN if undefined.
    score : callable
        Distinct counts and how many n-grams have each, both (M,), and the tokens of the pool, to its score.
    state : PoolCounts or FrequencySpectrum, optional
        Of the whole corpus, if these texts are a part of it.
    """

    def of_rows(rows: Ints) -> float:
        counts = frequencies(texts.orders[order - 1], rows)
        count, n_ngrams = spectrum(counts[counts > 0])
        return score(count.astype(np.int64), n_ngrams, int(texts.length[rows].sum()))

    def of_whole(whole: FrequencySpectrum) -> Floats:
        systems = zip(whole.by_system(), whole.n_tokens.tolist(), strict=True)
        return np.array([score(count.astype(np.int64), n.astype(np.int64), size) for (count, n), size in systems])

    def pooled(segments: Ints | None) -> Floats:
        if segments is None and state is not None:
            return of_whole(state.settled() if isinstance(state, PoolCounts) else state)
        return np.array([of_rows(rows) for rows in texts.rows_of(segments)], dtype=np.float64)

    return pooled_statistics(row_scores[texts.rows], pooled, means=False)
