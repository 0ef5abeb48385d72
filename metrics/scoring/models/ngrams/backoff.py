"""N-gram probabilities that back off, as sorted arrays: looked up for millions of words at once."""

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

    A sequence is known by its place in the table of its length. Its key is the place of all but its last word, times
    the size of the vocabulary, plus its last word; keys are sorted. All logarithms are of base 10, as in ARPA files.

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
        """(m, n) the words of every sequence of length n."""
        if n == 1:
            return np.arange(self.n_words, dtype=np.int32)[:, None]
        parent, word = np.divmod(self.keys[n - 2], self.n_words)
        return np.concatenate([self.rows(n - 1)[parent], word[:, None].astype(np.int32)], axis=1)

    def parents(self, n: int) -> Ints:
        """(m,) place of all words but the last of every sequence of length n >= 2."""
        return np.asarray(self.keys[n - 2] // self.n_words)

    def follow(self, n: int, parent: Ints, word: Ids) -> Ints:
        """Places of sequences of length n: a parent's place, or -1, and the word after it; -1 for what is not there."""
        keys = self.keys[n - 2]
        wanted = np.where(parent >= 0, parent * self.n_words + word, -1)
        if not keys.size:
            return np.full(wanted.shape, -1)
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[place] == wanted, place, -1)

    def find(self, rows: Ids) -> Ints:
        """(m,) places of the sequences (m, n), -1 for those that are not there."""
        place: Ints = rows[:, 0].astype(np.int64)
        for column in range(1, rows.shape[1]):
            place = self.follow(column + 1, place, rows[:, column])
        return place

    def step(self, n: int, shorter: Floats, history: Ints, place: Ints) -> Floats:
        """log p given n - 1 words, from log p given one less: what is listed, or that times the history's weight."""
        weight = _taken(self.weights[n - 2], history, 0.0)
        return np.where(place >= 0, _taken(self.logs[n - 1], place, 0.0), shorter + weight)

    def last(self, rows: Ids) -> Floats:
        """(m,) log p(last word | all words before it) of the sequences (m, n)."""
        width = rows.shape[1]
        found = self.logs[0][rows[:, -1]]
        for n in range(2, width + 1):
            history = self.find(rows[:, width - n : width - 1])
            found = self.step(n, found, history, self.follow(n, history, rows[:, -1]))
        return found

    def sentences(self, stream: Ids, orders: Iterable[int]) -> dict[int, Floats]:
        """(n,) log p of each sentence, </s> included and <s> not, with histories of up to each order less one word.

        ``stream`` holds the sentences one after the other, each between <s> and </s>.
        """
        starts = np.flatnonzero(stream == START_ID)
        wanted = set(orders)
        found = {}
        for n, _, logs in self.steps(stream, max(wanted, default=1)):
            if n in wanted:
                found[n] = np.add.reduceat(np.where(stream == START_ID, 0.0, logs), starts) if starts.size else logs
        return found

    def steps(self, stream: Ids, order: int) -> Iterator[tuple[int, Ints, Floats]]:
        """Length by length, the sequences that end in each word of a stream as for `sentences`.

        Yields n from 1 to ``order``, (m,) places of those of length n, -1 where there is none, and (m,) log p of each
        word with histories of up to n - 1 words.
        """
        place: Ints = stream.astype(np.int64)
        logs = self.logs[0][stream]
        yield 1, place, logs
        for n in range(2, order + 1):
            # Nothing follows </s>, so no sequence crosses sentences.
            history = np.concatenate([[-1], place[:-1]])
            place = self.follow(n, history, stream)
            logs = self.step(n, logs, history, place)
            yield n, place, logs

    def context_log(self, rows: Ids) -> Floats:
        """(m,) log p of sequences (m, n) on their own; a sentence's start counts as its end does."""
        first = np.where(rows[:, 0] == START_ID, END_ID, rows[:, 0])
        total = self.logs[0][first]
        for n in range(2, rows.shape[1] + 1):
            total = total + self.last(rows[:, :n])
        return total

    def masses(self, n: int, rows: Ids | None = None) -> tuple[Floats, Floats, Floats]:
        """What sequences of length n leave in each history: of their own probability, and of that of shorter ones.

        Returns
        -------
        left, left_below : (c,) float
            By place of the history; differences of no more than rounding are 0.
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
        """With weights of histories of n - 1 words such that probabilities after each sum to 1."""
        left, left_below, _ = self.masses(n)
        # Where shorter histories leave nothing, what is left would be lost: the listed probabilities take it.
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


def _taken(values: Floats, place: Ints, otherwise: float) -> Floats:
    if not values.size:
        return np.full(place.shape, otherwise)
    return np.where(place >= 0, values[np.maximum(place, 0)], otherwise)


def _settled(taken: ArrayLike) -> Floats:
    """What is left of 1; a difference of rounding, below the bound that denominators keep, is 0."""
    left = 1.0 - np.asarray(taken, dtype=np.float64)
    return np.where(np.abs(left) < EPSILON * (1 - 1e-6), 0.0, left)
