"""Degraded texts: attentive raters rate them lower than the texts they are made from."""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotation.allocation.seeds import SEED_LIMIT, derive_seed, permutation

OPERATIONS = ("drop", "swap", "foreign")
ATTEMPTS = 12

# Scripts that put no space between words, by how Unicode's names of their letters begin.
UNSPACED = ("CJK ", "HIRAGANA ", "KATAKANA ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ")


class Degraded(NamedTuple):
    """A degraded text, and which of ``OPERATIONS`` made it."""

    text: str
    operation: str


@dataclass(frozen=True)
class _Words:
    """A text cut into words, or into characters where its script has no spaces.

    Word i is followed by ``gaps[i]``, so that line breaks stay: a text without them would give the check away.
    """

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    characters: bool

    def __len__(self) -> int:
        return len(self.words)

    def text(self) -> str:
        return "".join(word + gap for word, gap in zip(self.words, self.gaps, strict=True)).strip()

    def inner(self, least: int) -> range:
        """Return the indices that may change: neither the first nor the last, if enough others are left."""
        return range(1, len(self) - 1) if len(self) - 2 >= least else range(len(self))


def degrade(
    text: str, *, seed: int, other_text: str | None = None, operations: Sequence[str] = OPERATIONS
) -> Degraded | None:
    """Make a text worse, in its language and at about its length, so that only reading it gives it away.

    ``drop`` leaves out a quarter of the words, at least one, longer words more likely than shorter ones. ``swap``
    shuffles a stretch of half the words. ``foreign`` replaces a stretch by one of the same length from another item's
    text, as in the WMT evaluations [1]_: of 1 word 1, of 2 to 5 words 2, of 6 to 8 words 3, of 9 to 15 words 4, of 16
    to 20 words 5, of more a quarter, rounded down; twice as many characters in a script without spaces. The first and
    the last word stay if the text is long enough, as in [1]_. Words are separated only by white space; nothing depends
    on the language.

    Parameters
    ----------
    text : str
    seed : int
        Decides the operation and every draw.
    other_text : str, optional
        A text of another item, for ``foreign``.
    operations : sequence of str
        The operations to draw from; an operation that cannot change this text gives way to the others. A single word
        can only be replaced.

    Returns
    -------
    Degraded or None
        Never the same text except for case, white space and punctuation, and never an empty text; None if no
        operation achieves that, as when ``other_text`` is shorter than the stretch to replace.

    Raises
    ------
    ValueError
        An operation that is unknown or given twice, or none.

    References
    ----------
    .. [1] Bojar et al., Findings of the 2017 Conference on Machine Translation, WMT 2017, section 3 ("bad reference"
       items). The design is that of Graham et al., Continuous Measurement Scales in Human Evaluation of Machine
       Translation, LAW 2013.

    Examples
    --------
    >>> degrade("i would rather stay at home tonight", seed=1, operations=["drop"])
    Degraded(text='i would rather stay home tonight', operation='drop')
    >>> degrade("yes", seed=1, other_text="a parrot , of course")
    Degraded(text='of', operation='foreign')
    >>> degrade("yes", seed=1) is None
    True
    """
    if not operations or len(set(operations)) != len(operations) or not set(operations) <= set(OPERATIONS):
        raise ValueError(
            f"operations is {tuple(operations)}; accepted: one or more of {', '.join(OPERATIONS)}, each once"
        )
    words, other = _cut(text), _cut(other_text or "")
    attempts: dict[str, Callable[[int], str | None]] = {
        "drop": lambda draw: _drop(words, draw),
        "swap": lambda draw: _swap(words, draw),
        "foreign": lambda draw: _foreign(words, other, draw),
    }
    listed = [operation for operation in OPERATIONS if operation in operations]
    for index in permutation(derive_seed(seed, "operation"), len(listed)):
        operation = listed[index]
        for attempt in range(ATTEMPTS):
            worse = attempts[operation](derive_seed(seed, operation, attempt))
            if worse is not None and _differs(worse, text):
                return Degraded(worse, operation)
    return None


