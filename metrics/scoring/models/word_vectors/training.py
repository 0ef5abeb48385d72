"""Word vectors learnt from a small corpus: positive pointwise mutual information, factorised."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, svds

from metrics.scoring.arrays import Floats, Ids, Ints
from metrics.scoring.texts import Text, check_whole, tokenize_texts

Progress = Callable[[int], None]

MAX_DIMENSION, MAX_WINDOW = 2500, 100
AT_ONCE = 20_000  # texts between two reports
TOKENS_AT_ONCE = 2**22
# Matrices up to this size, or of which nearly every dimension is wanted, are decomposed densely.
DENSE = 300
RESTARTS = 20  # of ARPACK; of Zipf-like texts, and even of random ones, two are enough


class Corpus(NamedTuple):
    """Texts as numbers of words, laid end to end; -1 for a word that is too rare. ``text`` is the text of each."""

    words: list[str]
    ids: Ints
    text: Ids


@dataclass(frozen=True)
class Training:
    """How vectors are learnt.

    Attributes
    ----------
    dimension : int
        d, 1 to 2,500; fewer if the corpus does not span so many.
    window : int
        How many words to either side are a word's context, 1 to 100.
    min_count : int
        Rarer words have no vector.
    shift : float
        k >= 1 of Levy and Goldberg; log k is taken off all mutual information.
    power : float
        0 to 1, of the singular values.
    smoothing : float
        0 to 1, the power of context counts; 1 for none.
    tokenize, lowercase
        See `metrics.scoring.texts.tokenize_texts`.
    """

    dimension: int = 100
    window: int = 5
    min_count: int = 2
    shift: float = 1.0
    power: float = 0.5
    smoothing: float = 0.75
    tokenize: str = "whitespace"
    lowercase: bool = True

    def __post_init__(self) -> None:
        check_whole("dimension", self.dimension, 1, MAX_DIMENSION)
        check_whole("window", self.window, 1, MAX_WINDOW)
        if isinstance(self.min_count, bool) or not isinstance(self.min_count, int) or self.min_count < 1:
            raise ValueError(f"min_count: found {self.min_count!r}; accepted: an integer of 1 or more")
        for name, low, high, accepted in (
            ("shift", 1, sys.float_info.max, "of 1 or more"),
            ("power", 0, 1, "from 0 to 1"),
            ("smoothing", 0, 1, "from 0 to 1"),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise ValueError(f"{name}: found {value!r}; accepted: a number {accepted}")


def read_corpus(texts: Iterable[Text], training: Training, progress: Progress | None = None) -> Corpus:
    """Number the words that occur at least ``min_count`` times: by falling count, equal counts alphabetically."""
    numbers: dict[str, int] = {}
    ids: list[Ids] = [np.zeros(0, dtype=np.int32)]
    lengths: list[int] = []
    for part in _parts(texts):
        tokens = list(tokenize_texts(part, tokenize=training.tokenize, lowercase=training.lowercase))
        lengths.extend(map(len, tokens))
        flat = (numbers.setdefault(token, len(numbers)) for token in chain.from_iterable(tokens))
        ids.append(np.fromiter(flat, dtype=np.int32))
        if progress is not None:
            progress(len(lengths))
    tokens_read = np.concatenate(ids)
    counts = np.bincount(tokens_read, minlength=len(numbers))
    alphabetical = sorted(numbers)
    order = np.fromiter(map(numbers.__getitem__, alphabetical), dtype=np.int64, count=len(numbers))
    order = order[np.argsort(-counts[order], kind="stable")]
    order = order[counts[order] >= training.min_count]
    rank = np.full(len(numbers), -1, dtype=np.int64)
    rank[order] = np.arange(order.size)
    words = list(numbers)
    text = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return Corpus([words[number] for number in order.tolist()], rank[tokens_read], text)


def cooccurrences(corpus: Corpus, window: int) -> sparse.csr_array:
    """Return (n, n) how often two words are at most ``window`` words apart in a text; symmetric.

    Rare words count for the distance.
    """
    size = len(corpus.words)
    total = sparse.csr_array((size, size), dtype=np.float64)
    for start in range(0, corpus.ids.size, TOKENS_AT_ONCE):
        for distance in range(1, window + 1):
            stop = max(start, min(start + TOKENS_AT_ONCE, corpus.ids.size - distance))
            left, right = slice(start, stop), slice(start + distance, stop + distance)
            first, second = corpus.ids[left], corpus.ids[right]
            counted = (first >= 0) & (second >= 0) & (corpus.text[left] == corpus.text[right])
            pairs = (first[counted], second[counted])
            total = total + sparse.coo_array((np.ones(pairs[0].size), pairs), shape=(size, size)).tocsr()
    return sparse.csr_array(total + total.T)


def positive_pmi(counts: sparse.csr_array, *, shift: float, smoothing: float) -> sparse.csr_array:
    """Return max(log(P(w, c) / (P(w) P(c))) - log(shift), 0), with P(c) from counts to the power ``smoothing``.

    References
    ----------
    Levy and Goldberg: Neural word embedding as implicit matrix factorization. NIPS 2014, equation 11 (shifted positive
    PMI). Levy, Goldberg and Dagan: Improving distributional similarity with lessons learned from word embeddings. TACL
    2015, equation 3 (context distribution smoothing).
    """
    table = counts.tocoo()
    if not table.nnz:
        return counts
    words, contexts = table.coords
    occurrences = counts.sum(axis=1)
    context = occurrences**smoothing
    expected = occurrences[words] * context[contexts] / context.sum()
    information = np.log(table.data / expected) - np.log(shift)
    positive = information > 0
    return sparse.csr_array((information[positive], (words[positive], contexts[positive])), shape=counts.shape)


def factorised(matrix: sparse.csr_array, *, dimension: int, power: float) -> Floats:
    """Return U_d S_d^power (n, d) of the truncated singular value decomposition; d is at most the rank.

    The largest entry of each column is positive: a singular vector's sign is otherwise arbitrary.

    Raises
    ------
    ValueError
        The largest singular values are too close to each other. Without a limit ARPACK would go on for hours.

    References
    ----------
    Levy and Goldberg 2014, section 4.2: power 0.5, the symmetric variant.
    """
    size = matrix.shape[0]
    if size <= DENSE or dimension >= size - 1:
        left, values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        # The start vector makes ARPACK's result reproducible.
        start = np.random.default_rng(0).uniform(-1, 1, size)
        # With a wide search, this tolerance (of squared values) still gives factors whose product is exact to 1e-12.
        wide = min(size - 1, 3 * dimension + 20)
        try:
            left, values, _ = svds(matrix, k=dimension, v0=start, ncv=wide, tol=1e-6, maxiter=RESTARTS)
        except ArpackNoConvergence as error:
            raise ValueError(
                "texts: found words that are so alike that their vectors cannot be computed exactly; "
                "accepted: texts in which some words occur more often than others, or a higher min_count"
            ) from error
        order = np.argsort(-values, kind="stable")
        left, values = left[:, order], values[order]
    rank = min(dimension, int(np.count_nonzero(values > 1e-10 * values[0])))
    left, values = left[:, :rank], values[:rank]
    largest = np.abs(left).argmax(axis=0)
    signs = np.where(left[largest, np.arange(rank)] < 0, -1.0, 1.0)
    vectors: Floats = left * signs * values**power
    return vectors


def _parts(texts: Iterable[Text]) -> Iterator[list[Text]]:
    source = iter(texts)
    while part := list(islice(source, AT_ONCE)):
        yield part
