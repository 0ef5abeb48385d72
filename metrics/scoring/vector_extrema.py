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
    Floats,
    Ints,
    Measure,
    WordEmbeddingMetric,
    sentence_cosines,
)


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


def _smallest_at_ties(vectors: Floats, counts: Floats, starts: Ints) -> Floats:
    largest, smallest = _ends(vectors, starts)
    return np.where(largest > -smallest, largest, smallest)


def _largest_at_ties(vectors: Floats, counts: Floats, starts: Ints) -> Floats:
    largest, smallest = _ends(vectors, starts)
    return np.where(largest >= -smallest, largest, smallest)


def _ends(vectors: Floats, starts: Ints) -> tuple[Floats, Floats]:
    return np.maximum.reduceat(vectors, starts, axis=0), np.minimum.reduceat(vectors, starts, axis=0)
