"""The parameters of an index, and the tokenizers."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any, Self

from annotation.hygiene.refusal import check_number, refuse
from annotation.hygiene.words import MARKS

# Increased whenever the files of an index, or the scores read from them, may change.
INDEX_VERSION = 1
VARIANT = "lucene"
MAX_K1 = 1000

Tokenizer = Callable[[str], list[str]]

# Letters, digits, underscores, and marks on them: a vowel sign of Hindi is a mark and does not end a word.
_WORD = re.compile(rf"\w[\w{MARKS}]*")


def words(text: str) -> list[str]:
    """Return the words in lower case, with accents composed.

    >>> words("Déjà vu, isn't it?")
    ['déjà', 'vu', 'isn', 't', 'it']
    """
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()))


def characters(text: str) -> list[str]:
    """Return every letter, digit or underscore: for scripts without spaces between words.

    >>> characters("你好, ok")
    ['你', '好', 'o', 'k']
    """
    return [character for word in words(text) for character in word]


def bigrams(text: str) -> list[str]:
    """Return pairs of neighbouring characters within a word; a word of one character stays.

    >>> bigrams("你好吗 a")
    ['你好', '好吗', 'a']
    """
    pairs: list[str] = []
    for word in words(text):
        pairs += map("".join, pairwise(word)) if len(word) > 1 else [word]
    return pairs


TOKENIZERS: Mapping[str, Tokenizer] = {"words": words, "characters": characters, "bigrams": bigrams}


@dataclass(frozen=True)
class IndexParameters:
    """BM25's two parameters, and the tokenizer.

    Attributes
    ----------
    k1 : float
        How soon repeating a word stops helping, from 0 (a word counts once) to 1000.
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
        check_number("k1", self.k1, 0, MAX_K1)
        check_number("b", self.b, 0, 1)
        if self.tokenizer not in TOKENIZERS:
            refuse("tokenizer", self.tokenizer, f"one of {', '.join(TOKENIZERS)}")
        object.__setattr__(self, "k1", float(self.k1))
        object.__setattr__(self, "b", float(self.b))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the output of ``to_dict``, or a part of it; ``ParameterRefused`` names a wrong field."""
        names = [field.name for field in fields(cls)]
        for name in data:
            if name not in names:
                refuse(str(name), "an unknown parameter", f"one of {', '.join(names)}")
        return cls(**data)

    def signature(self) -> str:
        """Return a line in sacrebleu's form; indexes of the same triples with one signature give the same hits.

        >>> IndexParameters().signature()
        'bm25|variant:lucene|k1:1.2|b:0.75|tok:words|version:1'
        """
        return f"bm25|variant:{VARIANT}|k1:{self.k1:g}|b:{self.b:g}|tok:{self.tokenizer}|version:{INDEX_VERSION}"
