"""Features of a source and an output for ridge regression: hashed n-grams, and how the two overlap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, pairwise

import numpy as np
from scipy.sparse import csr_array, hstack

from metrics.scoring.arrays import Floats
from metrics.scoring.qe.dialogue_acts import NULL, PLACEHOLDER
from metrics.scoring.qe.inputs import Words
from metrics.scoring.texts import encoded

WORD_ORDERS = (1, 2, 3)
CHARACTER_ORDERS = (3, 4)
BUCKETS = 1 << 12  # of each block of n-grams
_EDGE = ("<",)


def features(sources: Sequence[Words], outputs: Sequence[Words]) -> csr_array:
    """Return a row of features for each pair (n, 3 * BUCKETS + k): n-grams of source and output, and the overlap.

    Each block of n-grams has length 1: what is counted is which n-grams there are, not how many.
    """
    blocks = [
        _hashed(outputs, lambda words: _ngrams(_EDGE + words + _EDGE, WORD_ORDERS)),
        _hashed(outputs, lambda words: _ngrams(tuple(f" {' '.join(words)} "), CHARACTER_ORDERS)),
        _hashed(sources, lambda words: _ngrams(words, WORD_ORDERS)),
        csr_array(overlaps(sources, outputs)),
    ]
    return csr_array(hstack(blocks, format="csr"))


def overlaps(sources: Sequence[Words], outputs: Sequence[Words]) -> Floats:
    """Return (n, k): lengths, words of the source that the output has, lacks and repeats, and repetition as such."""
    return np.array([_overlap(*pair) for pair in zip(sources, outputs, strict=True)], dtype=np.float64)


def _overlap(source: Words, output: Words) -> tuple[float, ...]:
    given = Counter(word for word in dict.fromkeys(source) if word != NULL)
    written = Counter(output)
    slots = {word for word in given if word.startswith(PLACEHOLDER)}
    mentioned = {word for word in written if word.startswith(PLACEHOLDER)}
    n_output, n_given = max(len(output), 1), max(len(given), 1)
    pairs = Counter(pairwise(output))
    return (
        math.log1p(len(output)),
        math.log1p(len(source)),
        math.log1p(len(output)) - math.log1p(len(source)),
        len(given & written) / n_given,
        len(slots - mentioned),
        len(mentioned - slots),
        sum(written[word] - 1 for word in mentioned),
        1 - len(written) / n_output,
        sum(count - 1 for count in pairs.values()) / n_output,
        float(any(first == second for first, second in pairwise(output))),
        float(not output),
    )


def _ngrams(tokens: Words, orders: Iterable[int]) -> Iterator[str]:
    return chain.from_iterable(
        ("\t".join(tokens[start : start + order]) for start in range(len(tokens) - order + 1)) for order in orders
    )


def _hashed(texts: Sequence[Words], ngrams: Callable[[Words], Iterable[str]]) -> csr_array:
    numbers: dict[str, int] = {}
    rows: list[Sequence[int]] = []
    for text in texts:
        buckets = {numbers[each] if each in numbers else _new(numbers, each) for each in ngrams(text)}
        rows.append(sorted(buckets))
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    values = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths)
    indices = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths.sum()))
    return csr_array((values, indices, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(texts), BUCKETS))


def _new(numbers: dict[str, int], ngram: str) -> int:
    digest = blake2b(encoded(ngram), digest_size=8).digest()
    numbers[ngram] = int.from_bytes(digest, "little") % BUCKETS
    return numbers[ngram]
