"""How often each sequence of words occurs in a corpus that need not fit into memory: counted in parts, merged."""

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
# Stands behind the end of a sentence, so that a sequence starts at every word: below all words, in order.
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
        Place, in the table of length n - 1, of the sequence without its last word.
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
        <unk>, <s>, </s>, and the words seen, sorted; a word's number is its place.
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
        Told how many sentences have been read.
    """
    number: dict[str, int] = {word: place for place, word in enumerate(SPECIAL)}
    reserved = {START: UNKNOWN_ID, END: UNKNOWN_ID}
    merged: list[tuple[Ids, Ints]] = []
    n_sentences = 0
    rest = iter(sentences)
    while some := list(islice(rest, _SENTENCES_AT_ONCE)):
        for word in dict.fromkeys(chain.from_iterable(some)):
            number.setdefault(word, len(number))
        merged.append(_distinct(_windows(some, order, number, reserved)))
        # As in a counter's digits, each part is more than twice the next: a row is merged a few times only.
        while len(merged) > 1 and len(merged[-1][0]) * 2 >= len(merged[-2][0]):
            merged.append(_merged(merged.pop(), merged.pop()))
        n_sentences += len(some)
        if progress is not None:
            progress(n_sentences)
    while len(merged) > 1:
        merged.append(_merged(merged.pop(), merged.pop()))
    words = [*SPECIAL, *sorted(word for word in number if word not in SPECIAL)]
    if not merged:
        return NgramCounts(words, [_empty(n) for n in range(1, order + 1)], 0)
    place = np.full(len(words) + 1, _NOTHING, dtype=np.int32)  # the last one is what -1 finds
    place[[number[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    rows, counts = merged[0]
    return NgramCounts(words, _tables(*_distinct(place[rows], counts)), n_sentences)


def _windows(sentences: list[Tokens], order: int, number: dict[str, int], reserved: dict[str, int]) -> Ids:
    """The sequence of N words from each word of the sentences on."""
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    seen = {**number, **reserved}
    flat = np.fromiter(map(seen.__getitem__, chain.from_iterable(sentences)), dtype=np.int32, count=int(lengths.sum()))
    stream = bounded(flat, lengths, order - 1)
    windows = np.lib.stride_tricks.sliding_window_view(np.append(stream, [_NOTHING] * order).astype(np.int32), order)
    found: Ids = windows[windows[:, 0] != _NOTHING]
    return found


def bounded(flat: Ids, lengths: Ints, gap: int = 0) -> Ids:
    """Sentences one after the other, each as <s> words </s> and ``gap`` times nothing."""
    ends = np.cumsum(lengths + 2 + gap)
    starts = ends - (lengths + 2 + gap)
    stream = np.full(int(ends[-1]) if ends.size else 0, _NOTHING, dtype=np.int32)
    stream[starts] = START_ID
    stream[starts + lengths + 1] = END_ID
    word = np.arange(flat.size) + np.repeat(starts + 1 - (np.cumsum(lengths) - lengths), lengths)
    stream[word] = flat
    return stream


def word_numbers(sentences: list[Tokens], index: dict[str, int]) -> tuple[Ids, Ints]:
    """Known words' numbers, one sentence after the other, <unk>'s for others; and the sentences' lengths."""
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    numbers = map(index.get, chain.from_iterable(sentences), repeat(UNKNOWN_ID))
    return np.fromiter(numbers, dtype=np.int32, count=int(lengths.sum())), lengths


def _distinct(rows: Ids, counts: Ints | None = None) -> tuple[Ids, Ints]:
    """Distinct rows in lexical order, and how often each is there."""
    order = np.lexsort(rows.T[::-1])
    rows = rows[order]
    first = np.flatnonzero(_starts(rows, rows.shape[1]))
    weights = np.ones(len(rows), dtype=np.int64) if counts is None else counts[order]
    return rows[first], np.add.reduceat(weights, first)


def _merged(one: tuple[Ids, Ints], other: tuple[Ids, Ints]) -> tuple[Ids, Ints]:
    return _distinct(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))


def _starts(rows: Ids, width: int) -> Bools:
    """Whether a row's first ``width`` columns differ from those of the row before; rows are in lexical order."""
    starts = np.ones(len(rows), dtype=np.bool_)
    starts[1:] = (rows[1:, :width] != rows[:-1, :width]).any(axis=1)
    return starts


def _tables(rows: Ids, counts: Ints) -> list[Table]:
    """Every length from the longest: a shorter sequence occurs as often as those that begin with it."""
    tables = []
    above = np.zeros(len(rows), dtype=np.int64)  # of each row, the place of its first n - 1 words
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
