"""Scores of texts as vectors: every hypothesis with every reference of its segment, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.metric import MeanMetric
from metrics.scoring.models.vectors import row_lengths
from metrics.scoring.pairs import Pairs, chunks
from metrics.scoring.parameters import choice
from metrics.scoring.segments import Segments

CHUNK = 2**19  # numbers of vectors or similarities in memory at a time: they fit into the cache
OVER_REFERENCES = ("best", "mean")

# A shorter vector has no direction: a sum that cancels except for rounding (the bound of Liu et al.'s program).
SHORTEST = 1e-11


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores of all pairs of a hypothesis row and a reference of its segment.

    Attributes
    ----------
    rows : (T, S) int
        Hypothesis row of each system's hypothesis.
    pairs : Pairs
    values : dict
        By measure, (P,) float: NaN if the reference has no vector, 0 if only the hypothesis has none.
    facts : dict
        Counts of texts without a vector and of unknown words.
    """

    rows: Ints
    pairs: Pairs
    values: dict[Any, Floats]
    facts: dict[str, int]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the rows, references and pairs of each of S segments start and end: (S + 1,) each."""

    rows: Ints
    references: Ints
    pairs: Ints

    def chunks(self, row_size: Ints, reference_size: Ints, at_once: int) -> Iterator[tuple[int, int]]:
        """Divide the segments into ranges whose text sizes add up to at most ``at_once``; at least one segment each."""
        before = [np.concatenate(([0], np.cumsum(size))) for size in (row_size, reference_size)]
        return chunks(before[0][self.rows] + before[1][self.references], at_once)


def make_layout(row_segment: Ints, reference_segment: Ints, n_segments: int) -> Layout:
    """Return the layout of texts from their segments, both ascending."""
    rows, references = (
        np.searchsorted(owners, np.arange(n_segments + 1)) for owners in (row_segment, reference_segment)
    )
    pairs = np.concatenate(([0], np.cumsum(np.diff(rows) * np.diff(references))))
    return Layout(rows, references, pairs)


def cosine_scores(
    segments: Segments,
    row_vectors: Callable[[int, int], Floats],
    reference_vectors: Callable[[int, int], Floats],
    row_size: Ints,
    reference_size: Ints,
) -> Floats:
    """Return the cosines (P,) of the vectors of all pairs.

    Parameters
    ----------
    segments : Segments
    row_vectors, reference_vectors : callable
        ``(start, stop)`` to the vectors of these hypothesis rows or references, one per row, of any length; all zeros,
        or shorter than `SHORTEST`, for a text without one. Called once for each text.
    row_size, reference_size : (H,), (R,) int
        How many numbers are in memory while each vector is made.

    Returns
    -------
    (P,) float in [-1, 1]
        NaN if the reference has no vector, 0 if only the hypothesis has none.
    """
    layout = make_layout(segments.row_segment, segments.reference_segment, segments.n_segments)
    rows, references, pairs = layout.rows.tolist(), layout.references.tolist(), layout.pairs.tolist()
    values = np.empty(pairs[-1])
    row_length, reference_length = np.zeros(rows[-1]), np.zeros(references[-1])
    for start, stop in layout.chunks(row_size, reference_size, CHUNK):
        first_row, first_reference = rows[start], references[start]
        ours = row_vectors(first_row, rows[stop])
        theirs = reference_vectors(first_reference, references[stop])
        row_length[first_row : rows[stop]] = row_lengths(ours)
        reference_length[first_reference : references[stop]] = row_lengths(theirs)
        for segment in range(start, stop):
            left = ours[rows[segment] - first_row : rows[segment + 1] - first_row]
            right = theirs[references[segment] - first_reference : references[segment + 1] - first_reference]
            np.matmul(left, right.T, out=values[pairs[segment] : pairs[segment + 1]].reshape(len(left), len(right)))
    row, reference = segments.pairs.row, segments.pairs.reference
    inverse = [
        np.divide(1.0, size, out=np.zeros_like(size), where=size >= SHORTEST) for size in (row_length, reference_length)
    ]
    values *= inverse[0][row] * inverse[1][reference]
    np.clip(values, -1.0, 1.0, out=values)
    values[reference_length[reference] < SHORTEST] = np.nan
    return values


class EmbeddingMetric(MeanMetric):
    """The best or the mean of `PairScores` over the references; each metric has a parameter ``over_references``."""

    group: ClassVar[str] = "embedding"
    low: ClassVar[float] = -1.0

    #: By what `PairScores.values` holds its scores.
    measure: ClassVar[Any]
    over_references: str

    def segment_scores(self, prepared: Any, weights: ArrayLike | None, reference_mask: ArrayLike | None) -> Floats:
        if not isinstance(prepared, PairScores) or self.measure not in prepared.values:
            raise ValueError(
                f"prepared: found {type(prepared).__name__}; accepted: what this metric's preparation made"
            )
        reduced = prepared.pairs.best if self.over_references == "best" else prepared.pairs.mean
        return reduced(prepared.values[self.measure], reference_mask)[prepared.rows]


def reference_parameter() -> Any:
    """Return the parameter that is one of `OVER_REFERENCES`."""
    return choice(
        "best",
        OVER_REFERENCES,
        label="Of several references",
        key="multi",
        hint="best: the closest reference counts; mean: all alike.",
    )
