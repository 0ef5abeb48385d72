"""Words and their rows of a matrix, in sorted arrays that can stay on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.arrays import Bools, Ints
from metrics.scoring.tallies import hash_words
from metrics.scoring.texts import encoded

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class WordTable:
    """n distinct words in the order of their rows.

    Attributes
    ----------
    letters : uint8
        UTF-8 of all words, laid end to end.
    offsets : (n + 1,) int
        Where each word starts and ends in ``letters``.
    hashes : (n,) uint64
        64-bit hashes of the words, ascending.
    rows : (n,) int
        The row of each hash.

    Examples
    --------
    >>> table = make_table([b"to", b"be", b"not"])
    >>> table.find(["not", "or", "to"]).tolist(), table.word(1)
    ([2, -1, 0], 'be')
    """

    letters: Bytes
    offsets: Ints
    hashes: NDArray[np.uint64]
    rows: Ints

    def __len__(self) -> int:
        return int(self.rows.size)

    def word(self, row: int) -> str:
        return self._bytes(row).decode("utf-8", errors="replace")

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row (k,) of each word; -1 if it is unknown."""
        result = np.full(len(words), -1, dtype=np.int64)
        if not len(self) or not len(words):
            return result
        utf8 = list(map(encoded, words))
        hashes = hash_words(utf8)
        positions = np.searchsorted(self.hashes, hashes)
        likely = np.flatnonzero(self.hashes[np.minimum(positions, len(self) - 1)] == hashes)
        rows = self.rows[positions[likely]]
        same = self._are(rows, [utf8[index] for index in likely.tolist()])
        result[likely[same]] = rows[same]
        for index in likely[~same].tolist():
            result[index] = self._row(int(positions[index]), hashes[index], utf8[index])
        return result

    def _are(self, rows: Ints, words: list[bytes]) -> Bools:
        """Return whether the words of these rows are these, letter by letter."""
        first, lengths = self.offsets[rows], np.array([len(word) for word in words], dtype=np.int64)
        same = self.offsets[rows + 1] - first == lengths
        lengths, chosen = lengths[same], [word for word, fits in zip(words, same.tolist(), strict=True) if fits]
        starts = np.cumsum(lengths) - lengths
        letters = np.arange(int(lengths.sum())) + np.repeat(first[same] - starts, lengths)
        differs = self.letters[letters] != np.frombuffer(b"".join(chosen), dtype=np.uint8)
        wrong = np.bincount(np.repeat(np.arange(lengths.size), lengths)[differs], minlength=lengths.size)
        same[np.flatnonzero(same)[wrong > 0]] = False
        return np.asarray(same, dtype=np.bool_)

    def _row(self, position: int, word_hash: np.uint64, word: bytes) -> int:
        """Return the row of a word that shares its hash with another one, from the first position of this hash."""
        while position < len(self) and self.hashes[position] == word_hash:
            row = int(self.rows[position])
            if self._bytes(row) == word:
                return row
            position += 1
        return -1

    def _bytes(self, row: int) -> bytes:
        return self.letters[self.offsets[row] : self.offsets[row + 1]].tobytes()


def make_table(words: Iterable[bytes]) -> WordTable:
    """Return the table of distinct words, in this order."""
    words = list(words)
    letters = np.frombuffer(b"".join(words), dtype=np.uint8)
    hashes = hash_words(words)
    order = np.argsort(hashes, kind="stable")
    return WordTable(letters, offsets_of([len(word) for word in words]), hashes[order], order)


def offsets_of(lengths: Any) -> Ints:
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64))))


def first_occurrences(letters: Bytes, offsets: Ints, hashes: NDArray[np.uint64]) -> Bools:
    """Return whether each word (n,) is its first occurrence; words with equal hashes are compared by their letters."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.ones(hashes.size, dtype=np.bool_)
    alike = np.flatnonzero(ordered[1:] == ordered[:-1])
    seen: set[bytes] = set()
    for row in np.unique(np.concatenate([order[alike], order[alike + 1]])).tolist():
        word = letters[offsets[row] : offsets[row + 1]].tobytes()
        first[row] = word not in seen
        seen.add(word)
    return first
