"""Sources and outputs as the tokens that encoders and features read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from metrics.scoring.qe.dialogue_acts import delexicalised, parsed, triplets
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.texts import tokenize_texts

Words: TypeAlias = tuple[str, ...]

TOKENIZER = "13a"


@dataclass(frozen=True)
class Example:
    """Tokens of a source and of an output, and the rating; ``errors`` were put into the output."""

    source: Words
    output: Words
    rating: float
    errors: int = 0


def read_pairs(
    sources: Sequence[str], outputs: Sequence[str], options: QualityOptions
) -> list[tuple[Words, Words] | None]:
    """Return `encoded_pairs`, None for a source that cannot be read."""
    try:
        return list(encoded_pairs(sources, outputs, options))
    except ValueError:
        if len(sources) == 1:
            return [None]
    return [read_pairs([source], [output], options)[0] for source, output in zip(sources, outputs, strict=True)]


def encoded_pairs(sources: Sequence[str], outputs: Sequence[str], options: QualityOptions) -> list[tuple[Words, Words]]:
    """Return the tokens of each source and its output, lowercased; of long texts the end of the source is kept.

    Raises
    ------
    ValueError
        Different numbers of sources and outputs, or a source that is no dialogue act: which.
    """
    if len(sources) != len(outputs):
        raise ValueError(f"outputs: found {len(outputs):,}; accepted: {len(sources):,}, one for each source")
    words = tokenize_texts(outputs, tokenize=TOKENIZER, lowercase=True, where="outputs[{}]".format)
    longest = options.max_tokens
    if options.source == "text":
        read = tokenize_texts(sources, tokenize=TOKENIZER, lowercase=True, where="sources[{}]".format)
        return [(tuple(source[-longest:]), tuple(output[:longest])) for source, output in zip(read, words, strict=True)]
    pairs = []
    for index, (source, output) in enumerate(zip(sources, words, strict=True)):
        try:
            slots = parsed(source)
        except ValueError as error:
            raise ValueError(f"sources[{index}]: {error}, or the option source='text'") from error
        tokens = delexicalised(output, slots) if options.delexicalise else output
        act = triplets(slots, delexicalise=options.delexicalise)
        pairs.append((tuple(act[-longest:]), tuple(tokens[:longest])))
    return pairs
