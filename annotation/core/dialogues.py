"""Dialogues as responses: a list of turns, each with its speaker and text, and the plain text that joins them."""

from collections.abc import Mapping, Sequence
from typing import Any

Turns = Sequence[Mapping[str, str]]

USER, SYSTEM = "user", "system"
SPEAKERS = (USER, SYSTEM)
TURN_FIELDS = ("speaker", "text")
MOST_TURNS = 100
EXAMPLE = '[{"speaker": "user", "text": "Hi"}, {"speaker": "system", "text": "Hello!"}]'


def joined(turns: Turns) -> str:
    """Return the plain text of a dialogue, a line for each turn.

    >>> joined([{"speaker": "user", "text": "Hi"}, {"speaker": "system", "text": "Hello!"}])
    'user: Hi\\nsystem: Hello!'
    """
    return "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns)


def rated_turns(turns: Turns | None) -> list[int]:
    """Return the places, from 0, of the turns that are rated turn by turn: those of the system."""
    return [place for place, turn in enumerate(turns or ()) if turn["speaker"] == SYSTEM]


def speakers_of(turns: Turns | None) -> list[str]:
    """Return who speaks, turn by turn; nothing for a response that is no dialogue."""
    return [turn["speaker"] for turn in turns or ()]


def with_texts(turns: Turns, texts: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return the turns, with other texts at some places."""
    return [{**turn, "text": texts.get(place, turn["text"])} for place, turn in enumerate(turns)]
