"""AM: adequacy, as the cosine of hypothesis and reference in a space learnt by latent semantic analysis.

``AM(h, r) = max(0, cos(U_k' h, U_k' r))``, h and r counts of words, U_k the first k left singular vectors of a corpus'
term-document matrix (`metrics.scoring.models.lsa`); a text of unknown words is the origin, and its AM is 0.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, sections 3.1, 3.2 and 5.1, equation 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from metrics.scoring.adequacy_fluency import (
    AdequacyFluency,
    AdequacyFluencyMetric,
    AdequacyFluencyPreparation,
    dimension_parameter,
    reference_parameter,
)
from metrics.scoring.arrays import Floats
from metrics.scoring.parameters import trained


@dataclass(frozen=True)
class Am(AdequacyFluencyMetric):
    """AM."""

    name: ClassVar[str] = "am"
    label: ClassVar[str] = "AM"
    summary: ClassVar[str] = "Adequacy: how near a response is to a reference in a space of meanings learnt from texts."

    k: int = dimension_parameter()
    references: str = reference_parameter("max", "mean", "centroid", "weighted")
    model: str = trained("lsa", label="LSA model", key="am")

    def preparation(self) -> AdequacyFluencyPreparation:
        return AdequacyFluencyPreparation(spaces=((self.model, (self.k,)),), centroids=self.references == "centroid")

    def row_scores(self, prepared: AdequacyFluency, weights: ArrayLike | None, mask: ArrayLike | None) -> Floats:
        if self.references == "centroid":
            return prepared.centroid_cosines(self.model, self.k, mask)
        return self.over_references(prepared, prepared.cosines(self.model, self.k), weights, mask)
