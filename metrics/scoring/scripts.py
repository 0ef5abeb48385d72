"""The script of texts, as far as it decides how words are found: which tokeniser splits them, and which do not.

Ranges of code points follow the blocks of the Unicode standard, version 15.1 (Blocks.txt).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# A text is in a script if at least this share of its letters and signs is; below it, words of another language are few.
LEAST_SHARE = 0.3
SAMPLE = 4000  # characters that are looked at


@dataclass(frozen=True)
class Script:
    """A script whose words or marks some tokenisers do not separate.

    Attributes
    ----------
    name : as part of a sentence.
    ranges : first and last code points.
    proposed : the tokeniser that separates them.
    lacking : tokenisers that do not.
    longest : characters of a word on average, more than which only texts have that are not split into words.
    marks : its own punctuation, for a script with spaces between words; empty for one without.
    """

    name: str
    ranges: tuple[tuple[int, int], ...]
    proposed: str
    lacking: tuple[str, ...]
    longest: float = 8.0
    marks: str = ""

    @property
    def reason(self) -> str:
        """Return why, as a sentence."""
        if self.marks:
            return f"These texts are in {self.name} script, whose punctuation stays on the words."
        return f"These texts are in {self.name}, without spaces between words, so that a whole clause is one token."

    def warning(self, tokenize: str) -> str:
        """Return the warning for a tokeniser; empty if it separates them."""
        if tokenize not in self.lacking:
            return ""
        return f"{self.reason} The tokeniser “{self.proposed}” separates them; “{tokenize}” does not."


_AT_SPACES = ("whitespace", "none")
_UNSPLIT = (*_AT_SPACES, "13a", "intl")  # tokenisers that leave texts without spaces whole
_MARKED = (*_AT_SPACES, "13a")  # that know no marks but those of ASCII
_KANA = ((0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D))
_HAN = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF))
_ARABIC = ((0x0600, 0x06FF), (0x0750, 0x077F), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC))
JAPANESE = Script("Japanese characters", (*_KANA, *_HAN), "char", (*_UNSPLIT, "zh"), longest=3)
SCRIPTS = (
    Script("Chinese characters", _HAN, "zh", _UNSPLIT, longest=3),
    Script("Thai characters", ((0x0E00, 0x0E7F),), "char", (*_UNSPLIT, "zh")),
    Script("Lao characters", ((0x0E80, 0x0EFF),), "char", (*_UNSPLIT, "zh")),
    Script("Burmese characters", ((0x1000, 0x109F),), "char", (*_UNSPLIT, "zh")),
    Script("Khmer characters", ((0x1780, 0x17FF),), "char", (*_UNSPLIT, "zh")),
    Script("Arabic", _ARABIC, "intl", _MARKED, marks="،؛؟۔"),
    Script("Devanagari", ((0x0900, 0x097F),), "intl", _MARKED, marks="।॥"),
    Script("Bengali", ((0x0980, 0x09FF),), "intl", _MARKED, marks="।॥"),
    Script("Armenian", ((0x0530, 0x058F),), "intl", _MARKED, marks="։՝՜՞"),
    Script("Ethiopic", ((0x1200, 0x137F),), "intl", _MARKED, marks="።፣፤፥፡"),
)


def script_of(texts: Iterable[str]) -> Script | None:
    """Return the script of texts whose words or marks a split at spaces does not separate; None for any other.

    Texts whose words or marks stand between spaces already have none.

    >>> script_of(["猫在屋顶上睡觉"]).proposed, script_of(["猫 在 屋顶 上 睡觉"]), script_of(["The cat sat."])
    ('zh', None, None)
    """
    sample = " ".join(texts)[:SAMPLE]
    signs = [ord(character) for character in sample if not character.isascii() and not character.isspace()]
    n = len(signs) + sum(character.isascii() and character.isalpha() for character in sample)
    if len(signs) < LEAST_SHARE * n or not signs:
        return None
    if _count(signs, _KANA) >= LEAST_SHARE / 3 * n and _count(signs, JAPANESE.ranges) >= LEAST_SHARE * n:
        script = JAPANESE
    else:
        script = max(SCRIPTS, key=lambda each: _count(signs, each.ranges))
        if _count(signs, script.ranges) < LEAST_SHARE * n:
            return None
    words = sample.split()
    if script.marks:
        return script if any(len(word) > 1 and word[-1] in script.marks for word in words) else None
    lengths = [length for word in words if (length := _count(map(ord, word), script.ranges))]
    return script if sum(lengths) > script.longest * len(lengths) else None


def _count(codes: Iterable[int], ranges: tuple[tuple[int, int], ...]) -> int:
    return sum(any(low <= code <= high for low, high in ranges) for code in codes)
