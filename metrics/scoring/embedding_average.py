"""Embedding average: the cosine of two texts' mean word vectors.

    e(r) = sum_{w in r} e(w) / | sum_{w in r} e(w) |,   score(h, r) = cos(e(h), e(r))

Foltz, Kintsch and Landauer, "The measurement of textual coherence with latent semantic analysis", Discourse Processes
1998; Wieting et al., "Towards universal paraphrastic sentence embeddings", ICLR 2016; Liu et al., "How NOT to evaluate
your dialogue system", EMNLP 2016, section 3.2. Variants and texts without a vector: `metrics.scoring.word_embeddings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from metrics.scoring.arrays import Floats
from metrics.scoring.pairs import chunks
from metrics.scoring.segments import Segments
from metrics.scoring.word_embeddings import Bags, WordEmbeddingMetric, sentence_cosines

WORDS_SUMMED = 3000  # words of texts that are summed together: the vectors of the distinct ones stay in the cache


@dataclass(frozen=True)
class EmbeddingAverage(WordEmbeddingMetric):
    """Embedding average."""

    name: ClassVar[str] = "embedding_average"
    label: ClassVar[str] = "Embedding average"
    summary: ClassVar[str] = "How close the mean of a text's word vectors is to the mean of a reference's."

    @staticmethod
    def measure(segments: Segments, rows: Bags, references: Bags, variant: str) -> Floats:
        return sentence_cosines(segments, rows, references, _sums)


def _sums(bags: Bags, start: int, stop: int) -> Floats:
    starts = bags.starts[start : stop + 1]
    sums = np.empty((stop - start, bags.vectors.shape[1]))
    for first, last in chunks(starts, WORDS_SUMMED):
        bounds = starts[first : last + 1]
        part = slice(bounds[0], bounds[-1])
        distinct, number = np.unique(bags.words[part], return_inverse=True)
        shape = (last - first, distinct.size)
        table = sparse.csr_array((bags.counts[part].astype(np.float64), number, bounds - bounds[0]), shape=shape)
        sums[first:last] = table @ bags.vectors[distinct].astype(np.float64)
    return sums
