"""What is taken from sacrebleu, each part imported when it is first used.

To import sacrebleu takes 10 MiB and a fifth of a second, which processes that score nothing need not spend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

Tokenizer = Callable[[str], str]


def _13a() -> Callable[[], Tokenizer]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a


def _char() -> Callable[[], Tokenizer]:
    from sacrebleu.tokenizers.tokenizer_char import TokenizerChar

    return TokenizerChar


def _intl() -> Callable[[], Tokenizer]:
    from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International

    return TokenizerV14International


def _zh() -> Callable[[], Tokenizer]:
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

    return TokenizerZh


TOKENIZERS = {"13a": _13a, "char": _char, "intl": _intl, "zh": _zh}


@cache
def tokenizer(name: str) -> Tokenizer:
    return TOKENIZERS[name]()()


def ter_tokenizer(*, normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Tokenizer:
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    make: Callable[..., Tokenizer] = TercomTokenizer
    return make(normalized, no_punct, asian_support, case_sensitive)


def ter_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Return the edits that TER counts between two texts in words."""
    from sacrebleu.metrics.lib_ter import translation_edit_rate

    return int(translation_edit_rate(list(hypothesis), list(reference))[0])


def chrf_scorer(char_order: int, word_order: int, *, whitespace: bool) -> CHRF:
    from sacrebleu.metrics.chrf import CHRF

    make: Callable[..., CHRF] = CHRF
    return make(char_order, word_order, whitespace=whitespace)
