"""The lines under a hypothesis: one under each matched word and one per longer n-gram, without overlaps."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from metrics.selectors.ngrams import Ngram


class Bar(NamedTuple):
    """The part of a longer n-gram's line that is under one token."""

    lane: int
    ngram: Ngram
    begins: bool
    ends: bool
    counted: bool


@dataclass
class Token:
    """A token of a hypothesis with the lines under it and under the space after it."""

    text: str
    unigram: Ngram | None
    counted: bool  # one of the copies that count
    rtl: bool = False  # read from right to left: a line that begins here begins on its right
    bars: list[Bar] = field(default_factory=list)
    bars_after: list[Bar] = field(default_factory=list)


def with_lines(texts: Sequence[str], ngrams: Sequence[Ngram]) -> tuple[list[Token], int]:
    """Return tokens with the lines under them, and the number of lanes. Overlapping lines have different lanes."""
    unigrams = {start: ngram for ngram in ngrams if ngram.part.order == 1 for start in ngram.part.positions}
    tokens = [
        Token(text, unigrams.get(i), i in unigrams and _is_counted(unigrams[i], i)) for i, text in enumerate(texts)
    ]
    _set_directions(tokens)
    first_lane = 0
    for order in sorted({ngram.part.order for ngram in ngrams} - {1}):
        occurrences = sorted(
            ((start, ngram) for ngram in ngrams if ngram.part.order == order for start in ngram.part.positions),
            key=itemgetter(0),
        )
        free_from: list[int] = []  # for each lane the first free token
        for start, ngram in occurrences:
            lane = next((i for i, free in enumerate(free_from) if free <= start), len(free_from))
            free_from[lane:] = [start + order] if lane == len(free_from) else [start + order, *free_from[lane + 1 :]]
            _draw(tokens, start, ngram, first_lane + lane)
        first_lane += len(free_from)
    return tokens, first_lane


def _draw(tokens: Sequence[Token], start: int, ngram: Ngram, lane: int) -> None:
    last = start + ngram.part.order - 1
    counted = _is_counted(ngram, start)
    for i in range(start, last + 1):
        tokens[i].bars.append(Bar(lane, ngram, i == start, i == last, counted))
        if i < last:
            tokens[i].bars_after.append(Bar(lane, ngram, False, False, counted))


def _set_directions(tokens: Sequence[Token]) -> None:
    """Set each token's direction to that of its letters; without letters to that of the text's first letter."""
    directions = [next(filter(None, map(_direction, token.text)), "") for token in tokens]
    default = next(filter(None, directions), "ltr")
    for token, direction in zip(tokens, directions, strict=True):
        token.rtl = (direction or default) == "rtl"


def _direction(character: str) -> str:
    return {"L": "ltr", "R": "rtl", "AL": "rtl"}.get(unicodedata.bidirectional(character), "")


def _is_counted(ngram: Ngram, start: int) -> bool:
    """Return whether this copy counts: the first ones do, as many as the winner's count allows."""
    return ngram.part.positions.index(start) < ngram.part.clipped
