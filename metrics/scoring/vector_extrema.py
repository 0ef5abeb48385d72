"""Vector extrema: the cosine of two texts' most extreme values in each dimension of their word vectors.

    e_d(r) = max_{w in r} e_d(w)  if that is larger than | min_{w in r} e_d(w) |,  min_{w in r} e_d(w) otherwise

Forgues et al., "Bootstrapping dialog systems with word embeddings", NIPS 2014 workshop on modern machine learning and
natural language processing; Liu et al., "How NOT to evaluate your dialogue system", EMNLP 2016, section 3.2; D'Haro et
al. 2019, section 4.1.2. Where both ends are as far from 0, the formula and nlg-eval take the smaller, and
``variant="liu2016"``, as that program, the larger. (nlg-eval also takes 0 where the smallest value is exactly 0,
against the formula; that is not followed.) Range [-1, 1]; of several references the best, as nlg-eval takes it, or the
mean; a system's score is the mean over segments. Unknown words, and what a text without a vector is worth: see
`metrics.scoring.word_embeddings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from metrics.scoring.segments import Segments
from metrics.scoring.word_embeddings import (
    LIU2016,
    Bags,
    Float32s,
    Floats,
    Ints,
    Measure,
    WordEmbeddingMetric,
    sentence_cosines,
)

AT_ONCE = 256  # texts whose vectors stay in the processor's cache


@dataclass(frozen=True)
class VectorExtrema(WordEmbeddingMetric):
    """Vector extrema as a metric of the registry."""

    name: ClassVar[str] = "vector_extrema"
    label: ClassVar[str] = "Vector extrema"
    summary: ClassVar[str] = "As embedding average, with the most extreme value of each dimension instead of the mean."

    @staticmethod
    def measure() -> Measure:
        return extrema_scores


def extrema_scores(segments: Segments, rows: Bags, references: Bags, variant: str) -> Floats:
    """(P,) for every pair."""
    return sentence_cosines(segments, rows, references, _largest_at_ties if variant == LIU2016 else _smallest_at_ties)


def _smallest_at_ties(bags: Bags, start: int, stop: int) -> Floats:
    largest, smallest = _ends(bags, start, stop)
    return np.where(largest > -smallest, largest, smallest)


def _largest_at_ties(bags: Bags, start: int, stop: int) -> Floats:
    largest, smallest = _ends(bags, start, stop)
    return np.where(largest >= -smallest, largest, smallest)


def _ends(bags: Bags, start: int, stop: int) -> tuple[Floats, Floats]:
    """Largest and smallest values of each text; zeros for a text without words."""
    dimension = bags.vectors.shape[1]
    largest, smallest = np.zeros((stop - start, dimension)), np.zeros((stop - start, dimension))
    for first in range(start, stop, AT_ONCE):
        last = min(first + AT_ONCE, stop)
        # The texts of most words in front: those that have a next word are always the first few.
        order = np.argsort(-bags.sizes[first:last], kind="stable")
        high, low = _ends_by_length(bags, bags.starts[first:last][order], bags.sizes[first:last][order])
        largest[first - start + order], smallest[first - start + order] = high, low
    return largest, smallest


def _ends_by_length(bags: Bags, starts: Ints, sizes: Ints) -> tuple[Float32s, Float32s]:
    """Of texts that have ever fewer words: the first word of all, then the second of those that have one, and so on."""
    filled = np.count_nonzero(sizes)
    high = np.zeros((sizes.size, bags.vectors.shape[1]), dtype=np.float32)
    high[:filled] = bags.vectors[bags.words[starts[:filled]]]
    low = high.copy()
    having = np.searchsorted(-sizes, -np.arange(1, int(sizes.max(initial=1))), side="left")
    for position, texts in enumerate(having.tolist(), 1):
        vectors = bags.vectors[bags.words[starts[:texts] + position]]
        np.maximum(high[:texts], vectors, out=high[:texts])
        np.minimum(low[:texts], vectors, out=low[:texts])
    return high, low
