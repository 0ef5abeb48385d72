"""CIDEr: n-grams of hypothesis and references as tf-idf vectors, compared by cosine.

An n-gram of a text has the weight g = tf * idf, tf its count in the text, idf = log(N / df), N the segments that have
references and df those with a reference that holds the n-gram (at least 1). The mean is over the m references, over
orders 1 to 4, and over segments (Vedantam et al. 2015, equations 1 to 4):

    "cider"    CIDEr_n   = 10 / m * sum_j  <g(c), g(r_j)> / (|g(c)| |g(r_j)|)
    "cider_d"  CIDEr-D_n = 10 / m * sum_j  <min(g(c), g(r_j)), g(r_j)> / (|g(c)| |g(r_j)|) * exp(-(l_c - l_j)^2 / 2 s^2)

**CIDEr-D is what pycocoevalcap and nlg-eval compute and call "CIDEr"**, so it is the default. As there, vectors are
clipped after idf and norms are of the unclipped ones; l counts bigrams; an order without n-grams in either text (or
without any of idf > 0) counts as 0; and both variants are multiplied by 10. Document frequencies are of the references
in use. A segment has no score (NaN) without a reference in the subset or without a token on either side, and in a
corpus in which only one segment has references: all its idf are log(1) = 0.

Ramakrishna Vedantam, C. Lawrence Zitnick, Devi Parikh, CIDEr: Consensus-based Image Description Evaluation, CVPR 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.scoring.arrays import Bools, Floats, Ints
from metrics.scoring.metric import CorpusState, Metric, MetricStatistics, Preparation, mean_statistics
from metrics.scoring.models.store import ModelStore
from metrics.scoring.pairs import Pairs, checked_mask
from metrics.scoring.parameters import choice, flag, real
from metrics.scoring.segments import Segments
from metrics.scoring.tallies import Keys, extended_hashes, key_range, looked_up, narrow, summed, token_hashes
from metrics.scoring.texts import TOKENIZERS
from metrics.scoring.token_ids import NumberedSegments, TokenIds, number_segments

VARIANTS = ("cider_d", "cider")
ORDERS = 4
SCALE = 10.0


@dataclass(frozen=True, eq=False)
class GramCounts:
    """How often each n-gram occurs in each of K texts: E entries."""

    text: Ints
    gram: Ints
    count: Floats
    n_texts: int


@dataclass(frozen=True, eq=False)
class Holders:
    """Entries of references, grouped by segment and n-gram.

    Attributes
    ----------
    key : (U,) int
        Segment times G plus n-gram, ascending.
    starts, sizes : (U,) int
        Each group's part of ``entry``.
    entry : (E,) int
        Entries of the references' `GramCounts`.
    """

    key: Ints
    starts: Ints
    sizes: Ints
    entry: Ints


@dataclass(frozen=True, eq=False)
class Matches:
    """The M n-grams that the texts of a pair share, with their counts in both."""

    pair: Ints
    gram: Ints
    hyp_count: Floats
    ref_count: Floats


@dataclass(frozen=True, eq=False)
class GramTable:
    """What CIDEr reads of the texts, for any subset of the references.

    Attributes
    ----------
    keys : (G,) uint64
        The hash of each n-gram, ascending.
    order : (G,) int
        Its length less one, 0 to 3.
    hypotheses, references : GramCounts
    holders : Holders
    matches : Matches
    length_gap : (P,) float
        Bigrams of the hypothesis less those of the reference.
    empty : (P,) bool
        Neither text of the pair has a token.
    rows, reference_segment, pairs
        As in `Segments`.
    """

    keys: Keys
    order: Ints
    hypotheses: GramCounts
    references: GramCounts
    holders: Holders
    matches: Matches
    length_gap: Floats
    empty: Bools
    rows: Ints
    reference_segment: Ints
    pairs: Pairs


@dataclass(frozen=True, eq=False)
class DocumentFrequencies(CorpusState):
    """In how many segments' references each n-gram occurs; parts of a corpus can be joined.

    Attributes
    ----------
    keys : (K,) uint64
        Hashes of n-grams, ascending.
    counts : (K,) int of any width
        Segments with a reference that holds it; at least 1.
    n_documents : int
        Segments that have references.
    """

    keys: Keys
    counts: NDArray[Any]
    n_documents: int

    def joined(self, other: DocumentFrequencies) -> DocumentFrequencies:
        keys, counts = summed(np.concatenate([self.keys, other.keys]), np.concatenate([self.counts, other.counts]))
        return DocumentFrequencies(keys, counts, self.n_documents + other.n_documents)

    def ranged(self, index: int, of: int) -> DocumentFrequencies:
        part = key_range(self.keys, index, of)
        return DocumentFrequencies(self.keys[part].copy(), self.counts[part].copy(), 0 if index else self.n_documents)

    def settled(self) -> DocumentFrequencies:
        """Return it without n-grams of one document, which are most of all: they count like those of none."""
        several = self.counts > 1
        return DocumentFrequencies(self.keys[several], self.counts[several], self.n_documents)

    def of_texts(self, prepared: GramTable) -> DocumentFrequencies:
        counts = self.of(prepared.keys)
        held = counts > 0
        return DocumentFrequencies(prepared.keys[held], counts[held], self.n_documents)

    def of(self, keys: Keys) -> Ints:
        """Return the frequency of each of these n-grams; 0 for an unknown one."""
        return looked_up(self.keys, self.counts, keys)


@dataclass(frozen=True)
class GramPreparation(Preparation):
    tokenize: str
    lowercase: bool

    def __call__(self, segments: Segments, models: ModelStore) -> GramTable:
        return build_gram_table(number_segments(segments, tokenize=self.tokenize, lowercase=self.lowercase))


def build_gram_table(numbered: NumberedSegments) -> GramTable:
    """Count n-grams of orders 1 to 4 in each text, and find those that pairs share."""
    hashes = token_hashes(numbered.vocabulary)
    hyp_text, hyp_order, hyp_keys = _gram_hashes(numbered.hypotheses, hashes)
    ref_text, ref_order, ref_keys = _gram_hashes(numbered.references, hashes)
    keys, gram = np.unique(np.concatenate([hyp_keys, ref_keys]), return_inverse=True)
    order = np.empty(keys.size, dtype=np.int64)
    order[gram] = np.concatenate([hyp_order, ref_order])
    hypotheses = _counted(hyp_text, gram[: hyp_keys.size], keys.size, numbered.row_segment.size)
    references = _counted(ref_text, gram[hyp_keys.size :], keys.size, numbered.reference_segment.size)
    holders = _holders(references, numbered.reference_segment, keys.size)
    pairs = numbered.pairs
    bigrams = [np.maximum(texts.lengths - 1, 0) for texts in (numbered.hypotheses, numbered.references)]
    gap = (bigrams[0][pairs.row] - bigrams[1][pairs.reference]).astype(np.float64)
    matches = _matches(hypotheses, references, holders, numbered, keys.size)
    return GramTable(
        keys,
        order,
        hypotheses,
        references,
        holders,
        matches,
        gap,
        numbered.empty_pairs(),
        numbered.rows,
        numbered.reference_segment,
        pairs,
    )


def _gram_hashes(texts: TokenIds, hashes: Keys) -> tuple[Ints, Ints, Keys]:
    """Return text, order less one, and hash of each occurrence of an n-gram of orders 1 to 4."""
    text = np.repeat(np.arange(texts.lengths.size), texts.lengths)
    remaining = np.repeat(texts.starts[1:], texts.lengths) - np.arange(texts.ids.size)
    tokens = hashes[texts.ids]
    at, key = np.arange(texts.ids.size), tokens
    occurrences = []
    for order in range(ORDERS):
        if order:
            keep = remaining[at] > order
            at, key = at[keep], extended_hashes(key[keep], tokens[at[keep] + order])
        occurrences.append((text[at], np.full(at.size, order), key))
    texts_at, orders, keys = zip(*occurrences, strict=True)
    return np.concatenate(texts_at), np.concatenate(orders), np.concatenate(keys)


def _counted(text: Ints, gram: Ints, n_grams: int, n_texts: int) -> GramCounts:
    radix = max(n_grams, 1)
    pair, count = np.unique(text * radix + gram, return_counts=True)
    return GramCounts(pair // radix, pair % radix, count.astype(np.float64), n_texts)


def _holders(references: GramCounts, reference_segment: Ints, n_grams: int) -> Holders:
    key = reference_segment[references.text] * n_grams + references.gram
    entry = np.argsort(key)
    groups, starts, sizes = np.unique(key[entry], return_index=True, return_counts=True)
    return Holders(groups, starts, sizes, entry)


def _matches(
    hypotheses: GramCounts, references: GramCounts, holders: Holders, numbered: NumberedSegments, n_grams: int
) -> Matches:
    """Return each n-gram of a hypothesis with each reference of its segment that holds it."""
    key = numbered.row_segment[hypotheses.text] * n_grams + hypotheses.gram
    index = np.searchsorted(holders.key, key)
    held = np.flatnonzero(index < holders.key.size)
    held = held[holders.key[index[held]] == key[held]]
    group = index[held]
    sizes = holders.sizes[group]
    hyp_entry = np.repeat(held, sizes)
    within = np.arange(hyp_entry.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    ref_entry = holders.entry[np.repeat(holders.starts[group], sizes) + within]

    pairs = numbered.pairs
    first_pair = np.searchsorted(pairs.row, np.arange(pairs.n_rows))[hypotheses.text[hyp_entry]]
    # A row's pairs have its segment's references in order, without a gap.
    pair = first_pair + references.text[ref_entry] - pairs.reference[first_pair]
    return Matches(pair, hypotheses.gram[hyp_entry], hypotheses.count[hyp_entry], references.count[ref_entry])


def document_frequencies(table: GramTable, reference_mask: ArrayLike | None = None) -> DocumentFrequencies:
    """Count documents over the references in ``reference_mask`` (R,), by default all."""
    mask = checked_mask(reference_mask, table.reference_segment.size)
    counts = np.zeros(table.keys.size, dtype=np.int64)
    holders = table.holders
    if holders.starts.size:
        held = np.logical_or.reduceat(mask[table.references.text[holders.entry]], holders.starts)
        counts += np.bincount(holders.key[held] % table.keys.size, minlength=table.keys.size)
    held_grams = counts > 0
    documents = np.unique(table.reference_segment[mask]).size
    return DocumentFrequencies(table.keys[held_grams], narrow(counts[held_grams]), documents)


def pair_scores(table: GramTable, frequencies: DocumentFrequencies, *, variant: str, sigma: float) -> Floats:
    """Return CIDEr of each hypothesis with each reference alone.

    Parameters
    ----------
    table : GramTable
    frequencies : DocumentFrequencies
    variant : {"cider_d", "cider"}
    sigma : float
        Width in words of CIDEr-D's penalty on length; above 0.

    Returns
    -------
    (P,) float
        In [0, 10]; NaN if neither text has a token, and everywhere if there are fewer than two documents.
    """
    if frequencies.n_documents < 2:
        return np.full(len(table.pairs), np.nan)
    # Equation 1 without the division by the text's length, which cancels in the cosine.
    idf = np.log(frequencies.n_documents) - np.log(np.maximum(frequencies.of(table.keys), 1))
    matches = table.matches
    clipped = np.minimum(matches.hyp_count, matches.ref_count) if variant == "cider_d" else matches.hyp_count
    dots = _sums(
        matches.pair, table.order[matches.gram], clipped * matches.ref_count * idf[matches.gram] ** 2, len(table.pairs)
    )
    norms = (
        _norms(table.hypotheses, table, idf)[table.pairs.row]
        * _norms(table.references, table, idf)[table.pairs.reference]
    )
    cosines = np.where(norms > 0, dots / np.where(norms > 0, norms, 1.0), 0.0)  # equation 2
    scores = SCALE * cosines.mean(axis=1)  # equation 3
    if variant == "cider_d":
        scores = scores * np.exp(-(table.length_gap**2) / (2 * sigma**2))  # equation 4
    return np.where(table.empty, np.nan, scores)


def _norms(counts: GramCounts, table: GramTable, idf: Floats) -> Floats:
    """Return the length (K, 4) of each text's vector of each order."""
    squares = (counts.count * idf[counts.gram]) ** 2
    return np.sqrt(_sums(counts.text, table.order[counts.gram], squares, counts.n_texts))


