"""The short way to a new metric: compare a hypothesis with one reference; subsets, sweeps and intervals follow."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats
from metrics.scoring.metric import MeanMetric, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.scoring.texts import as_string


@dataclass(frozen=True, eq=False)
class PairValues:
    """Values (P,) of all pairs of hypothesis row and reference; NaN if a pair has none."""

    segments: Segments
    values: Floats


@dataclass(frozen=True)
class PairPreparation(Preparation):
    """The metric's value of every pair."""

    metric: PairMetric

    def __call__(self, segments: Segments, models: ModelStore) -> PairValues:
        hypotheses = list(map(as_string, segments.row_texts))
        references = list(map(as_string, segments.reference_texts))
        compared = (self.metric.compare(*texts) for texts in segments.pairs.items(hypotheses, references))
        return PairValues(segments, np.fromiter(compared, dtype=np.float64, count=len(segments.pairs)))


@dataclass(frozen=True)
class PairMetric(MeanMetric):
    """A metric that compares two texts at a time; the best reference counts."""

    @abstractmethod
    def compare(self, hypothesis: str, reference: str) -> float:
        """Return the value of the hypothesis against this reference; NaN if undefined."""

    def preparation(self) -> PairPreparation:
        return PairPreparation(self)

    def segment_scores(
        self, prepared: PairValues, weights: ArrayLike | None, reference_mask: ArrayLike | None
    ) -> Floats:
        pairs = prepared.segments.pairs
        reduced = pairs.best if self.higher_is_better else pairs.least
        return reduced(prepared.values, reference_mask)[prepared.segments.rows]
