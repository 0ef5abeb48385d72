"""iBLEU: BLEU against the references, less BLEU against the source, so that repeating the source does not pay.

    iBLEU = alpha * BLEU(hypothesis, references) - (1 - alpha) * BLEU(hypothesis, source)

A segment's score is that of two BLEU+1. Range [-(1 - alpha), alpha]; undefined (NaN) if BLEU against the references is.
Without a token in hypothesis and source nothing was copied: that BLEU counts as 0.

Sun, Zhou, Joint Learning of a Dual SMT System for Paraphrase Generation, ACL 2012.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import SMOOTHINGS, IBleuAggregate
from metrics.scoring.bleu import Bleu, sentence_bleu
from metrics.scoring.explain.case import Part, SegmentCase, SegmentExplanation
from metrics.scoring.metric import Metric, MetricStatistics, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.ngrams import MatchTable, NgramMetric, NgramPreparation
from metrics.scoring.parameters import choice, flag, real, whole
from metrics.scoring.segments import Segments
from metrics.scoring.statistics import bleu_statistics
from metrics.scoring.texts import TOKENIZERS


@dataclass(frozen=True, eq=False)
class SourceTables:
    """N-gram matches with the references, and with each segment's source as the only reference."""

    references: MatchTable
    sources: MatchTable


@dataclass(frozen=True)
class SourcePreparation(Preparation):
    ngrams: NgramPreparation

    def joined(self, other: Preparation) -> Preparation | None:
        if not isinstance(other, SourcePreparation):
            return None
        both = self.ngrams.joined(other.ngrams)
        return SourcePreparation(both) if isinstance(both, NgramPreparation) else None

    def __call__(self, segments: Segments, models: ModelStore) -> SourceTables:
        if segments.sources is None:
            raise ValueError("sources: found None; accepted by ibleu: one text per segment")
        against_sources = Segments(segments.systems, [[source] for source in segments.sources])
        return SourceTables(self.ngrams(segments, models), self.ngrams(against_sources, models))


@dataclass(frozen=True)
class IBleu(Metric):
    """iBLEU."""

    name: ClassVar[str] = "ibleu"
    label: ClassVar[str] = "iBLEU"
    summary: ClassVar[str] = "BLEU, less what an output merely copies from the source."
    needs_sources: ClassVar[bool] = True
    low: ClassVar[float] = -1.0
    together: ClassVar[str] = NgramMetric.together
    published: ClassVar[Mapping[str, Any]] = Bleu.published
    usual: ClassVar[Mapping[str, Any]] = NgramMetric.usual

    max_order: int = whole(2, low=1, high=4, label="Longest n-gram", key="order")
    alpha: float = real(0.9, low=0, high=1, label="Weight of the references against the source", key="alpha")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")
    smoothing: str = choice("none", SMOOTHINGS, label="Smoothing of an order without a match", key="smooth")

    def preparation(self) -> SourcePreparation:
        return SourcePreparation(NgramPreparation(self.tokenize, self.lowercase, self.max_order))

    def statistics(
        self,
        prepared: SourceTables,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Return statistics (T, S, 2 (2 + 2 N)): against the references, then the source; ``weights`` is not read."""
        ngrams = self.preparation().ngrams
        adequate = bleu_statistics(ngrams.checked(prepared.references), reference_mask, max_order=self.max_order)
        copied = bleu_statistics(ngrams.checked(prepared.sources), max_order=self.max_order)
        packed = np.concatenate([adequate.packed, copied.packed], axis=-1)
        packed[~adequate.valid] = 0.0
        scores = self.alpha * adequate.sentence_scores() - (1 - self.alpha) * np.nan_to_num(copied.sentence_scores())
        return MetricStatistics(
            packed, adequate.valid, scores, IBleuAggregate(self.max_order, self.smoothing, self.alpha)
        )

    def explanation(self, case: SegmentCase) -> SegmentExplanation:
        references = case.workspace.segments.references[0]
        texts = [text for text, counts in zip(references, case.counts, strict=True) if counts]
        if not texts or math.isnan(case.score):
            return case.explanation()
        options: dict[str, Any] = {"max_order": self.max_order, "tokenize": self.tokenize, "lowercase": self.lowercase}
        good = sentence_bleu(case.hypothesis, texts, **options)
        copied = float(np.nan_to_num(sentence_bleu(case.hypothesis, [case.source or ""], **options)))
        parts = (Part("BLEU+1, references", good), Part("BLEU+1, source", copied))
        return case.explanation((), parts, f"{self.alpha:g} × {good:.3f} − {1 - self.alpha:g} × {copied:.3f}")
