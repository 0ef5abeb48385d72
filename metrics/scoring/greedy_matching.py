"""Greedy matching: each word beside the most similar word of the other text, averaged, in both directions.

    G(a, b) = sum_{w in a} max_{v in b} cos(e(w), e(v)) / |a|,   score(h, r) = (G(h, r) + G(r, h)) / 2

Rus and Lintean, "A comparison of greedy and optimal assessment of natural language student input using word-to-word
similarity metrics", BEA 2012; Liu et al., "How NOT to evaluate your dialogue system", EMNLP 2016, section 3.2; D'Haro
et al. 2019, section 4.1.2. A word that comes twice counts twice. Range [-1, 1] (``variant="liu2016"``: no word matches
worse than 0, as in that program); of several references the best, as nlg-eval takes it, or the mean; a system's score
is the mean over segments. Unknown words, and what a text without a vector is worth: see
`metrics.scoring.word_embeddings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from metrics.scoring.embedding_pairs import CHUNK, make_layout
from metrics.scoring.models.vectors import unit_rows
from metrics.scoring.segments import Segments
from metrics.scoring.word_embeddings import LIU2016, Bags, Floats, Ints, Measure, WordEmbeddingMetric

# OpenBLAS gives a product of up to 2^18 multiplications to one thread.
TILE, TILE_ROWS = 2**18, 24


@dataclass(frozen=True)
class GreedyMatching(WordEmbeddingMetric):
    """Greedy matching as a metric of the registry."""

    name: ClassVar[str] = "greedy_matching"
    label: ClassVar[str] = "Greedy matching"
    summary: ClassVar[str] = (
        "How close each word is to the closest word of the other text, on average, in both directions."
    )

    @staticmethod
    def measure() -> Measure:
        return greedy_scores


class _Words(NamedTuple):
    """Words of k texts: vectors of length 1 (n, d), how often each occurs (n,), where each text starts (k,)."""

    vectors: Floats
    counts: Floats
    starts: Ints

    @property
    def lengths(self) -> Floats:
        lengths: Floats = np.add.reduceat(self.counts, self.starts)
        return lengths


class _Part:
    """Some texts of which a few at a time are asked for; the vectors of their distinct words are made once."""

    def __init__(self, bags: Bags, start: int, stop: int) -> None:
        vectors, self.number = bags.part(start, stop)
        self.units = unit_rows(vectors)
        self.starts = bags.starts[start : stop + 1] - bags.starts[start]
        self.counts = bags.counts[bags.starts[start] : bags.starts[stop]].astype(np.float64)

    def texts(self, start: int, stop: int) -> _Words:
        first, last = self.starts[start], self.starts[stop]
        return _Words(self.units[self.number[first:last]], self.counts[first:last], self.starts[start:stop] - first)


def greedy_scores(segments: Segments, rows: Bags, references: Bags, variant: str) -> Floats:
    """(P,) for every pair."""
    floor = 0.0 if variant == LIU2016 else -1.0
    filled, usable = rows.with_any_vector(), references.with_any_vector()
    pairs = segments.pairs
    values = np.where(usable[pairs.reference], 0.0, np.nan)
    compared = np.empty(np.count_nonzero(filled[pairs.row] & usable[pairs.reference]))
    rows, references = rows.only(filled), references.only(usable)
    layout = make_layout(segments.row_segment[filled], segments.reference_segment[usable], segments.n_segments)
    dimension = rows.vectors.shape[1]
    for start, stop in layout.chunks(rows.sizes * dimension, references.sizes * dimension):
        ours = _Part(rows, layout.rows[start], layout.rows[stop])
        theirs = _Part(references, layout.references[start], layout.references[stop])
        own = (layout.rows[start : stop + 1] - layout.rows[start]).tolist()
        other = (layout.references[start : stop + 1] - layout.references[start]).tolist()
        for place, segment in enumerate(range(start, stop)):
            first, last = layout.pairs[segment : segment + 2].tolist()
            if first < last:
                block = _block(ours.texts(*own[place : place + 2]), theirs.texts(*other[place : place + 2]), floor)
                compared[first:last] = block.ravel()
    values[filled[pairs.row] & usable[pairs.reference]] = np.clip(compared, -1.0, 1.0)
    return values


def _block(ours: _Words, theirs: _Words, floor: float) -> Floats:
    """(k, m) scores of k texts beside m others."""
    if len(ours.counts) * len(theirs.counts) > CHUNK:
        return _long_block(ours, theirs, floor)
    similarity = _products(ours.vectors, theirs.vectors)
    forth = np.maximum(np.maximum.reduceat(similarity, theirs.starts, axis=1), floor)
    back = np.maximum(np.maximum.reduceat(similarity, ours.starts, axis=0), floor)
    return _averaged(forth, back, ours, theirs)


def _products(one: Floats, other: Floats) -> Floats:
    """(n, m) of n vectors and m others, in tiles too small for BLAS to spread over threads, which would wait longer."""
    found = np.empty((len(one), len(other)))
    width = max(1, TILE // (TILE_ROWS * one.shape[1]))
    for top in range(0, len(one), TILE_ROWS):
        rows = one[top : top + TILE_ROWS]
        for left in range(0, len(other), width):
            tile = found[top : top + TILE_ROWS, left : left + width]
            np.matmul(rows, other[left : left + width].T, out=tile)
    return found


def _averaged(forth: Floats, back: Floats, ours: _Words, theirs: _Words) -> Floats:
    """From the best match of each of our words in each of their texts, and the other way round."""
    ahead = np.add.reduceat(forth * ours.counts[:, None], ours.starts, axis=0) / ours.lengths[:, None]
    behind = np.add.reduceat(back * theirs.counts, theirs.starts, axis=1) / theirs.lengths
    mean: Floats = (ahead + behind) / 2
    return mean


def _long_block(ours: _Words, theirs: _Words, floor: float) -> Floats:
    """`_block` a text at a time, a slice of its words at a time, for texts of very many words."""
    back = np.full((ours.starts.size, len(theirs.counts)), floor)
    forth = np.empty((len(ours.counts), theirs.starts.size))
    step = max(1, CHUNK // len(theirs.counts))
    ends = [*ours.starts[1:].tolist(), len(ours.counts)]
    for text, (start, end) in enumerate(zip(ours.starts.tolist(), ends, strict=True)):
        for first in range(start, end, step):
            last = min(first + step, end)
            similarity = ours.vectors[first:last] @ theirs.vectors.T
            forth[first:last] = np.maximum(np.maximum.reduceat(similarity, theirs.starts, axis=1), floor)
            np.maximum(back[text], similarity.max(axis=0), out=back[text])
    return _averaged(forth, back, ours, theirs)
