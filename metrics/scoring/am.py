"""AM: adequacy, as the cosine of hypothesis and reference in a space learnt by latent semantic analysis.

``AM(h, r) = max(0, cos(U_k' h, U_k' r))``, h and r counts of words, U_k the first k left singular vectors of a corpus'
term-document matrix (`metrics.scoring.models.lsa`); a text of unknown words is the origin, and its AM is 0.
Over references: the maximum (the paper's final setting), the mean, or the cosine with the centroid of the references.

Range 0 to 1. Undefined (NaN, left out of a system's mean) where a segment has no reference in the subset.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, sections 3.1, 3.2 and 5.1, equation 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from metrics.scoring.adequacy_fluency import (
    AdequacyFluency,
    AdequacyFluencyPreparation,
    dimension_parameter,
    over_references,
    reference_parameter,
    weights_for,
)
from metrics.scoring.metric import Metric, MetricStatistics, mean_statistics
from metrics.scoring.parameters import trained


@dataclass(frozen=True)
class Am(Metric):
    """AM as a metric of the registry."""

    name: ClassVar[str] = "am"
    label: ClassVar[str] = "AM"
    summary: ClassVar[str] = "Adequacy: how near a response is to a reference in a space of meanings learnt from texts."
    group: ClassVar[str] = "adequacy-fluency"

    k: int = dimension_parameter()
    references: str = reference_parameter("max", "mean", "centroid", "weighted")
    model: str = trained("lsa", label="LSA model", key="am")

    @property
    def needs_weights(self) -> bool:
        return self.references == "weighted"

    def preparation(self) -> AdequacyFluencyPreparation:
        return AdequacyFluencyPreparation(spaces=((self.model, (self.k,)),), centroids=self.references == "centroid")

    def statistics(
        self,
        prepared: AdequacyFluency,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Statistics (T, S, 2): score and 1, or zeros where the segment has no score."""
        segments = prepared.segments
        if self.references == "centroid":
            scores = prepared.centroid_cosines(self.model, self.k, reference_mask)
        else:
            values, weights = prepared.cosines(self.model, self.k), weights_for(self, weights)
            scores = over_references(segments.pairs, values, self.references, reference_mask, weights)
        return mean_statistics(scores[segments.rows])
