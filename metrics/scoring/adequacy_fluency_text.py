"""What AM and FM read of a text: NFKC, no punctuation, lowercase, and a word of its own for a text with nothing in it.

D'Haro et al. (2019), after the authors' public scripts: punctuation is taken out, not replaced ("don't" is "dont").
"""

from __future__ import annotations

import string
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from metrics.scoring.texts import Text, Tokens, as_string, tokenize_texts

# A text without a word is scored as this one.
EMPTY = "_EMPTY_"

# How texts may be split into words; texts that are token lists already are joined by spaces first.
TOKENIZERS = ("whitespace", "13a", "char", "intl", "zh")

_AT_ONCE = 20_000


@cache
def _punctuation() -> dict[int, None]:
    """Unicode's punctuation, and what ASCII adds to it ($+<=>^`|~)."""
    points = (point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)).startswith("P"))
    return dict.fromkeys([*points, *map(ord, string.punctuation)])


def cleaned(text: Text) -> str:
    """The text without what these metrics do not look at.

    Examples
    --------
    >>> cleaned("Ｗell, that's ﬁne!")
    'well thats fine'
    >>> cleaned("?!")
    ''
    """
    return unicodedata.normalize("NFKC", as_string(text)).translate(_punctuation()).lower().strip()


def words_of(texts: Iterable[Text], *, tokenize: str = "whitespace", clean: bool = True) -> Iterator[Tokens]:
    """Words of each text, at least one.

    Parameters
    ----------
    texts : iterable of strings, or of token sequences
        Read as it goes: it may be longer than memory.
    tokenize : {"whitespace", "13a", "char", "intl", "zh"}
        How cleaned texts are split.
    clean : bool
        Whether to clean first; without, texts are only split.

    Examples
    --------
    >>> list(words_of(["So what?", ""]))
    [['so', 'what'], ['_EMPTY_']]
    """
    rest = iter(texts)
    while some := list(islice(rest, _AT_ONCE)):
        plain = [cleaned(text) if clean else as_string(text) for text in some]
        for words in tokenize_texts(plain, tokenize=tokenize):
            yield words or [EMPTY]
