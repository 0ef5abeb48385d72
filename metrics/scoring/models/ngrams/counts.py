"""Counts of sequences of words in a corpus of any size: counted in parts, merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, islice, repeat

import numpy as np

from metrics.scoring.arrays import Bools, Ids, Ints
from metrics.scoring.texts import Tokens

Progress = Callable[[int], None]

UNKNOWN, START, END = "<unk>", "<s>", "</s>"
UNKNOWN_ID, START_ID, END_ID = 0, 1, 2
SPECIAL = (UNKNOWN, START, END)
# Follows the end of a sentence, so that a sequence starts at every word; sorts before all words.
_NOTHING = -1

_SENTENCES_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct sequences of one length in lexical order.

    Attributes
    ----------
    rows : (m, n) int32
        Word numbers.
    counts : (m,) int64
    parent : (m,) int64
        Index, in the table of length n - 1, of the sequence without its last word.
    """

    rows: Ids
    counts: Ints
    parent: Ints


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of sequences of 1 to N words, each sentence between <s> and </s>.

    Attributes
    ----------
    words : list of str
        <unk>, <s>, </s>, and the words of the corpus, sorted; a word's number is its index.
    tables : list of N Table
    n_sentences : int
    """

    words: list[str]
    tables: list[Table]
    n_sentences: int


def count_ngrams(sentences: Iterable[Tokens], order: int, progress: Progress | None = None) -> NgramCounts:
    """Count sequences of up to ``order`` words.

    Parameters
    ----------
    sentences : iterable of token sequences
        Read once, in parts: memory holds distinct sequences, not the corpus. <s> and </s> in a sentence count as <unk>.
    order : int
        N.
    progress : callable, optional
        Called with the number of sentences read so far.
    """
    number: dict[str, int] = {word: index for index, word in enumerate(SPECIAL)}
    reserved = {START: UNKNOWN_ID, END: UNKNOWN_ID}
    merged: list[tuple[Ids, Ints]] = []
    n_sentences = 0
    rest = iter(sentences)
    while batch := list(islice(rest, _SENTENCES_AT_ONCE)):
        for word in dict.fromkeys(chain.from_iterable(batch)):
            number.setdefault(word, len(number))
        merged.append(_distinct(_windows(batch, order, number, reserved)))
        # Each part is more than twice the next, so that a row is merged a few times only.
        while len(merged) > 1 and len(merged[-1][0]) * 2 >= len(merged[-2][0]):
            merged.append(_merged(merged.pop(), merged.pop()))
        n_sentences += len(batch)
        if progress is not None:
            progress(n_sentences)
    while len(merged) > 1:
        merged.append(_merged(merged.pop(), merged.pop()))
    words = [*SPECIAL, *sorted(word for word in number if word not in SPECIAL)]
    if not merged:
        return NgramCounts(words, [_empty(n) for n in range(1, order + 1)], 0)
    renumbered = np.full(len(words) + 1, _NOTHING, dtype=np.int32)  # the last one is at index -1
    renumbered[[number[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    rows, counts = merged[0]
    return NgramCounts(words, _tables(*_distinct(renumbered[rows], counts)), n_sentences)


def _windows(sentences: list[Tokens], order: int, number: dict[str, int], reserved: dict[str, int]) -> Ids:
    """Return the sequence of N words from each word of the sentences on."""
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    numbers = {**number, **reserved}
    flat = np.fromiter(
        map(numbers.__getitem__, chain.from_iterable(sentences)), dtype=np.int32, count=int(lengths.sum())
    )
    stream = bounded(flat, lengths, order - 1)
    windows = np.lib.stride_tricks.sliding_window_view(np.append(stream, [_NOTHING] * order).astype(np.int32), order)
    return np.asarray(windows[windows[:, 0] != _NOTHING])


def bounded(flat: Ids, lengths: Ints, gap: int = 0) -> Ids:
    """Join sentences, each as <s> words </s> and ``gap`` times nothing."""
    ends = np.cumsum(lengths + 2 + gap)
    starts = ends - (lengths + 2 + gap)
    stream = np.full(int(ends[-1]) if ends.size else 0, _NOTHING, dtype=np.int32)
    stream[starts] = START_ID
    stream[starts + lengths + 1] = END_ID
    word = np.arange(flat.size) + np.repeat(starts + 1 - (np.cumsum(lengths) - lengths), lengths)
    stream[word] = flat
    return stream


def word_numbers(sentences: list[Tokens], index: dict[str, int]) -> tuple[Ids, Ints]:
    """Return the numbers of words, sentence after sentence, that of <unk> for unknown ones; and the lengths."""
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    numbers = map(index.get, chain.from_iterable(sentences), repeat(UNKNOWN_ID))
    return np.fromiter(numbers, dtype=np.int32, count=int(lengths.sum())), lengths


def _distinct(rows: Ids, counts: Ints | None = None) -> tuple[Ids, Ints]:
    """Return the distinct rows in lexical order, and how often each occurs."""
    order = np.lexsort(rows.T[::-1])
    rows = rows[order]
    first = np.flatnonzero(_starts(rows, rows.shape[1]))
    weights = np.ones(len(rows), dtype=np.int64) if counts is None else counts[order]
    return rows[first], np.add.reduceat(weights, first)


def _merged(left: tuple[Ids, Ints], right: tuple[Ids, Ints]) -> tuple[Ids, Ints]:
    return _distinct(np.concatenate([left[0], right[0]]), np.concatenate([left[1], right[1]]))


def _starts(rows: Ids, width: int) -> Bools:
    """Return whether a row's first ``width`` columns differ from those of the row before."""
    starts = np.ones(len(rows), dtype=np.bool_)
    starts[1:] = (rows[1:, :width] != rows[:-1, :width]).any(axis=1)
    return starts


def _tables(rows: Ids, counts: Ints) -> list[Table]:
    """Return the tables of all lengths: a shorter sequence occurs as often as those that begin with it."""
    tables = []
    above = np.zeros(len(rows), dtype=np.int64)  # for each row the index of its first n - 1 words
    for n in range(1, rows.shape[1] + 1):
        real = rows[:, n - 1] != _NOTHING
        rows, counts, above = rows[real], counts[real], above[real]
        starts = _starts(rows, n)
        first = np.flatnonzero(starts)
        tables.append(Table(np.ascontiguousarray(rows[first, :n]), np.add.reduceat(counts, first), above[first]))
        above = np.cumsum(starts) - 1
    return tables


def _empty(n: int) -> Table:
    nothing = np.zeros(0, dtype=np.int64)
    return Table(np.zeros((0, n), dtype=np.int32), nothing, nothing)
