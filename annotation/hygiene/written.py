"""What stands out in a text that a rater wrote: its length, a copy, a paste, another language."""

from collections.abc import Sequence
from enum import StrEnum

from annotation.hygiene.near import nearest, shingles
from annotation.hygiene.refusal import ParameterRefused
from annotation.hygiene.steps import Language

SAME = 0.9  # resemblance from which one text counts as a copy of the other
PASTED = 0.5  # share of the characters from which a text counts as pasted


class Remark(StrEnum):
    """What may be said of a text. Lengths are refused; the others are noted, warned of or refused."""

    SHORT = "short"
    LONG = "long"
    COPY = "copy"  # of the text that was shown
    COPY_OF_SOURCE = "copy_of_source"  # of the message or a turn before it
    PASTED = "pasted"
    LANGUAGE = "language"


def remarks_on(
    text: str,
    *,
    least: int,
    most: int,
    language: str = "",
    given: str = "",
    sources: Sequence[str] = (),
    pasted: int = 0,
) -> list[Remark]:
    """Return what stands out in a text, in the order of ``Remark``.

    Parameters
    ----------
    text : str
    least, most : int
        Accepted lengths in characters, both ends included; white space at the ends does not count.
    language : str
        BCP 47 tag of the language that is expected; empty for any.
    given : str
        The text that the rater was shown; empty if there was none.
    sources : sequence of str
        The message and the turns before it.
    pasted : int
        Characters that the browser reports as pasted.

    Returns
    -------
    list of Remark
        A copy resembles its original by 0.9 or more (Jaccard coefficient of runs of three characters, see
        ``annotation.hygiene.near``). A text counts as pasted if half of its characters or more were. The language is
        judged as ``annotation.hygiene.steps.Language`` does: short and unsure texts pass.

    Examples
    --------
    >>> remarks_on("so what", least=1, most=100, given="So, what?", pasted=7)
    [<Remark.COPY: 'copy'>, <Remark.PASTED: 'pasted'>]
    """
    stripped = text.strip()
    parts = shingles(stripped)
    found = {
        Remark.SHORT: len(stripped) < least,
        Remark.LONG: len(stripped) > most,
        Remark.COPY: bool(given.strip()) and _is_copy(parts, [given]),
        Remark.COPY_OF_SOURCE: _is_copy(parts, sources),
        Remark.PASTED: bool(stripped) and pasted >= PASTED * len(stripped),
        Remark.LANGUAGE: bool(language) and is_in_another_language(stripped, language),
    }
    return [remark for remark, holds in found.items() if holds]


def _is_copy(parts: frozenset[str], originals: Sequence[str]) -> bool:
    return nearest(parts, [shingles(each) for each in originals if each.strip()], threshold=SAME) is not None


def is_in_another_language(text: str, language: str) -> bool:
    """Return whether a text is surely in another language; False for a tag whose language cannot be recognised.

    >>> is_in_another_language("Das ist eine Antwort auf die Frage von gestern.", "en")
    True
    >>> is_in_another_language("ok", "en")
    False
    """
    try:
        step = Language(language)
    except ParameterRefused:
        return False
    return step.apply(text).dropped