def _sums(row: Ints, order: Ints, values: Floats, n_rows: int) -> Floats:
    """Return the sums (n_rows, 4) of values by row and order."""
    sums = np.bincount(row * ORDERS + order, weights=values, minlength=n_rows * ORDERS)
    return sums.astype(np.float64, copy=False).reshape(n_rows, ORDERS)


@dataclass(frozen=True)
class Cider(Metric):
    """CIDEr.

    Examples
    --------
    >>> from metrics.scoring.metric import Workspace
    >>> segments = Segments([["a dog runs in the park", "it rains"]], [["a dog runs in the park"], ["it will rain"]])
    >>> Workspace(segments).statistics(Cider()).sentence_scores.round(3)
    array([[10.   ,  1.007]])
    """

    name: ClassVar[str] = "cider"
    label: ClassVar[str] = "CIDEr"
    summary: ClassVar[str] = "How far an output shares with its references the n-grams that are rare elsewhere."
    high: ClassVar[float] = SCALE
    no_lone_score: ClassVar[str] = (
        "CIDEr weighs what is shared by how rare it is in the references of all segments. Of one segment there "
        "is nothing to learn that from: score a data set."
    )

    variant: str = choice(
        "cider_d",
        VARIANTS,
        label="Variant",
        key="var",
        hint="cider_d: counts clipped, length penalised, the CIDEr of most tables; cider: the plain cosine.",
    )
    sigma: float = real(
        6.0, low=0.1, high=1000, label="Width of the length penalty, words", key="sigma", hint="Only cider_d uses it."
    )
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")

    def preparation(self) -> GramPreparation:
        return GramPreparation(self.tokenize, self.lowercase)

    def corpus_state(
        self, prepared: GramTable, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> DocumentFrequencies:
        return document_frequencies(prepared, reference_mask)

    def statistics(
        self,
        prepared: GramTable,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        frequencies = document_frequencies(prepared, reference_mask) if state is None else state
        values = pair_scores(prepared, frequencies, variant=self.variant, sigma=self.sigma)
        return mean_statistics(prepared.pairs.mean(values, reference_mask)[prepared.rows])
