"""Embedding average, vector extrema and greedy matching: texts as bags of word vectors, in two variants.

Two public programs compute these metrics, and differ. ``variant="nlg-eval"`` (Sharma et al. 2017; used by D'Haro et al.
2019, section 4.1.2) takes vectors as they are and gives an unknown word the mean vector of the vocabulary.
``variant="liu2016"`` (the program of Liu et al. 2016) first scales each word vector to length 1 and ignores unknown
words; in greedy matching no word matches worse than 0.

A text has no vector if it holds no known word ("nlg-eval": no word at all), or if its vectors cancel. A reference
without a vector compares with nothing (NaN), and a hypothesis without one scores 0: which segments count depends on the
references only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy import sparse

from metrics.scoring.arrays import Bools, Float32s, Floats, Ints
from metrics.scoring.embedding_pairs import EmbeddingMetric, PairScores, cosine_scores, reference_parameter
from metrics.scoring.metric import Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors, row_lengths, unit_rows
from metrics.scoring.parameters import choice, flag, trained
from metrics.scoring.segments import Segments
from metrics.scoring.texts import TOKENIZERS
from metrics.scoring.token_ids import NumberedSegments, TokenIds, number_segments

NLG_EVAL, LIU2016 = "nlg-eval", "liu2016"
VARIANTS = (NLG_EVAL, LIU2016)

WORDS_AT_ONCE = 1024  # whose vectors stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Bags:
    """K texts as distinct words and how often each occurs.

    Attributes
    ----------
    words, counts : (N,) int
        The distinct words of all texts, laid end to end, ascending in each text: rows of ``vectors``.
    starts : (K + 1,) int
        Where each text starts and ends.
    vectors : (w, d) float32
    lengths : (w,) float
        Of the vectors.
    """

    words: Ints
    counts: Ints
    starts: Ints
    vectors: Float32s
    lengths: Floats

    @property
    def sizes(self) -> Ints:
        """Return the number (K,) of distinct words of each text."""
        return np.diff(self.starts)

    def only(self, chosen: Bools) -> Bags:
        """Return the chosen texts (K,)."""
        words = np.repeat(chosen, self.sizes)
        starts = np.concatenate(([0], np.cumsum(self.sizes[chosen])))
        return replace(self, words=self.words[words], counts=self.counts[words], starts=starts)

    def with_any_vector(self) -> Bools:
        """Return whether each text (K,) has a word whose vector is not all zeros."""
        useful = (self.lengths > 0)[self.words]
        return np.diff(np.concatenate(([0], np.cumsum(useful)))[self.starts]) > 0


# From segments, the bags of their hypothesis rows and references, and the variant, to (P,) scores in [-1, 1].
Measure: TypeAlias = Callable[[Segments, Bags, Bags, str], Floats]


@dataclass(frozen=True)
class WordEmbeddings(Preparation):
    """`PairScores`: texts are tokenised and words looked up once for all measures."""

    measures: frozenset[Measure]
    model: str
    variant: str
    tokenize: str
    lowercase: bool

    def __call__(self, segments: Segments, models: ModelStore) -> PairScores:
        vectors: WordVectors = models.load(WordVectors.kind, self.model)
        numbered = number_segments(segments, tokenize=self.tokenize, lowercase=self.lowercase)
        rows, references, facts = look_up(numbered, vectors, self.variant)
        values = {measure: measure(segments, rows, references, self.variant) for measure in self.measures}
        return PairScores(segments.rows, segments.pairs, values, facts)

    def joined(self, other: Preparation) -> Preparation | None:
        if not isinstance(other, WordEmbeddings) or replace(other, measures=self.measures) != self:
            return None
        return replace(self, measures=self.measures | other.measures)


@dataclass(frozen=True)
class WordEmbeddingMetric(EmbeddingMetric):
    """Parameters of the three metrics; each has its measure."""

    model: str = trained(WordVectors.kind, label="Word vectors", key="vectors")
    variant: str = choice(
        NLG_EVAL,
        VARIANTS,
        label="As computed by",
        key="variant",
        hint="nlg-eval: vectors as they are, an unknown word as their mean; liu2016: of length 1, unknown skipped.",
    )
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")
    over_references: str = reference_parameter()

    @staticmethod
    @abstractmethod
    def measure(segments: Segments, rows: Bags, references: Bags, variant: str) -> Floats:
        """Return the scores (P,) of all pairs, in [-1, 1]."""

    def preparation(self) -> WordEmbeddings:
        return WordEmbeddings(frozenset({self.measure}), self.model, self.variant, self.tokenize, self.lowercase)


def look_up(numbered: NumberedSegments, vectors: WordVectors, variant: str) -> tuple[Bags, Bags, dict[str, int]]:
    """Return the bags of hypothesis rows and references, and counts of unknown words and of texts without a vector."""
    rows = vectors.find(numbered.vocabulary)
    known = rows >= 0
    count = int(np.count_nonzero(known))
    matrix = np.empty((count + 1, vectors.dimension), dtype=np.float32)
    lengths = np.empty(count + 1)
    matrix[count] = vectors.mean
    np.take(vectors.matrix, rows[known], axis=0, out=matrix[:count], mode="clip")  # "raise" would copy it once more
    for start in range(0, count + 1, WORDS_AT_ONCE):
        part = matrix[start : start + WORDS_AT_ONCE].astype(np.float64)
        if variant == LIU2016:
            part = unit_rows(part).astype(np.float32).astype(np.float64)
            matrix[start : start + WORDS_AT_ONCE] = part
        lengths[start : start + WORDS_AT_ONCE] = row_lengths(part)
    # An unknown word has the last row, the mean vector, or is ignored.
    row_of = np.where(known, np.cumsum(known) - 1, -1 if variant == LIU2016 else count)
    texts = (numbered.hypotheses, numbered.references)
    bags = [make_bags(side, row_of, matrix, lengths) for side in texts]
    facts = {
        "words": sum(side.ids.size for side in texts),
        "unknown_words": sum(int(np.count_nonzero(~known[side.ids])) for side in texts),
        "hypotheses_without_vector": int(np.count_nonzero(~bags[0].with_any_vector())),
        "references_without_vector": int(np.count_nonzero(~bags[1].with_any_vector())),
    }
    return bags[0], bags[1], facts


def make_bags(texts: TokenIds, row_of: Ints, vectors: Float32s, lengths: Floats) -> Bags:
    """Return the bags of texts; ``row_of[token]`` is the row of a token in ``vectors``, or -1 to ignore it."""
    words = row_of[texts.ids]
    owner = np.repeat(np.arange(texts.lengths.size), texts.lengths)[words >= 0]
    size = np.bincount(owner, minlength=texts.lengths.size)
    starts = np.concatenate(([0], np.cumsum(size)))
    table = sparse.csr_array(
        (np.ones(owner.size, dtype=np.int64), words[words >= 0], starts), shape=(size.size, len(vectors))
    )
    table.sum_duplicates()
    return Bags(table.indices.astype(np.int64), table.data, table.indptr.astype(np.int64), vectors, lengths)


def sentence_cosines(
    segments: Segments, rows: Bags, references: Bags, sentence_vectors: Callable[[Bags, int, int], Floats]
) -> Floats:
    """Return the cosines (P,) of texts that are one vector each.

    Parameters
    ----------
    sentence_vectors : callable
        ``(bags, start, stop)`` to the vectors (stop - start, d) of these texts; zeros for a text without words.
    """
    sizes = [np.full(bags.sizes.size, bags.vectors.shape[1]) for bags in (rows, references)]
    return cosine_scores(segments, partial(sentence_vectors, rows), partial(sentence_vectors, references), *sizes)
