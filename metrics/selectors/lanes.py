"""Where the lines under a hypothesis run: one under each matched word, one per longer n-gram, none over another."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from metrics.selectors.ngrams import Ngram


class Bar(NamedTuple):
    """A stretch of the line under an n-gram of two words or more."""

    lane: int
    ngram: Ngram
    begins: bool
    ends: bool
    counted: bool


@dataclass
class Token:
    """One token of a hypothesis with what is drawn beneath it and beneath the space after it."""

    text: str
    unigram: Ngram | None
    counted: bool  # one of the copies that count
    rtl: bool = False  # read from right to left, so a bracket that begins here opens on its right
    bars: list[Bar] = field(default_factory=list)
    bars_after: list[Bar] = field(default_factory=list)


def drawn(texts: Sequence[str], ngrams: Sequence[Ngram]) -> tuple[list[Token], int]:
    """Tokens with the lines beneath them. Each order has lanes of its own; what overlaps lies in different ones."""
    unigrams = {start: ngram for ngram in ngrams if ngram.order == 1 for start in ngram.part.positions}
    tokens = [
        Token(text, unigrams.get(place), place in unigrams and _is_counted(unigrams[place], place))
        for place, text in enumerate(texts)
    ]
    _direct(tokens)
    first_lane = 0
    for order in sorted({ngram.order for ngram in ngrams} - {1}):
        occurrences = sorted(
            ((start, ngram) for ngram in ngrams if ngram.order == order for start in ngram.part.positions),
            key=lambda found: found[0],
        )
        free_from: list[int] = []  # of each lane: the first token that nothing covers yet
        for start, ngram in occurrences:
            lane = next((place for place, free in enumerate(free_from) if free <= start), len(free_from))
            free_from[lane:] = [start + order] if lane == len(free_from) else [start + order, *free_from[lane + 1 :]]
            _draw(tokens, start, ngram, first_lane + lane)
        first_lane += len(free_from)
    return tokens, first_lane


def _draw(tokens: Sequence[Token], start: int, ngram: Ngram, lane: int) -> None:
    last = start + ngram.order - 1
    counted = _is_counted(ngram, start)
    for place in range(start, last + 1):
        tokens[place].bars.append(Bar(lane, ngram, place == start, place == last, counted))
        if place < last:
            tokens[place].bars_after.append(Bar(lane, ngram, False, False, counted))


def _direct(tokens: Sequence[Token]) -> None:
    """Each token its own letters' direction; one without letters has that of the text, which its first letter sets."""
    own = [next(filter(None, map(_direction, token.text)), "") for token in tokens]
    text = next(filter(None, own), "ltr")
    for token, direction in zip(tokens, own, strict=True):
        token.rtl = (direction or text) == "rtl"


def _direction(character: str) -> str:
    return {"L": "ltr", "R": "rtl", "AL": "rtl"}.get(unicodedata.bidirectional(character), "")


def _is_counted(ngram: Ngram, start: int) -> bool:
    """Of several copies the first ones count, as many as the winner's count allows."""
    return ngram.part.positions.index(start) < ngram.clipped
