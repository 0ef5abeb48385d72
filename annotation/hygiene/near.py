"""Texts that are almost the same: flagged for people, never taken out.

A reference set with ten spellings of one sentence weighs that sentence ten times; whether it should is for its makers
to say. The measure is named in every signature, so another one can stand beside it.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from annotation.hygiene.words import LETTER_OR_DIGIT

SHINGLE = 3
MEASURE = "jaccard-char3"


class Near(NamedTuple):
    place: int
    similarity: float


def shingles(text: str) -> frozenset[str]:
    """Every run of three characters of a text; case, punctuation and spacing do not count.

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


def resemblance(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two texts resemble each other: the Jaccard coefficient of their shingles.

    Parameters
    ----------
    one, other : frozenset of str
        From ``shingles``; never empty.

    Returns
    -------
    float
        ``|one ∩ other| / |one ∪ other|``, in [0, 1]; 1 for texts that differ in case, punctuation or spacing alone.

    References
    ----------
    A. Z. Broder, "On the resemblance and containment of documents", Compression and Complexity of Sequences 1997,
    section 2, there of words; of characters here, because a response has but a few words.

    Examples
    --------
    >>> resemblance(shingles("I missed it."), shingles("i missed it"))
    1.0
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def nearest(text: frozenset[str], others: Sequence[frozenset[str]], *, threshold: float) -> Near | None:
    """The one among ``others`` that ``text`` resembles most, the first of equals; None below ``threshold``.

    >>> nearest(shingles("so what"), [shingles("why"), shingles("So, what?")], threshold=0.9)
    Near(place=1, similarity=1.0)
    """
    best: Near | None = None
    for place, other in enumerate(others):
        similarity = resemblance(text, other)
        if similarity >= threshold and (best is None or similarity > best.similarity):
            best = Near(place, similarity)
    return best
