"""Texts as numbers: one vocabulary for all hypotheses and references of a corpus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from metrics.scoring.arrays import Bools, Ints
from metrics.scoring.pairs import Pairs
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Tokens, tokenize_texts


@dataclass(frozen=True, eq=False)
class TokenIds:
    """K texts as one run of numbers.

    Attributes
    ----------
    ids : (N,) int
        The tokens of all texts, laid end to end.
    starts : (K + 1,) int
        Where each text starts and ends.
    """

    ids: Ints
    starts: Ints

    @property
    def lengths(self) -> Ints:
        """Return the number (K,) of tokens of each text."""
        return np.diff(self.starts)

    def text(self, index: int) -> list[int]:
        return self.ids[self.starts[index] : self.starts[index + 1]].tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class NumberedSegments:
    """The H hypothesis rows and R references of `Segments`, tokenised and numbered.

    Attributes
    ----------
    hypotheses, references : TokenIds
    vocabulary : list of str
        The token of each number.
    rows : (T, S) int
        Hypothesis row of each system's hypothesis.
    row_segment, reference_segment : (H,), (R,) int
    pairs : Pairs
    """

    hypotheses: TokenIds
    references: TokenIds
    vocabulary: list[str]
    rows: Ints
    row_segment: Ints
    reference_segment: Ints
    pairs: Pairs

    def empty_pairs(self) -> Bools:
        """Return whether neither text of each pair (P,) has a token."""
        sizes = self.hypotheses.lengths[self.pairs.row] + self.references.lengths[self.pairs.reference]
        return np.asarray(sizes == 0)


def number_segments(segments: Segments, *, tokenize: str = "none", lowercase: bool = False) -> NumberedSegments:
    """Tokenise each distinct text once and number its tokens.

    Examples
    --------
    >>> numbered = number_segments(Segments([["b a"]], [["a b c", ""]]), tokenize="whitespace")
    >>> numbered.hypotheses.ids.tolist(), numbered.references.ids.tolist(), numbered.references.starts.tolist()
    ([0, 1], [1, 0, 2], [0, 3, 3])
    """
    hypotheses = tokenize_texts(segments.row_texts, tokenize=tokenize, lowercase=lowercase, where=segments.row_name)
    references = tokenize_texts(
        segments.reference_texts, tokenize=tokenize, lowercase=lowercase, where=segments.reference_name
    )
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__

    def numbered(texts: Iterable[Tokens]) -> TokenIds:
        ids, lengths = number_tokens(texts, lambda tokens: map(vocabulary.__getitem__, tokens))
        return TokenIds(ids, np.concatenate(([0], np.cumsum(lengths))))

    return NumberedSegments(
        numbered(hypotheses),
        numbered(references),
        list(vocabulary),
        segments.rows,
        segments.row_segment,
        segments.reference_segment,
        segments.pairs,
    )


def number_tokens(token_lists: Iterable[Tokens], number: Callable[[Iterable[str]], Iterable[int]]) -> tuple[Ints, Ints]:
    """Return the numbers of all tokens laid end to end (N,), and the length of each text (K,)."""
    lengths: list[int] = []

    def measured() -> Iterator[Tokens]:
        for tokens in token_lists:
            lengths.append(len(tokens))
            yield tokens

    ids = np.fromiter(number(chain.from_iterable(measured())), dtype=np.int64)
    return ids, np.array(lengths, dtype=np.int64)
