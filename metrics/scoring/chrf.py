"""chrF and chrF++: F-score of character (and word) n-grams, on sacrebleu's counts.

    chrF = (1 + beta^2) P R / (beta^2 P + R)

P and R are n-gram precision and recall, averaged over the orders that both texts have (character n-grams of 1 to
``char_order``, then word n-grams of 1 to ``word_order``). A corpus score is that of summed counts; a segment counts the
reference of highest F, the first of equals. NaN without a reference in the subset or without n-grams on either side.

Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015, equation 1; chrF2 (beta = 2): Popović,
chrF deconstructed: beta parameters and n-gram weights, WMT 2016; chrF++ (``word_order`` = 2): Popović, chrF++: words
helping character n-grams, WMT 2017.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import ChrfAggregate
from metrics.scoring.arrays import Bools, Floats, Ids
from metrics.scoring.explain.case import Column, SegmentCase, SegmentExplanation
from metrics.scoring.metric import Metric, MetricStatistics, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import flag, real, whole
from metrics.scoring.sacrebleu_parts import chrf_scorer
from metrics.scoring.segments import Segments
from metrics.scoring.texts import Text, as_string

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF


@dataclass(frozen=True, eq=False)
class ChrfCounts:
    """Counts of every pair of hypothesis row and reference.

    Attributes
    ----------
    segments : Segments
    characters : (P, C, 3) int
        [hypothesis, reference, match] of the character n-grams of 1 to C.
    words : (P, W, 3) int
        The same of word n-grams.
    has_text : (H,) bool
        Whether the hypothesis has an n-gram.
    """

    segments: Segments
    characters: Ids
    words: Ids
    has_text: Bools


@dataclass(frozen=True)
class ChrfPreparation(Preparation):
    """N-gram counts of all pairs, by sacrebleu; a preparation with more orders serves all with fewer."""

    char_order: int
    word_order: int
    lowercase: bool
    whitespace: bool

    def joined(self, other: Preparation) -> Preparation | None:
        if not isinstance(other, ChrfPreparation):
            return None
        if (self.lowercase, self.whitespace) != (other.lowercase, other.whitespace):
            return None
        longest = max(self.char_order, other.char_order), max(self.word_order, other.word_order)
        return ChrfPreparation(*longest, self.lowercase, self.whitespace)

    def __call__(self, segments: Segments, models: ModelStore) -> ChrfCounts:
        pairs = segments.pairs
        counts = np.zeros((len(pairs), self.char_order + self.word_order, 3), dtype=np.int32)
        scorer = chrf_scorer(self.char_order, self.word_order, whitespace=self.whitespace)
        count = scorer._get_match_statistics  # noqa: SLF001 - it has no public name
        has_text = np.zeros(segments.row_segment.size, dtype=bool)
        by_row = np.searchsorted(pairs.row, np.arange(has_text.size + 1)).tolist()
        references: list[list[Counter[str]]] = []
        counted_segment = -1
        for row, segment in enumerate(segments.row_segment.tolist()):
            if segment != counted_segment:
                references = [self._n_grams(scorer, text) for text in segments.references[segment]]
                counted_segment = segment
            hypothesis = self._n_grams(scorer, segments.row_texts[row])
            has_text[row] = any(hypothesis)
            for pair, reference in enumerate(references, start=by_row[row]):
                counts[pair] = list(map(count, hypothesis, reference))
        return ChrfCounts(segments, counts[:, : self.char_order], counts[:, self.char_order :], has_text)

    def _n_grams(self, scorer: CHRF, text: Text) -> list[Counter[str]]:
        plain = as_string(text).lower() if self.lowercase else as_string(text)
        return list(scorer._extract_reference_info([plain])["ref_ngrams"][0])  # noqa: SLF001


@dataclass(frozen=True)
class Chrf(Metric):
    """chrF2 by default, chrF++ with ``word_order`` 2."""

    name: ClassVar[str] = "chrf"
    label: ClassVar[str] = "chrF"
    summary: ClassVar[str] = "How many short runs of characters an output and its best reference share."

    char_order: int = whole(6, low=1, high=10, label="Longest run of characters", key="nc")
    word_order: int = whole(0, low=0, high=4, label="Longest run of words", key="nw", hint="2 makes it chrF++.")
    beta: float = real(2, low=0, high=10, label="Weight of recall", key="beta")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")
    whitespace: bool = flag(False, label="Count spaces as characters", key="space")
    eps_smoothing: bool = flag(
        False, label="Average F over all orders", key="eps", hint="As chrF++.py, NLTK and Moses do it."
    )

    def preparation(self) -> ChrfPreparation:
        return ChrfPreparation(self.char_order, self.word_order, self.lowercase, self.whitespace)

    def statistics(
        self,
        prepared: ChrfCounts,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return statistics (T, S, 3 * orders); ``weights`` is not read."""
        aggregate = ChrfAggregate(self.char_order + self.word_order, self.beta, self.eps_smoothing)
        counts = np.concatenate(
            [prepared.characters[:, : self.char_order], prepared.words[:, : self.word_order]], axis=1
        )
        flat = counts.reshape(len(counts), aggregate.width).astype(np.float64)
        segments = prepared.segments
        best = segments.pairs.arg_best(aggregate.percent(flat), reference_mask)
        valid = best >= 0
        packed = np.zeros((best.size, aggregate.width))
        packed[valid] = flat[best[valid]]
        scores = np.where(valid, aggregate(packed), np.nan)
        # A text against an empty one scores 0; two empty texts have no score.
        has_any = prepared.has_text[segments.pairs.row] | (prepared.characters[:, 0, 1] > 0)
        scores[np.isnan(scores) & (segments.pairs.best(has_any, reference_mask) == 1)] = 0.0
        rows = segments.rows
        return MetricStatistics(packed[rows], valid[rows], scores[rows], aggregate)

    def explanation(self, case: SegmentCase) -> SegmentExplanation:
        if not case.counts.size:
            return case.explanation()
        hypothesis, reference, match = np.moveaxis(case.sums_alone.reshape(case.counts.size, -1, 3), -1, 0)
        both = (hypothesis > 0) & (reference > 0)  # orders that have n-grams on both sides

        def mean(counts: Floats) -> Floats:
            share = np.where(both, match / np.maximum(counts, 1), 0.0)
            return np.where(both.any(axis=1), share.sum(axis=1) / np.maximum(both.sum(axis=1), 1), np.nan)

        return case.explanation([Column("Precision", mean(hypothesis)), Column("Recall", mean(reference))])