def replaced_words(n_words: int) -> int:
    """Return how many of so many words ``foreign`` replaces, by the table of WMT 2017.

    >>> [replaced_words(n) for n in (1, 2, 5, 6, 9, 16, 20, 21, 40)]
    [1, 2, 2, 3, 4, 5, 5, 5, 10]
    """
    for most, replaced in ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5)):
        if n_words <= most:
            return replaced
    return n_words // 4


def _drop(words: _Words, seed: int) -> str | None:
    if len(words) < 2:
        return None
    n = max(1, len(words) // 4)
    inner = [index for index in words.inner(least=n) if _content(words.words[index])]
    # The n smallest of exponential variables with rates w are a draw without replacement in proportion to w.
    chance = {index: -math.log(_uniform(derive_seed(seed, index))) / len(words.words[index]) for index in inner}
    dropped = set(sorted(inner, key=lambda index: chance[index])[:n])
    rest = [index for index in range(len(words)) if index not in dropped]
    gaps = {index: words.gaps[index] for index in rest}
    for index in sorted(dropped):  # a line that loses its last word still ends
        before = max((earlier for earlier in rest if earlier < index), default=None)
        if before is not None and "\n" in words.gaps[index]:
            gaps[before] = words.gaps[index]
    return _Words(tuple(words.words[index] for index in rest), tuple(gaps.values()), words.characters).text()


def _swap(words: _Words, seed: int) -> str | None:
    if len(words) < 2:
        return None
    inner = words.inner(least=2)
    size = min(max(2, -(-len(words) // 2)), len(inner))
    start = inner[derive_seed(seed, "start") % (len(inner) - size + 1)]
    order = list(words.words)
    offsets = permutation(seed, size) if size > 2 else (1, 0)  # two words have one other order
    order[start : start + size] = [order[start + offset] for offset in offsets]
    return _Words(tuple(order), words.gaps, words.characters).text()


def _foreign(words: _Words, other: _Words, seed: int) -> str | None:
    replaced = replaced_words(len(words)) * (2 if words.characters else 1)
    inner = words.inner(least=min(replaced, max(len(words) - 2, 2)))
    size = min(replaced, len(inner))
    if not 1 <= size <= len(other):
        return None
    start = inner[derive_seed(seed, "start") % (len(inner) - size + 1)]
    source = derive_seed(seed, "source") % (len(other) - size + 1)
    end = start + size
    # The stretch keeps its own spacing: the scripts may differ.
    span = _Words(other.words[source : source + size], other.gaps[source : source + size], other.characters).text()
    span = re.sub(r"\s+", " ", span)
    return _Words(
        (*words.words[:start], span, *words.words[end:]),
        (*words.gaps[:start], words.gaps[end - 1], *words.gaps[end:]),
        words.characters,
    ).text()


def _cut(text: str) -> _Words:
    characters = _is_unspaced(text)
    # In a script without spaces: a run of other letters or digits, or one character with its combining marks.
    pattern = r"([A-Za-z0-9]+|\S)(\s*)" if characters else r"(\S+)(\s*)"
    words: list[str] = []
    gaps: list[str] = []
    for match in re.finditer(pattern, text.strip()):
        word, gap = match.groups()
        if words and not gaps[-1] and unicodedata.category(word[0]).startswith("M"):
            words[-1] += word
            gaps[-1] = gap
        else:
            words.append(word)
            gaps.append(gap)
    return _Words(tuple(words), tuple(gaps), characters)


def _is_unspaced(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(unicodedata.name(letter, "").startswith(UNSPACED) for letter in letters) > len(letters)


def _differs(worse: str, text: str) -> bool:
    """Return whether a text has content that differs; case, white space and punctuation do not count."""
    content, before = _content(worse), _content(text)
    if content or before:
        return bool(content) and content != before
    return "".join(worse.split()) not in ("", "".join(text.split()))


def _content(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _uniform(seed: int) -> float:
    """Return a number in (0, 1]."""
    return (seed + 1) / SEED_LIMIT
