"""sBLEU: the mean over segments of BLEU+1.

    BLEU+1 = BP * (p_1 * ... * p_N)^(1/N),    p_n = (matches_n + 1) / (n-grams + 1)  for n >= 2

with BP and p_1 as in BLEU, of one segment. ``smooth_brevity`` adds one to the reference length, too. A segment has no
score (NaN) without a reference in the subset, or without a token in hypothesis and closest reference.

Nakov, Guzmán, Vogel, Optimizing for Sentence-Level BLEU+1 Yields Short Translations, COLING 2012; Galley et al.,
ΔBLEU, ACL 2015, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.metric import MeanMetric, MetricStatistics, mean_statistics
from metrics.scoring.ngrams import NgramMetric
from metrics.scoring.parameters import flag
from metrics.scoring.redrawn import redrawn_bleu
from metrics.scoring.statistics import bleu_statistics
from metrics.scoring.thresholds import means_at_each, threshold_sweep


@dataclass(frozen=True)
class SentenceBleu(NgramMetric, MeanMetric):
    """Mean sentence BLEU+1."""

    name: ClassVar[str] = "sbleu"
    label: ClassVar[str] = "sBLEU"
    summary: ClassVar[str] = "BLEU of each sentence, one added to the counts of longer n-grams, averaged."

    #: As `Bleu.published`, but for the smoothing, which is its own.
    published: ClassVar[Mapping[str, Any]] = MappingProxyType({"max_order": 4, "tokenize": "13a", "lowercase": False})

    smooth_brevity: bool = flag(False, label="Add one to the reference length, too", key="smoothbp")

    def signature_fields(self) -> list[tuple[str, object]]:
        *texts, brevity = super().signature_fields()
        return [*texts, ("smooth", "add-one"), brevity]

    def segment_scores(self, prepared: Any, weights: ArrayLike | None, reference_mask: ArrayLike | None) -> Floats:
        table = self.preparation().checked(prepared)
        segments = bleu_statistics(table, reference_mask, max_order=self.max_order)
        return segments.sentence_scores(smooth_brevity=self.smooth_brevity)

    def redrawn(self, prepared: Any, *, weights: Floats, reference_masks: Bools) -> Sequence[MetricStatistics]:
        table = self.preparation().checked(prepared)
        segments = redrawn_bleu(table, reference_masks, max_order=self.max_order)
        return [mean_statistics(each.sentence_scores(smooth_brevity=self.smooth_brevity)) for each in segments]

    def threshold_sweep(
        self, prepared: Any, *, weights: ArrayLike, thresholds: Sequence[float]
    ) -> list[MetricStatistics]:
        sweep = threshold_sweep(self.preparation().checked(prepared), weights, thresholds, self.max_order)
        return means_at_each(sweep.bleu(), self.smooth_brevity)
