"""N-gram probabilities that back off, as sorted arrays: looked up for millions of words together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats, Ids, Ints
from metrics.scoring.models.ngrams.counts import END_ID, START_ID
from metrics.scoring.models.ngrams.good_turing import EPSILON


@dataclass(frozen=True, eq=False)
class Backoff:
    """A back-off model over numbered words.

    A sequence is identified by its index in the table of its length. Its key is the index of all but its last word,
    times the size of the vocabulary, plus its last word; keys are sorted. Logarithms are of base 10, as in ARPA files.

    Attributes
    ----------
    n_words : int
        V, with <unk>, <s> and </s>.
    keys : N - 1 int64 arrays
        Of sequences of 2 to N words.
    logs : N float64 arrays
        log p(last word | words before).
    weights : N - 1 float64 arrays
        Logarithm of the back-off weight of sequences of 1 to N - 1 words.
    """

    n_words: int
    keys: tuple[Ints, ...]
    logs: tuple[Floats, ...]
    weights: tuple[Floats, ...]

    @property
    def order(self) -> int:
        return len(self.logs)

    def rows(self, n: int) -> Ids:
        """Return the words (m, n) of all sequences of length n."""
        if n == 1:
            return np.arange(self.n_words, dtype=np.int32)[:, None]
        parent, word = np.divmod(self.keys[n - 2], self.n_words)
        return np.concatenate([self.rows(n - 1)[parent], word[:, None].astype(np.int32)], axis=1)

    def parents(self, n: int) -> Ints:
        """Return the index (m,) of all words but the last of all sequences of length n >= 2."""
        return np.asarray(self.keys[n - 2] // self.n_words)

    def follow(self, n: int, parent: Ints, word: Ids) -> Ints:
        """Return the indices of sequences of length n, given a parent's index, or -1, and a word; -1 if unlisted."""
        keys = self.keys[n - 2]
        requested = np.where(parent >= 0, parent * self.n_words + word, -1)
        if not keys.size:
            return np.full(requested.shape, -1)
        index = np.minimum(np.searchsorted(keys, requested), keys.size - 1)
        return np.where(keys[index] == requested, index, -1)

    def find(self, rows: Ids) -> Ints:
        """Return the indices (m,) of sequences (m, n); -1 if unlisted."""
        index: Ints = rows[:, 0].astype(np.int64)
        for column in range(1, rows.shape[1]):
            index = self.follow(column + 1, index, rows[:, column])
        return index

    def step(self, n: int, shorter: Floats, history: Ints, index: Ints) -> Floats:
        """Return log p given n - 1 words: the listed one, or log p given one word less plus the history's weight."""
        weight = _taken(self.weights[n - 2], history)
        return np.where(index >= 0, _taken(self.logs[n - 1], index), shorter + weight)

    def last(self, rows: Ids) -> Floats:
        """Return log p(last word | all words before it) (m,) of sequences (m, n)."""
        width = rows.shape[1]
        logs = self.logs[0][rows[:, -1]]
        for n in range(2, width + 1):
            history = self.find(rows[:, width - n : width - 1])
            logs = self.step(n, logs, history, self.follow(n, history, rows[:, -1]))
        return logs

    def sentences(self, stream: Ids, orders: Iterable[int]) -> dict[int, Floats]:
        """Return log p (n,) of each sentence, with </s> and without <s>, with histories of up to each order less one.

        ``stream`` holds the sentences one after the other, each between <s> and </s>.
        """
        starts = np.flatnonzero(stream == START_ID)
        requested = set(orders)
        totals = {}
        for n, _, logs in self.steps(stream, max(requested, default=1)):
            if n in requested:
                totals[n] = np.add.reduceat(np.where(stream == START_ID, 0.0, logs), starts) if starts.size else logs
        return totals

    def steps(self, stream: Ids, order: int) -> Iterator[tuple[int, Ints, Floats]]:
        """Iterate over lengths of the sequences that end in each word of a stream as for `sentences`.

        Yields n from 1 to ``order``, the indices (m,) of those of length n, -1 if unlisted, and log p (m,) of each word
        with histories of up to n - 1 words.
        """
        index: Ints = stream.astype(np.int64)
        logs = self.logs[0][stream]
        yield 1, index, logs
        for n in range(2, order + 1):
            # Nothing follows </s>, so no sequence crosses sentences.
            history = np.concatenate([[-1], index[:-1]])
            index = self.follow(n, history, stream)
            logs = self.step(n, logs, history, index)
            yield n, index, logs

    def context_log(self, rows: Ids) -> Floats:
        """Return log p (m,) of sequences (m, n) without context; a sentence's start counts like its end."""
        first = np.where(rows[:, 0] == START_ID, END_ID, rows[:, 0])
        total = self.logs[0][first]
        for n in range(2, rows.shape[1] + 1):
            total = total + self.last(rows[:, :n])
        return total

    def masses(self, n: int, rows: Ids | None = None) -> tuple[Floats, Floats, Floats]:
        """Return the probability that sequences of length n leave in each history, and that shorter ones leave.

        Returns
        -------
        left, left_below : (c,) float
            By index of the history; differences of rounding are 0.
        below : (m,) float
            p(last word | shorter history) of each sequence.
        """
        parent = self.parents(n)
        below = 10.0 ** self.last((self.rows(n) if rows is None else rows)[:, 1:])
        size = self.logs[n - 2].size
        left = _settled(np.bincount(parent, weights=10.0 ** self.logs[n - 1], minlength=size))
        left_below = _settled(np.bincount(parent, weights=below, minlength=size))
        return left, left_below, below

    def normalised(self, n: int) -> Backoff:
        """Return it with weights of histories of n - 1 words such that probabilities after each sum to 1."""
        left, left_below, _ = self.masses(n)
        # If shorter histories leave nothing, the rest would be lost: the listed probabilities take it.
        lost = (left_below == 0) & (left > 0)
        scale = np.where(lost, -np.log10(np.where(lost, 1.0 - left, 1.0)), 0.0)
        both = (left > 0) & (left_below > 0)
        weight = np.where(both, np.log10(np.where(both, left, 1.0)) - np.log10(np.where(both, left_below, 1.0)), 0.0)
        weight = np.where((left <= 0) & (left_below > 0), -np.inf, weight)
        logs = list(self.logs)
        logs[n - 1] = logs[n - 1] + scale[self.parents(n)]
        weights = list(self.weights)
        weights[n - 2] = weight
        return Backoff(self.n_words, self.keys, tuple(logs), tuple(weights))


def _taken(values: Floats, index: Ints) -> Floats:
    """Return the values at these indices, 0 for -1."""
    return np.where(index >= 0, values[np.maximum(index, 0)], 0.0) if values.size else np.zeros(index.shape)


def _settled(taken: ArrayLike) -> Floats:
    """Return the rest to 1; a difference of rounding, below the bound of denominators, is 0."""
    left = 1.0 - np.asarray(taken, dtype=np.float64)
    return np.where(np.abs(left) < EPSILON * (1 - 1e-6), 0.0, left)
