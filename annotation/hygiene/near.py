"""Texts that are almost the same: flagged for people, never removed.

A reference set with ten spellings of one sentence weighs that sentence ten times; its makers decide whether it should.
Every signature names the measure.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from annotation.hygiene.words import LETTER_OR_DIGIT

SHINGLE = 3
MEASURE = "jaccard-char3"


class Near(NamedTuple):
    position: int
    similarity: float


def shingles(text: str) -> frozenset[str]:
    """Return every run of three characters of a text; case, punctuation and spacing do not count.

    The text is normalised (NFKC, case folded, NFKC), what is neither letter, mark nor digit becomes one space, and one
    space is put at each end, so that a word's first and last letters count as such. A text without letters and digits,
    ``:-)``, keeps its characters.

    >>> sorted(shingles("Ok!"))
    [' ok', 'ok ']
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = LETTER_OR_DIGIT.findall(folded) or folded.split()
    padded = f" {' '.join(words)} "
    return frozenset(padded[start : start + SHINGLE] for start in range(max(1, len(padded) - SHINGLE + 1)))


def resemblance(first: frozenset[str], second: frozenset[str]) -> float:
    """Return how much two texts resemble each other: the Jaccard coefficient of their shingles.

    Parameters
    ----------
    first, second : frozenset of str
        From ``shingles``; never empty.

    Returns
    -------
    float
        ``|first ∩ second| / |first ∪ second|``, in [0, 1]; 1 for texts equal but for case, punctuation or spacing.

    References
    ----------
    A. Z. Broder, "On the resemblance and containment of documents", Compression and Complexity of Sequences 1997,
    section 2, there of words; of characters here, because a response has but a few words.

    Examples
    --------
    >>> resemblance(shingles("I missed it."), shingles("i missed it"))
    1.0
    """
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


def nearest(text: frozenset[str], others: Sequence[frozenset[str]], *, threshold: float) -> Near | None:
    """Return the text among ``others`` that ``text`` resembles most, the first of equals; None below ``threshold``.

    >>> nearest(shingles("so what"), [shingles("why"), shingles("So, what?")], threshold=0.9)
    Near(position=1, similarity=1.0)
    """
    all_near = (Near(position, resemblance(text, other)) for position, other in enumerate(others))
    best = max(all_near, key=lambda near: near.similarity, default=None)
    return best if best and best.similarity >= threshold else None
