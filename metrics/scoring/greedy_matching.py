"""Greedy matching: each word with the most similar word of the other text, averaged, in both directions.

    G(a, b) = sum_{w in a} max_{v in b} cos(e(w), e(v)) / |a|,   score(h, r) = (G(h, r) + G(r, h)) / 2

Rus and Lintean, "A comparison of greedy and optimal assessment of natural language student input using word-to-word
similarity metrics", BEA 2012; Liu et al., "How NOT to evaluate your dialogue system", EMNLP 2016, section 3.2. Variants
and texts without a vector: `metrics.scoring.word_embeddings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.embedding_pairs import CHUNK, make_layout
from metrics.scoring.pairs import make_pairs
from metrics.scoring.segments import Segments
from metrics.scoring.word_embeddings import LIU2016, Bags, WordEmbeddingMetric

# OpenBLAS gives a product of up to 2^18 multiplications to one thread.
TILE, TILE_ROWS = 2**18, 24
SHORT = 256  # a shorter vector counts as so many numbers, since cosines of words take room, too
AT_ONCE = 2**19  # numbers of vectors: most of them fit into the processor's cache


@dataclass(frozen=True)
class GreedyMatching(WordEmbeddingMetric):
    """Greedy matching."""

    name: ClassVar[str] = "greedy_matching"
    label: ClassVar[str] = "Greedy matching"
    summary: ClassVar[str] = (
        "How close each word is to the closest word of the other text, on average, in both directions."
    )

    @staticmethod
    def measure(segments: Segments, rows: Bags, references: Bags, variant: str) -> Floats:
        floor = 0.0 if variant == LIU2016 else -1.0
        filled, usable = rows.with_any_vector(), references.with_any_vector()
        pairs = segments.pairs
        values = np.where(usable[pairs.reference], 0.0, np.nan)
        compared = np.empty(np.count_nonzero(filled[pairs.row] & usable[pairs.reference]))
        rows, references = rows.only(filled), references.only(usable)
        layout = make_layout(segments.row_segment[filled], segments.reference_segment[usable], segments.n_segments)
        width = max(rows.vectors.shape[1], SHORT)
        for start, stop in layout.chunks(rows.sizes * width, references.sizes * width, AT_ONCE):
            first, last = layout.pairs[[start, stop]].tolist()
            if first < last:
                ours = _words(rows, layout.rows[start : stop + 1])
                theirs = _words(references, layout.references[start : stop + 1])
                compared[first:last] = _scores(ours, theirs, floor)
        values[filled[pairs.row] & usable[pairs.reference]] = np.clip(compared, -1.0, 1.0)
        return values


class _Words(NamedTuple):
    """Words of k texts of s segments; a word that texts of a segment share is there once.

    Attributes
    ----------
    vectors : (q, d) float
        Of the distinct words of each segment.
    scale : (q,) float
        Factor that makes the length of each 1; 0 for a vector of zeros.
    distinct : (s + 1,) int
        Where the distinct words of each segment start and end.
    number : (n,) int
        Index of each word of a text among the distinct words of its segment.
    counts : (n,) float
        How often it occurs in the text.
    texts : (k + 1,) int
        Where the words of each text start and end.
    segments : (s + 1,) int
        Where the texts of each segment start and end.
    """

    vectors: Floats
    scale: Floats
    distinct: Ints
    number: Ints
    counts: Floats
    texts: Ints
    segments: Ints

    @property
    def bounds(self) -> Ints:
        """Return (s + 1,) where the words of each segment start and end."""
        return self.texts[self.segments]


def _words(bags: Bags, segments: Ints) -> _Words:
    starts = bags.starts[segments[0] : segments[-1] + 1]
    part = slice(starts[0], starts[-1])
    texts, segments = starts - starts[0], segments - segments[0]
    n_words = len(bags.vectors)
    segment = np.repeat(np.arange(segments.size - 1), np.diff(texts[segments]))
    keys, number = np.unique(segment * n_words + bags.words[part], return_inverse=True)
    distinct = np.searchsorted(keys, np.arange(segments.size) * n_words)
    words = keys % n_words
    lengths = bags.lengths[words]
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return _Words(
        bags.vectors[words].astype(np.float64),
        scale,
        distinct,
        number - distinct[segment],
        bags.counts[part].astype(np.float64),
        texts,
        segments,
    )


def _scores(ours: _Words, theirs: _Words, floor: float) -> Floats:
    """Return the scores (p,) of all pairs of each segment; no text is empty."""
    blocks = np.concatenate(([0], np.cumsum(np.diff(ours.bounds) * np.diff(theirs.bounds))))
    if blocks[-1] > CHUNK and blocks.size == 2:
        return _long_scores(ours, theirs, floor)
    np.multiply(ours.vectors, ours.scale[:, None], out=ours.vectors)
    # Of each segment the cosines of our words and theirs; once more with theirs in front.
    similarity, turned = np.empty(blocks[-1]), np.empty(blocks[-1])
    edges = (pairwise(each.tolist()) for each in (blocks, ours.bounds, theirs.bounds, ours.distinct, theirs.distinct))
    for block, left, right, ours_once, theirs_once in zip(*edges, strict=True):
        if block[0] < block[1]:
            cosines = _products(ours.vectors[slice(*ours_once)], theirs.vectors[slice(*theirs_once)])
            cosines *= theirs.scale[slice(*theirs_once)]
            cosines = cosines[ours.number[slice(*left)]].take(theirs.number[slice(*right)], axis=1)
            similarity[slice(*block)] = cosines.ravel()
            turned[slice(*block)] = cosines.T.ravel()
    ahead, row, reference = _best_matches(similarity, ours, theirs, floor)
    behind, back_reference, back_row = _best_matches(turned, theirs, ours, floor)
    alternatives = np.repeat(np.diff(theirs.segments), np.diff(ours.segments))
    first = np.cumsum(alternatives) - alternatives - np.repeat(theirs.segments[:-1], np.diff(ours.segments))
    size = int(alternatives.sum())
    total = np.bincount(first[row] + reference, weights=ahead, minlength=size)
    total += np.bincount(first[back_row] + back_reference, weights=behind, minlength=size)
    scores: Floats = total / 2
    return scores


def _best_matches(similarity: Floats, words: _Words, others: _Words, floor: float) -> tuple[Floats, Ints, Ints]:
    """Return for each word and each other text of its segment: the best match's share of the mean, and both texts.

    ``similarity`` holds, segment by segment, the cosine of each word with every other word of the segment.
    """
    segment = np.repeat(np.arange(words.segments.size - 1), np.diff(words.bounds))
    text = np.repeat(np.arange(words.texts.size - 1), np.diff(words.texts))
    width = np.diff(others.bounds)[segment]
    matches = make_pairs(segment, others.segments)
    before = np.repeat(others.bounds[:-1], np.diff(others.segments))
    starts = (np.cumsum(width) - width)[matches.row] + (others.texts[:-1] - before)[matches.reference]
    best = np.maximum(np.maximum.reduceat(similarity, starts), floor)
    share = words.counts / np.add.reduceat(words.counts, words.texts[:-1])[text]
    return best * share[matches.row], text[matches.row], matches.reference


def _products(left: Floats, right: Floats) -> Floats:
    """Return inner products (n, m), in tiles too small for BLAS to divide among threads, which would take longer."""
    products = np.empty((len(left), len(right)))
    width = max(1, TILE // (TILE_ROWS * left.shape[1]))
    for top in range(0, len(left), TILE_ROWS):
        rows = left[top : top + TILE_ROWS]
        for start in range(0, len(right), width):
            np.matmul(rows, right[start : start + width].T, out=products[top : top + TILE_ROWS, start : start + width])
    return products


def _long_scores(ours: _Words, theirs: _Words, floor: float) -> Floats:
    """Return `_scores` of one segment of very long texts, a slice of the words of a text at a time."""
    for words in (ours, theirs):
        np.multiply(words.vectors, words.scale[:, None], out=words.vectors)
    forth = np.empty((len(ours.counts), theirs.texts.size - 1))
    back = np.full((ours.texts.size - 1, len(theirs.counts)), floor)
    step = max(1, CHUNK // len(theirs.counts))
    for text, (start, end) in enumerate(zip(ours.texts.tolist(), ours.texts[1:].tolist(), strict=False)):
        for first in range(start, end, step):
            last = min(first + step, end)
            cosines = ours.vectors[ours.number[first:last]] @ theirs.vectors.T
            similarity = cosines.take(theirs.number, axis=1)
            forth[first:last] = np.maximum(np.maximum.reduceat(similarity, theirs.texts[:-1], axis=1), floor)
            np.maximum(back[text], similarity.max(axis=0), out=back[text])
    our_size, their_size = (np.add.reduceat(words.counts, words.texts[:-1]) for words in (ours, theirs))
    ahead = np.add.reduceat(forth * ours.counts[:, None], ours.texts[:-1], axis=0) / our_size[:, None]
    behind = np.add.reduceat(back * theirs.counts, theirs.texts[:-1], axis=1) / their_size
    mean: Floats = (ahead + behind).ravel() / 2
    return mean
