"""Tokenisation of texts, and checks of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from metrics.scoring import sacrebleu_parts

Text: TypeAlias = str | Sequence[str]
Tokens: TypeAlias = Sequence[str]

TOKENIZERS = ("none", "whitespace", *sacrebleu_parts.TOKENIZERS)


def check_choice(parameter: str, value: object, accepted: Iterable[str]) -> None:
    """Raise a ValueError that names the parameter, what was found and what is accepted."""
    accepted = tuple(accepted)
    if value not in accepted:
        raise ValueError(f"{parameter}: found {value!r}; accepted: {', '.join(map(repr, accepted))}")


def check_whole(parameter: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{parameter}: found {value!r}; accepted: an integer from {low} to {high}")


def check_order(max_order: object) -> None:
    check_whole("max_order", max_order, 1, 4)


def check_flag(parameter: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{parameter}: found {value!r}; accepted: True or False")


def tokenize_texts(
    texts: Sequence[Text],
    *,
    tokenize: str = "none",
    lowercase: bool = False,
    where: Callable[[int], str] = "texts[{}]".format,
) -> Iterator[Tokens]:
    """Iterate over the token sequences of ``texts``.

    It is lazy so that the words of a corpus are never in memory together.

    Parameters
    ----------
    texts : sequence of strings, or with ``tokenize="none"`` also of token sequences
    tokenize : {"none", "whitespace", "13a", "char", "intl", "zh"}
        "none": the text is tokenised already: a sequence of tokens, or a string with whitespace between tokens.
        "whitespace" takes strings only. The others are sacrebleu's tokenisers of that name.
    lowercase : bool
        Lowercase (Unicode) before tokenising.
    where : callable
        Name of the text with an index, for error messages.

    Returns
    -------
    iterator of token sequences, aligned with ``texts``; an empty text has no tokens.

    Raises
    ------
    ValueError
        At the call: unknown tokeniser, or a text of the wrong type, with its index.

    Examples
    --------
    >>> list(tokenize_texts(["Well, yes."], tokenize="13a", lowercase=True))
    [['well', ',', 'yes', '.']]
    >>> list(tokenize_texts([["a", "b"], "a b"]))
    [['a', 'b'], ['a', 'b']]
    """
    check_choice("tokenize", tokenize, TOKENIZERS)
    check_flag("lowercase", lowercase)
    kinds = _check_kinds(texts, tokenize, where)
    split = _splitter(tokenize, kinds)
    return map(split, map(_lower, texts) if lowercase else texts)


def as_string(text: Text) -> str:
    """Return a text as a string; tokens are joined by spaces."""
    return text if isinstance(text, str) else " ".join(text)


def encoded(text: str) -> bytes:
    """Encode as UTF-8; invalid text (half of a surrogate pair) has bytes, too."""
    return text.encode("utf-8", errors="surrogatepass")


def _splitter(tokenize: str, kinds: set[type]) -> Callable[[Any], Tokens]:
    if tokenize in sacrebleu_parts.TOKENIZERS:
        # As sacrebleu does. Its tokenisers cache recent results: equal texts are tokenised once.
        tokenizer = sacrebleu_parts.tokenizer(tokenize)
        return lambda text: tokenizer(text.rstrip()).split()
    return str.split if kinds <= {str} else _split_unless_split


def _split_unless_split(text: Text) -> Tokens:
    return text.split() if isinstance(text, str) else text


def _lower(text: Text) -> Text:
    return text.lower() if isinstance(text, str) else [token.lower() for token in text]


def _check_kinds(texts: Sequence[Text], tokenize: str, where: Callable[[int], str]) -> set[type]:
    accepted: tuple[type, ...] = (str, list, tuple) if tokenize == "none" else (str,)
    kinds: set[type] = set(map(type, texts))
    if all(issubclass(kind, accepted) for kind in kinds):
        return kinds
    index, text = next((i, text) for i, text in enumerate(texts) if not isinstance(text, accepted))
    described = "a string, or a list or tuple of tokens" if tokenize == "none" else "a string"
    raise ValueError(f"{where(index)}: found {type(text).__name__}; accepted with tokenize={tokenize!r}: {described}")


def check_corpus(systems: Sequence[Sequence[Text]], references: Sequence[Sequence[Text]]) -> None:
    """Refuse shapes that would silently score something else, such as a string instead of a list."""
    if not systems:
        raise ValueError("hypotheses: found no system; accepted: at least one list of hypotheses")
    for name, value in chain((("hypotheses", system) for system in systems), [("references", references)]):
        if isinstance(value, str):
            raise ValueError(f"{name}: found one string; accepted: a sequence with one entry per segment")
    if not references:
        raise ValueError("references: found no segment; accepted: at least one")
    for index, system in enumerate(systems):
        if len(system) != len(references):
            name = f"hypotheses of system {index}" if len(systems) > 1 else "hypotheses"
            raise ValueError(f"{name}: found {len(system)}; accepted: {len(references)}, one per list of references")
    for index, alternatives in enumerate(references):
        if isinstance(alternatives, str) or not isinstance(alternatives, Sequence):
            kind = "one string" if isinstance(alternatives, str) else type(alternatives).__name__
            raise ValueError(f"references[{index}]: found {kind}; accepted: a sequence of references")
