"""The equations of word embedding metrics written out word by word, as the two public programs do: slow and plain.

Equations: Liu et al., "How NOT to evaluate your dialogue system", EMNLP 2016, section 3.2. Programs:
`word2vec/evaluate.py` of nlg-eval (Sharma et al. 2017) and `embedding_metrics.py` of Liu et al.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Table = Mapping[str, Vector]


def cosine(first: Vector, second: Vector) -> float:
    size = math.sqrt(sum(x * x for x in first)) * math.sqrt(sum(x * x for x in second))
    return sum(x * y for x, y in zip(first, second, strict=True)) / size if size else 0.0


def word_vectors(tokens: Sequence[str], table: Table, variant: str) -> list[Vector]:
    vectors = []
    mean = np.mean(list(table.values()), axis=0)
    for token in tokens:
        if variant == "nlg-eval":
            vectors.append(table.get(token, mean))
        elif token in table:
            vectors.append(table[token] / np.linalg.norm(table[token]))
    return vectors


def average(hypothesis: list[Vector], reference: list[Vector], variant: str) -> float:
    return cosine(np.sum(hypothesis, axis=0), np.sum(reference, axis=0))


def extreme(vectors: list[Vector], variant: str) -> Vector:
    values = []
    for column in zip(*vectors, strict=True):
        largest, smallest = max(column), min(column)
        larger = largest > abs(smallest) if variant == "nlg-eval" else largest >= abs(smallest)
        values.append(largest if larger else smallest)
    return np.array(values)


def extrema(hypothesis: list[Vector], reference: list[Vector], variant: str) -> float:
    return cosine(extreme(hypothesis, variant), extreme(reference, variant))


def greedy(hypothesis: list[Vector], reference: list[Vector], variant: str) -> float:
    floor = [] if variant == "nlg-eval" else [0.0]

    def one_way(from_words: list[Vector], to_words: list[Vector]) -> float:
        return sum(max([cosine(word, target) for target in to_words] + floor) for word in from_words) / len(from_words)

    return (one_way(hypothesis, reference) + one_way(reference, hypothesis)) / 2


MEASURES = {"embedding_average": average, "vector_extrema": extrema, "greedy_matching": greedy}


def segment_score(
    name: str, hypothesis: Sequence[str], references: Sequence[Sequence[str]], table: Table, variant: str
) -> float:
    """The best over the references that have a vector; 0 for a hypothesis without one, NaN where no reference has."""
    hypothesis_vectors = word_vectors(hypothesis, table, variant)
    scores = []
    for reference in references:
        reference_vectors = word_vectors(reference, table, variant)
        if reference_vectors:
            scores.append(MEASURES[name](hypothesis_vectors, reference_vectors, variant) if hypothesis_vectors else 0.0)
    return max(scores, default=math.nan)
