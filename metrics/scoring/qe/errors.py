"""Synthetic errors: copies of an output with words removed, doubled, added or replaced.

References
----------
Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017, section 3.3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from metrics.scoring.arrays import Floats
from metrics.scoring.qe.inputs import Words

KINDS = ("remove", "duplicate", "duplicate elsewhere", "insert", "replace")

_FUNCTION = re.compile(r"(?:the|an?|[^\w]+)")
_WORD = re.compile(r"\w")
_TRIALS = 20


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Words of the training outputs, sorted, each with the probability by which an error draws it."""

    words: Sequence[str]
    probabilities: Floats

    @classmethod
    def of(cls, outputs: Iterable[Words]) -> Dictionary:
        """Count the words of outputs; a word is drawn in proportion to its count and one more."""
        counts = Counter(word for output in outputs for word in output)
        words = sorted(counts)
        sizes = np.array([counts[word] + 1 for word in words], dtype=np.float64)
        return cls(words, sizes / sizes.sum())

    def other_than(self, word: str, rng: np.random.Generator) -> str:
        """Draw a word that differs from this one, if there is any."""
        for _ in range(_TRIALS):
            drawn = self.words[int(rng.choice(len(self.words), p=self.probabilities))]
            if drawn != word:
                return drawn
        return next((other for other in self.words if other != word), word)


def is_protected(word: str) -> bool:
    """Return whether errors spare a word, an article or punctuation, while others are there.

    Examples
    --------
    >>> [is_protected(word) for word in ("the", "a", ",", "cheap", "X-name")]
    [True, True, True, False, False]
    """
    return _FUNCTION.fullmatch(word) is not None


def with_errors(words: Words, count: int, dictionary: Dictionary, rng: np.random.Generator) -> Words:
    """Return an output with this many errors, one put in after the other; each of a kind drawn at random.

    The last word is never removed. Errors that undo each other are drawn again.

    Raises
    ------
    ValueError
        The output has no words.
    """
    if not words:
        raise ValueError("output: found no words; accepted: one or more")
    changed = words
    for _ in range(_TRIALS):
        changed = words
        for _ in range(count):
            changed = _with_error(changed, dictionary, rng)
        if changed != words:
            break
    return changed


def _with_error(words: Words, dictionary: Dictionary, rng: np.random.Generator) -> Words:
    content = [at for at, word in enumerate(words) if not is_protected(word)]
    at = int(rng.choice(content)) if content else int(rng.integers(len(words)))
    word = words[at]
    is_last = len(words) == 1 or (_is_word(word) and sum(map(_is_word, words)) == 1)
    kinds = KINDS[1:] if is_last else KINDS
    match kinds[int(rng.integers(len(kinds)))]:
        case "remove":
            return words[:at] + words[at + 1 :]
        case "duplicate":
            return (*words[:at], word, *words[at:])
        case "duplicate elsewhere":
            return _inserted(words, word, [to for to in range(len(words) + 1) if to not in (at, at + 1)], rng)
        case "insert":
            return _inserted(words, dictionary.other_than(word, rng), [], rng)
        case _:
            return (*words[:at], dictionary.other_than(word, rng), *words[at + 1 :])


def _inserted(words: Words, word: str, places: Sequence[int], rng: np.random.Generator) -> Words:
    """Insert a word before one of these indices, by default any."""
    to = int(rng.choice(places)) if places else int(rng.integers(len(words) + 1))
    return (*words[:to], word, *words[to:])


def _is_word(word: str) -> bool:
    return _WORD.search(word) is not None
