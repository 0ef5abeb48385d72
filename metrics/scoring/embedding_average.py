"""Embedding average: the cosine of two texts' mean word vectors.

    e(r) = sum_{w in r} e(w) / | sum_{w in r} e(w) |,   score(h, r) = cos(e(h), e(r))

Foltz, Kintsch and Landauer, "The measurement of textual coherence with latent semantic analysis", Discourse Processes
1998; Wieting et al., "Towards universal paraphrastic sentence embeddings", ICLR 2016; as defined by Liu et al., "How
NOT to evaluate your dialogue system", EMNLP 2016, section 3.2, and used in D'Haro et al. 2019, section 4.1.2. A word
that comes twice counts twice. Range [-1, 1]; of several references the best, as nlg-eval takes it, or the mean; a
system's score is the mean over segments. Unknown words, and what a text without a vector is worth: see
`metrics.scoring.word_embeddings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from metrics.scoring.pairs import chunks
from metrics.scoring.segments import Segments
from metrics.scoring.word_embeddings import Bags, Floats, Measure, WordEmbeddingMetric, sentence_cosines

WORDS_SUMMED = 3000  # of texts that are summed together: the vectors of those that differ stay in the cache


@dataclass(frozen=True)
class EmbeddingAverage(WordEmbeddingMetric):
    """Embedding average as a metric of the registry."""

    name: ClassVar[str] = "embedding_average"
    label: ClassVar[str] = "Embedding average"
    summary: ClassVar[str] = "How close the mean of a text's word vectors is to the mean of a reference's."

    @staticmethod
    def measure() -> Measure:
        return average_scores


def average_scores(segments: Segments, rows: Bags, references: Bags, variant: str) -> Floats:
    """(P,) for every pair; in both variants the same, the vectors apart."""
    return sentence_cosines(segments, rows, references, _sums)


def _sums(bags: Bags, start: int, stop: int) -> Floats:
    starts = bags.starts[start : stop + 1]
    sums = np.empty((stop - start, bags.vectors.shape[1]))
    for first, last in chunks(starts, WORDS_SUMMED):
        own = starts[first : last + 1]
        place = slice(own[0], own[-1])
        distinct, number = np.unique(bags.words[place], return_inverse=True)
        shape = (last - first, distinct.size)
        table = sparse.csr_array((bags.counts[place].astype(np.float64), number, own - own[0]), shape=shape)
        sums[first:last] = table @ bags.vectors[distinct].astype(np.float64)
    return sums
