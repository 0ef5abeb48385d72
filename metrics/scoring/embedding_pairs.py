"""Scores of texts as vectors: every hypothesis beside every reference of its segment, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.metric import MetricStatistics, mean_statistics
from metrics.scoring.models.vectors import row_lengths
from metrics.scoring.pairs import Pairs, chunks
from metrics.scoring.parameters import choice
from metrics.scoring.segments import Segments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CHUNK = 2**19  # numbers in memory at a time, of vectors or of similarities: what the cache holds
OVER_REFERENCES = ("best", "mean")

# A vector shorter than this has no direction: a sum that cancels but for rounding (the bound of Liu et al.'s program).
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
        By measure, (P,) float: NaN where the reference has no vector, 0 where the hypothesis alone has none.
    facts : dict
        Counts worth knowing: texts without a vector, unknown words.
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
        """Ranges of segments whose texts, of these sizes, add up to ``at_once`` at most; at least one segment each."""
        before = [np.concatenate(([0], np.cumsum(size))) for size in (row_size, reference_size)]
        return chunks(before[0][self.rows] + before[1][self.references], at_once)


def make_layout(row_segment: Ints, reference_segment: Ints, n_segments: int) -> Layout:
    """Of texts whose segments are given, both ascending."""
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
    """(P,) cosines of the vectors of all pairs.

    Parameters
    ----------
    segments : Segments
    row_vectors, reference_vectors : callable
        ``(start, stop)`` to the vectors of these hypothesis rows or references, one per row, of any length; all zeros,
        or shorter than `SHORTEST`, where a text has none. Asked once for each text.
    row_size, reference_size : (H,), (R,) int
        Numbers that making each vector holds in memory.

    Returns
    -------
    (P,) float in [-1, 1]
        NaN where the reference has no vector, 0 where the hypothesis alone has none.
    """
    layout = make_layout(segments.row_segment, segments.reference_segment, segments.n_segments)
    rows, references, pairs = layout.rows.tolist(), layout.references.tolist(), layout.pairs.tolist()
    values = np.empty(pairs[-1])
    own_length, other_length = np.zeros(rows[-1]), np.zeros(references[-1])
    for start, stop in layout.chunks(row_size, reference_size, CHUNK):
        first, other = rows[start], references[start]
        ours, theirs = row_vectors(first, rows[stop]), reference_vectors(other, references[stop])
        own_length[first : rows[stop]] = row_lengths(ours)
        other_length[other : references[stop]] = row_lengths(theirs)
        for segment in range(start, stop):
            own = ours[rows[segment] - first : rows[segment + 1] - first]
            alternatives = theirs[references[segment] - other : references[segment + 1] - other]
            block = values[pairs[segment] : pairs[segment + 1]].reshape(len(own), len(alternatives))
            np.matmul(own, alternatives.T, out=block)
    pairs_of = segments.pairs
    inverse = [
        np.divide(1.0, size, out=np.zeros_like(size), where=size >= SHORTEST) for size in (own_length, other_length)
    ]
    values *= inverse[0][pairs_of.row] * inverse[1][pairs_of.reference]
    np.clip(values, -1.0, 1.0, out=values)
    values[other_length[pairs_of.reference] < SHORTEST] = np.nan
    return values


def pair_statistics(
    prepared: Any, measure: Any, over_references: str, reference_mask: ArrayLike | None
) -> MetricStatistics:
    """Of the best or the mean of `PairScores` over the references of a subset, for each system and segment.

    Raises
    ------
    ValueError
        Something else was prepared, or scores by another measure.
    """
    if not isinstance(prepared, PairScores) or measure not in prepared.values:
        raise ValueError(f"prepared: found {type(prepared).__name__}; accepted: what this metric's preparation made")
    reduced = prepared.pairs.best if over_references == "best" else prepared.pairs.mean
    return mean_statistics(reduced(prepared.values[measure], reference_mask)[prepared.rows])


def reference_parameter() -> Any:
    """The parameter that says which of `OVER_REFERENCES` is meant."""
    return choice(
        "best",
        OVER_REFERENCES,
        label="Of several references",
        key="multi",
        hint="best: the closest reference counts; mean: all alike.",
    )
