"""Vector extrema: the cosine of two texts' most extreme values in each dimension of their word vectors.

    e_d(r) = max_{w in r} e_d(w)  if that is larger than | min_{w in r} e_d(w) |,  min_{w in r} e_d(w) otherwise

If both are as far from 0, the formula and nlg-eval take the smaller, ``variant="liu2016"`` the larger. (Not followed:
nlg-eval takes 0 if the smallest value is exactly 0.)

Forgues et al., "Bootstrapping dialog systems with word embeddings", NIPS 2014 workshop on modern machine learning and
natural language processing; Liu et al., "How NOT to evaluate your dialogue system", EMNLP 2016, section 3.2. Variants
and texts without a vector: `metrics.scoring.word_embeddings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from metrics.scoring.arrays import Float32s, Floats, Ints
from metrics.scoring.segments import Segments
from metrics.scoring.word_embeddings import LIU2016, Bags, WordEmbeddingMetric, sentence_cosines

AT_ONCE = 256  # texts whose vectors stay in the processor's cache


@dataclass(frozen=True)
class VectorExtrema(WordEmbeddingMetric):
    """Vector extrema."""

    name: ClassVar[str] = "vector_extrema"
    label: ClassVar[str] = "Vector extrema"
    summary: ClassVar[str] = "As embedding average, with the most extreme value of each dimension instead of the mean."

    @staticmethod
    def measure(segments: Segments, rows: Bags, references: Bags, variant: str) -> Floats:
        larger = np.greater_equal if variant == LIU2016 else np.greater

        def extrema(bags: Bags, start: int, stop: int) -> Floats:
            largest, smallest = _ends(bags, start, stop)
            return np.where(larger(largest, -smallest), largest, smallest)

        return sentence_cosines(segments, rows, references, extrema)


def _ends(bags: Bags, start: int, stop: int) -> tuple[Floats, Floats]:
    """Return the largest and smallest values of each text; zeros for a text without words."""
    dimension = bags.vectors.shape[1]
    largest, smallest = np.zeros((stop - start, dimension)), np.zeros((stop - start, dimension))
    for first in range(start, stop, AT_ONCE):
        last = min(first + AT_ONCE, stop)
        # Longest texts first: those that have a next word are then the first few.
        order = np.argsort(-bags.sizes[first:last], kind="stable")
        high, low = _ends_by_length(bags, bags.starts[first:last][order], bags.sizes[first:last][order])
        largest[first - start + order], smallest[first - start + order] = high, low
    return largest, smallest


def _ends_by_length(bags: Bags, starts: Ints, sizes: Ints) -> tuple[Float32s, Float32s]:
    """Return both for texts of falling length, word by word: the first of all texts, then the second ..."""
    filled = np.count_nonzero(sizes)
    high = np.zeros((sizes.size, bags.vectors.shape[1]), dtype=np.float32)
    high[:filled] = bags.vectors[bags.words[starts[:filled]]]
    low = high.copy()
    n_longer = np.searchsorted(-sizes, -np.arange(1, int(sizes.max(initial=1))), side="left")
    for position, texts in enumerate(n_longer.tolist(), 1):
        vectors = bags.vectors[bags.words[starts[:texts] + position]]
        np.maximum(high[:texts], vectors, out=high[:texts])
        np.minimum(low[:texts], vectors, out=low[:texts])
    return high, low
