"""Texts as AM and FM read them: NFKC, no punctuation, lowercase, and a special word for an empty text.

D'Haro et al. (2019), after the authors' public scripts: punctuation is removed, not replaced ("don't" is "dont").
"""

from __future__ import annotations

import string
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from metrics.scoring.texts import Text, Tokens, as_string, tokenize_texts

EMPTY = "_EMPTY_"  # the word of a text without words

# How texts may be split into words; token lists are joined by spaces first.
TOKENIZERS = ("whitespace", "13a", "char", "intl", "zh")

_AT_ONCE = 20_000


@cache
def _punctuation() -> dict[int, None]:
    """Return a table that removes Unicode's punctuation, and ASCII's ($+<=>^`|~)."""
    points = (point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)).startswith("P"))
    return dict.fromkeys([*points, *map(ord, string.punctuation)])


def cleaned(text: Text) -> str:
    """Return the text as these metrics read it.

    Examples
    --------
    >>> cleaned("Ｗell, that's ﬁne!")
    'well thats fine'
    >>> cleaned("?!")
    ''
    """
    return unicodedata.normalize("NFKC", as_string(text)).translate(_punctuation()).lower().strip()


def words_of(texts: Iterable[Text], *, tokenize: str = "whitespace", clean: bool = True) -> Iterator[Tokens]:
    """Iterate over the words of each text, at least one.

    Parameters
    ----------
    texts : iterable of strings, or of token sequences
        Read lazily: it may be larger than memory.
    tokenize : {"whitespace", "13a", "char", "intl", "zh"}
        How cleaned texts are split.
    clean : bool
        Whether to clean first.

    Examples
    --------
    >>> list(words_of(["So what?", ""]))
    [['so', 'what'], ['_EMPTY_']]
    """
    rest = iter(texts)
    while batch := list(islice(rest, _AT_ONCE)):
        plain = [cleaned(text) if clean else as_string(text) for text in batch]
        for words in tokenize_texts(plain, tokenize=tokenize):
            yield words or [EMPTY]
