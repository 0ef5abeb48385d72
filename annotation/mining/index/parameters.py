"""What an index is built with, and the ways of cutting a text into words."""

import math
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import pairwise
from typing import Any, Self

# Raised whenever the files of an index, or the scores that are read from them, could change.
INDEX_VERSION = 1
VARIANT = "lucene"

Tokenizer = Callable[[str], list[str]]


@cache
def _word_pattern() -> re.Pattern[str]:
    """``\\w`` alone would break a word of Hindi or Thai at each vowel sign: those are marks, not letters."""
    marks: list[list[int]] = []
    for point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(point)).startswith("M"):
            if marks and marks[-1][1] == point - 1:
                marks[-1][1] = point
            else:
                marks.append([point, point])
    ranges = "".join(f"{chr(first)}-{chr(last)}" for first, last in marks)
    return re.compile(rf"\w[\w{ranges}]*")


def words(text: str) -> list[str]:
    """Runs of letters, digits and underscores with the marks on them, in lower case.

    >>> words("Déjà vu, isn't it?")
    ['déjà', 'vu', 'isn', 't', 'it']
    """
    return _word_pattern().findall(unicodedata.normalize("NFC", text.lower()))


def characters(text: str) -> list[str]:
    """Every letter, digit or underscore by itself: for scripts that put no spaces between words.

    >>> characters("你好, ok")
    ['你', '好', 'o', 'k']
    """
    return [character for word in words(text) for character in word]


def bigrams(text: str) -> list[str]:
    """Pairs of neighbours within a run; a run of one stands for itself.

    >>> bigrams("你好吗 a")
    ['你好', '好吗', 'a']
    """
    found: list[str] = []
    for word in words(text):
        found += map("".join, pairwise(word)) if len(word) > 1 else [word]
    return found


TOKENIZERS: Mapping[str, Tokenizer] = {"words": words, "characters": characters, "bigrams": bigrams}


@dataclass(frozen=True)
class IndexParameters:
    """BM25's two parameters, and how texts are cut into words.

    Attributes
    ----------
    k1 : float
        How soon repeating a word stops helping; 0 or more. At 0 a word counts once.
    b : float
        How much longer texts are marked down, in [0, 1].
    tokenizer : str
        A name of ``TOKENIZERS``.

    References
    ----------
    Stephen Robertson and Hugo Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, Foundations and Trends
    in Information Retrieval 3(4), 2009, section 3.4 (reasonable values: 1.2 < k1 < 2, 0.5 < b < 0.8). The defaults are
    Lucene's.
    """

    k1: float = 1.2
    b: float = 0.75
    tokenizer: str = "words"

    def __post_init__(self) -> None:
        for name in ("k1", "b"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{name}: found {value!r}; accepted: a number")
            object.__setattr__(self, name, float(value))
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise ValueError(f"k1: found {self.k1!r}; accepted: 0 or more")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b: found {self.b!r}; accepted: from 0 to 1")
        if self.tokenizer not in TOKENIZERS:
            raise ValueError(f"tokenizer: found {self.tokenizer!r}; accepted: {', '.join(TOKENIZERS)}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        names = [field.name for field in fields(cls)]
        if unknown := sorted(set(data) - set(names)):
            raise ValueError(f"{unknown[0]}: not a parameter of an index; accepted: {', '.join(names)}")
        return cls(**data)

    def signature(self) -> str:
        """sacrebleu's form; two indexes of the same triples with one signature give the same hits.

        >>> IndexParameters().signature()
        'bm25|variant:lucene|k1:1.2|b:0.75|tok:words|version:1'
        """
        return f"bm25|variant:{VARIANT}|k1:{self.k1:g}|b:{self.b:g}|tok:{self.tokenizer}|version:{INDEX_VERSION}"
