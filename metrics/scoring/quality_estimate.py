"""Quality estimate: the rating that a trained model predicts for an output, from its source alone.

    score(s, h) = m(s, h)

The model m is trained on outputs that people rated: a recurrent network or ridge regression, see `metrics.scoring.qe`.
Its predictions are ratings on the scale of these, rounded to their precision and clipped to their range unless
``rounded`` is false. The source is the meaning representation, or the conversation with the message that is answered.

O. Dušek, J. Novikova, V. Rieser, "Referenceless Quality Estimation for Natural Language Generation", LGNL 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from metrics.scoring.arrays import Floats
from metrics.scoring.metric import MeanMetric, Preparation
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import flag, trained
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.segments import Segments
from metrics.scoring.texts import as_string


@dataclass(frozen=True)
class QualityEstimate(MeanMetric):
    """Quality estimate."""

    name: ClassVar[str] = "quality_estimate"
    label: ClassVar[str] = "Quality estimate"
    summary: ClassVar[str] = "The rating that a model predicts from the source alone, trained on people’s ratings."
    group: ClassVar[str] = "estimated"
    needs_references: ClassVar[bool] = False
    needs_prompts: ClassVar[bool] = True
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf

    model: str = trained(
        QualityEstimator.kind, label="Quality estimator", key="model", hint="It decides the scale of the scores."
    )
    rounded: bool = flag(True, label="Round to the precision of the ratings", key="round")

    def preparation(self) -> Predictions:
        return Predictions(self.model, self.rounded)

    def segment_scores(self, prepared: Floats, weights: ArrayLike | None, reference_mask: ArrayLike | None) -> Floats:
        """Return the predictions (T, S), which are ``prepared``."""
        return prepared


@dataclass(frozen=True)
class Predictions(Preparation):
    """Predicted ratings (T, S); equal outputs of a segment are read once."""

    model: str
    rounded: bool

    def __call__(self, segments: Segments, models: ModelStore) -> Floats:
        given = segments.sources if segments.prompts is None else segments.prompts
        if given is None:
            raise ValueError("sources: found None; accepted by quality_estimate: one text per segment")
        estimator: QualityEstimator = models.load(QualityEstimator.kind, self.model)
        sources = [as_string(given[segment]) for segment in segments.row_segment.tolist()]
        outputs = [as_string(text) for text in segments.row_texts]
        return estimator.predict(sources, outputs, rounded=self.rounded)[segments.rows]
