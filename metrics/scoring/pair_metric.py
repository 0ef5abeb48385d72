"""The short way to a metric of one's own: say what a hypothesis is worth against one reference.

Of several references the best counts, and a system's score is the mean over its segments. All else (subsets of the
references, units, sweeps, resampling) follows from the pairs' values, which are computed once.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.metric import Floats, Metric, MetricStatistics, Preparation, mean_statistics
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.scoring.texts import as_string


@dataclass(frozen=True, eq=False)
class PairValues:
    """Values (P,) of all pairs of hypothesis row and reference; NaN where a pair has none."""

    segments: Segments
    values: Floats


@dataclass(frozen=True)
class PairPreparation(Preparation):
    """The metric's value of every pair: whatever its parameters, each metric has its own."""

    metric: PairMetric

    def __call__(self, segments: Segments, models: ModelStore) -> PairValues:
        hypotheses = list(map(as_string, segments.row_texts))
        references = list(map(as_string, segments.reference_texts))
        compared = (self.metric.compare(*texts) for texts in segments.pairs.items(hypotheses, references))
        return PairValues(segments, np.fromiter(compared, dtype=np.float64, count=len(segments.pairs)))


@dataclass(frozen=True)
class PairMetric(Metric):
    """A metric that compares two texts at a time."""

    @abstractmethod
    def compare(self, hypothesis: str, reference: str) -> float:
        """What the hypothesis is worth against this reference; NaN where that cannot be said."""

    def preparation(self) -> PairPreparation:
        return PairPreparation(self)

    def statistics(
        self,
        prepared: PairValues,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """The mean over segments of the best pair; ``weights`` is not read."""
        pairs = prepared.segments.pairs
        reduced = pairs.best if self.higher_is_better else pairs.least
        return mean_statistics(reduced(prepared.values, reference_mask)[prepared.segments.rows])
