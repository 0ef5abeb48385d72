"""The n-grams of each hypothesis, numbered: what metrics of the outputs alone count.

An n-gram has one number across systems and segments, so that a system's distinct n-grams, their frequencies, and what
an output shares with the system's other outputs are counts over arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.metric import Floats, Ints, PooledStatistics, Preparation, mean_statistics
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
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
    n_distinct : int
    """

    ids: Ints
    offsets: Ints
    n_distinct: int

    def of_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """Numbers of the n-grams of these rows, one after the other, and for each its place in ``rows``."""
        size = np.diff(self.offsets)[rows]
        place = np.repeat(np.arange(rows.size), size)
        first = np.cumsum(size) - size
        return self.ids[np.arange(place.size) + np.repeat(self.offsets[rows] - first, size)], place


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
        """(T, number of segments) rows of the segments with these indices; all by default."""
        return self.rows if segments is None else self.rows[:, segments]


@dataclass(frozen=True)
class TextPreparation(Preparation):
    """`TextNgrams`: one for all metrics with these tokens, up to the longest order that any of them needs."""

    tokenize: str
    lowercase: bool
    max_order: int

    def joined(self, other: Preparation) -> Preparation | None:
        if not isinstance(other, TextPreparation):
            return None
        if (self.tokenize, self.lowercase) != (other.tokenize, other.lowercase):
            return None
        return replace(self, max_order=max(self.max_order, other.max_order))

    def __call__(self, segments: Segments, models: ModelStore) -> TextNgrams:
        alone = Segments(segments.systems, [[]] * segments.n_segments)
        numbered = number_segments(alone, tokenize=self.tokenize, lowercase=self.lowercase)
        ids, length = numbered.hypotheses.ids, numbered.hypotheses.lengths
        return TextNgrams(numbered.rows, length, _numbered(ids, length, len(numbered.vocabulary), self.max_order))


def _numbered(ids: Ints, length: Ints, n_words: int, max_order: int) -> tuple[NumberedNgrams, ...]:
    """N-grams order by order: an n-gram is its first n - 1 tokens' number and its last token, which keeps it exact."""
    remaining = np.repeat(np.cumsum(length), length) - np.arange(ids.size)
    at, grams, n_distinct = np.arange(ids.size), ids, n_words
    orders = []
    for order in range(1, max_order + 1):
        if order > 1:
            room = remaining[at] >= order
            at = at[room]
            known, grams = np.unique(grams[room] * n_words + ids[at + order - 1], return_inverse=True)
            n_distinct = known.size
        offsets = np.concatenate(([0], np.cumsum(np.maximum(length - order + 1, 0))))
        orders.append(NumberedNgrams(grams, offsets, n_distinct))
    return tuple(orders)


def row_tallies(ngrams: NumberedNgrams, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct (n-gram, place in ``rows``) pairs, ascending, and how often each occurs.

    Examples
    --------
    >>> ngrams = NumberedNgrams(np.array([1, 0, 1, 1]), np.array([0, 3, 4]), 2)
    >>> [part.tolist() for part in row_tallies(ngrams, np.array([0, 1]))]
    [[0, 1, 1], [0, 0, 1], [1, 2, 1]]
    """
    ids, place = ngrams.of_rows(rows)
    keys, counts = np.unique(ids * max(rows.size, 1) + place, return_counts=True)
    gram, place = np.divmod(keys, max(rows.size, 1))
    return gram, place, counts


def by_system(ngrams: TextNgrams, score: Callable[[Ints], float]) -> Callable[[Ints | None], Floats]:
    """The score of each system's rows, over the segments asked for."""

    def pooled(segments: Ints | None) -> Floats:
        return np.array([score(rows) for rows in ngrams.rows_of(segments)], dtype=np.float64)

    return pooled


def pooled_statistics(scores: Floats, pooled: Callable[[Ints | None], Floats]) -> PooledStatistics:
    """Of segment scores (T, S), NaN where there is none, and of the score of a pool of segments."""
    means = mean_statistics(scores)
    return PooledStatistics(means.packed, means.valid, means.sentence_scores, means.aggregate, pooled)


def frequencies(ngrams: NumberedNgrams, rows: Ints) -> NDArray[np.int64]:
    """(n_distinct,) how often each n-gram occurs in these rows."""
    return np.bincount(ngrams.of_rows(rows)[0], minlength=ngrams.n_distinct)
