"""Word vectors from a corpus of one's own: positive pointwise mutual information, factorised.

Enough for a demo and for words of one domain, in seconds and without a network. Vectors learnt from billions of words
are another thing; `metrics.scoring.models.word_vectors.files` reads those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from metrics.scoring.arrays import Floats, Ids, Ints
from metrics.scoring.texts import Text, check_whole, tokenize_texts

Progress = Callable[[int], None]

MAX_DIMENSION, MAX_WINDOW = 2500, 100
AT_ONCE = 20_000  # texts between two reports
TOKENS_AT_ONCE = 2**22
# Matrices up to this size, or of which nearly every dimension is wanted, are decomposed densely.
DENSE = 300


class Corpus(NamedTuple):
    """Texts as numbers of words, laid end to end; -1 for a word that is too rare."""

    words: list[str]
    ids: Ints
    text: Ids


def check_options(dimension: int, window: int, min_count: int, shift: float, power: float, smoothing: float) -> None:
    check_whole("dimension", dimension, 1, MAX_DIMENSION)
    check_whole("window", window, 1, MAX_WINDOW)
    if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 1:
        raise ValueError(f"min_count: found {min_count!r}; accepted: an integer of 1 or more")
    if isinstance(shift, bool) or not isinstance(shift, int | float) or not 1 <= shift < np.inf:
        raise ValueError(f"shift: found {shift!r}; accepted: a number of 1 or more")
    for name, share in (("power", power), ("smoothing", smoothing)):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ValueError(f"{name}: found {share!r}; accepted: a number from 0 to 1")


def read_corpus(
    texts: Iterable[Text], *, tokenize: str, lowercase: bool, min_count: int, progress: Progress | None = None
) -> Corpus:
    """Number the words that occur at least ``min_count`` times: by falling count, equal counts alphabetically."""
    numbers: dict[str, int] = {}
    ids: list[Ids] = [np.zeros(0, dtype=np.int32)]
    lengths: list[int] = []
    for part in _parts(texts):
        tokens = list(tokenize_texts(part, tokenize=tokenize, lowercase=lowercase))
        lengths.extend(map(len, tokens))
        flat = (numbers.setdefault(token, len(numbers)) for token in chain.from_iterable(tokens))
        ids.append(np.fromiter(flat, dtype=np.int32))
        if progress is not None:
            progress(len(lengths))
    found = np.concatenate(ids)
    counts = np.bincount(found, minlength=len(numbers))
    alphabetical = sorted(numbers)
    order = np.fromiter(map(numbers.__getitem__, alphabetical), dtype=np.int64, count=len(numbers))
    order = order[np.argsort(-counts[order], kind="stable")]
    order = order[counts[order] >= min_count]
    place = np.full(len(numbers), -1, dtype=np.int64)
    place[order] = np.arange(order.size)
    spelt = list(numbers)
    text = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return Corpus([spelt[number] for number in order.tolist()], place[found], text)


def cooccurrences(corpus: Corpus, window: int) -> sparse.csr_array:
    """(n, n) how often two words stand at most ``window`` words apart in one text; symmetric.

    A word that is too rare keeps its place between the others.
    """
    size = len(corpus.words)
    total = sparse.csr_array((size, size), dtype=np.float64)
    for start in range(0, corpus.ids.size, TOKENS_AT_ONCE):
        for distance in range(1, window + 1):
            stop = max(start, min(start + TOKENS_AT_ONCE, corpus.ids.size - distance))
            left, right = slice(start, stop), slice(start + distance, stop + distance)
            first, second = corpus.ids[left], corpus.ids[right]
            counted = (first >= 0) & (second >= 0) & (corpus.text[left] == corpus.text[right])
            places = (first[counted], second[counted])
            total = total + sparse.coo_array((np.ones(places[0].size), places), shape=(size, size)).tocsr()
    return sparse.csr_array(total + total.T)


def positive_pmi(counts: sparse.csr_array, *, shift: float, smoothing: float) -> sparse.csr_array:
    """max(log(P(w, c) / (P(w) P(c))) - log(shift), 0); contexts as probable as their counts to the power ``smoothing``.

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
    kept = information > 0
    return sparse.csr_array((information[kept], (words[kept], contexts[kept])), shape=counts.shape)


def factorised(matrix: sparse.csr_array, *, dimension: int, power: float) -> Floats:
    """(n, d) U_d S_d^power of the truncated singular value decomposition; d is smaller where the rank is.

    The largest entry of each column is positive: a singular vector's sign is otherwise anybody's.

    References
    ----------
    Levy and Goldberg 2014, section 4.2: power 0.5, the symmetric variant.
    """
    size = matrix.shape[0]
    if size <= DENSE or dimension >= size - 1:
        left, values, _ = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        # The start vector settles what ARPACK leaves to chance.
        start = np.random.default_rng(0).uniform(-1, 1, size)
        # A wide search and a tolerance of squared values: the product of the factors is exact to 1e-12 all the same.
        left, values, _ = svds(matrix, k=dimension, v0=start, ncv=min(size - 1, 3 * dimension + 20), tol=1e-6)
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
