"""sBLEU: the mean of BLEU+1 over sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.metric import MetricStatistics, check_common, check_table, signature_line, yes_no
from metrics.scoring.ngrams import MatchTable
from metrics.scoring.statistics import bleu_statistics
from metrics.scoring.texts import check_flag


@dataclass(frozen=True)
class SentenceBleu:
    """Mean sentence BLEU+1 as a metric of the registry (Nakov et al. 2012; Galley et al. 2015, section 5)."""

    name: ClassVar[str] = "sbleu"
    label: ClassVar[str] = "sBLEU"
    needs_references: ClassVar[bool] = True
    needs_weights: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True

    max_order: int = 2
    tokenize: str = "none"
    lowercase: bool = False
    smooth_brevity: bool = False

    def __post_init__(self) -> None:
        check_common(self)
        check_flag("smooth_brevity", self.smooth_brevity)

    def parameters(self) -> dict[str, Any]:
        return asdict(self)

    def signature(self, *, weights: str = "none", references: str = "all") -> str:
        fields = [("order", self.max_order), ("tok", self.tokenize), ("lc", yes_no(self.lowercase))]
        smoothing = [("smooth", "add-one"), ("smoothbp", yes_no(self.smooth_brevity))]
        return signature_line(self.name, [*fields, *smoothing, ("refs", references)])

    def statistics(
        self, table: MatchTable, *, weights: ArrayLike | None = None, reference_mask: ArrayLike | None = None
    ) -> MetricStatistics:
        """Statistics (T, S, 2): score and 1, or zeros where the segment has no score; ``weights`` is not read."""
        check_table(self, table)
        segments = bleu_statistics(table, reference_mask, max_order=self.max_order)
        scores = segments.sentence_scores(smooth_brevity=self.smooth_brevity)
        valid = np.isfinite(scores)
        packed = np.stack([np.where(valid, scores, 0.0), valid], axis=-1)
        return MetricStatistics(packed, valid, scores, MeanAggregate())
