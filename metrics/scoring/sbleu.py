"""sBLEU: the mean over segments of BLEU+1.

    BLEU+1 = BP * (p_1 * ... * p_N)^(1/N),    p_n = (matches_n + 1) / (n-grams + 1)  for n >= 2

with BP and p_1 as in BLEU, of one segment. A hypothesis of one word has p_2 = (0 + 1) / (0 + 1) = 1; one that shares
no word scores 0. ``smooth_brevity`` adds one to the reference length, too.

Nakov, Guzmán, Vogel, Optimizing for Sentence-Level BLEU+1 Yields Short Translations, COLING 2012; Galley et al.,
ΔBLEU, ACL 2015, section 5.

Range [0, 1]. Undefined (NaN, the segment does not count): no reference in the subset, or no token in hypothesis and
closest reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from metrics.scoring.metric import Metric, MetricStatistics, mean_statistics
from metrics.scoring.ngrams import NgramPreparation, checked_table
from metrics.scoring.parameters import choice, flag, whole
from metrics.scoring.statistics import bleu_statistics
from metrics.scoring.texts import TOKENIZERS
from metrics.scoring.thresholds import means_at_each, threshold_sweep


@dataclass(frozen=True)
class SentenceBleu(Metric):
    """Mean sentence BLEU+1 as a metric of the registry; see the module for formula and source."""

    name: ClassVar[str] = "sbleu"
    label: ClassVar[str] = "sBLEU"
    summary: ClassVar[str] = "BLEU of each sentence, one added to the counts of longer n-grams, averaged."
    is_bleu: ClassVar[bool] = True
    together: ClassVar[str] = "an n-gram may match in any of them"

    max_order: int = whole(2, low=1, high=4, label="Longest n-gram", key="order")
    tokenize: str = choice("none", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(False, label="Lowercase first", key="lc")
    smooth_brevity: bool = flag(False, label="Add one to the reference length, too", key="smoothbp")

    def signature_fields(self) -> list[tuple[str, object]]:
        *texts, brevity = super().signature_fields()
        return [*texts, ("smooth", "add-one"), brevity]

    def preparation(self) -> NgramPreparation:
        return NgramPreparation(self.tokenize, self.lowercase, self.max_order)

    def statistics(
        self,
        prepared: Any,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Statistics (T, S, 2): score and 1, or zeros where the segment has no score; ``weights`` is not read."""
        segments = bleu_statistics(checked_table(self, prepared), reference_mask, max_order=self.max_order)
        return mean_statistics(segments.sentence_scores(smooth_brevity=self.smooth_brevity))

    def threshold_sweep(
        self, prepared: Any, *, weights: ArrayLike, thresholds: Sequence[float]
    ) -> list[MetricStatistics]:
        table = checked_table(self, prepared)
        sweep = threshold_sweep(table, weights, thresholds, self.max_order)
        return means_at_each(sweep.bleu(), self.smooth_brevity)
