"""AM-FM: ``λ AM + (1 - λ) FM`` (equation 4), λ = 0.8.

With several references, the paper keeps the maximum of AM and of FM (section 3.2: "for both AM and FM ... retain the
maximum scores among the different references"), and equation 4 combines the two: ``combine="parts"``, the default. The
two may then come from two references. Section 5 can also be read as the maximum of the combination, which one reference
must earn: ``combine="pairs"``, never above the other. For the mean both are the same.

Range 0 to 1. Undefined (NaN, left out of a system's mean) where a segment has no reference in the subset.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, sections 3.2 and 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.adequacy_fluency import (
    AdequacyFluency,
    AdequacyFluencyPreparation,
    dimension_parameter,
    order_parameter,
    over_references,
    reference_parameter,
    weights_for,
)
from metrics.scoring.explain.case import Column, Part, SegmentCase, SegmentExplanation
from metrics.scoring.metric import Metric, MetricStatistics, mean_statistics
from metrics.scoring.parameters import choice, real, trained

COMBINE = ("parts", "pairs")


@dataclass(frozen=True)
class AmFm(Metric):
    """AM-FM as a metric of the registry."""

    name: ClassVar[str] = "am_fm"
    label: ClassVar[str] = "AM-FM"
    summary: ClassVar[str] = "Adequacy and fluency in one number, weighted."
    group: ClassVar[str] = "adequacy-fluency"
    together: ClassVar[str] = "the best AM and the best FM, here of different references"

    balance: float = real(
        0.8, low=0, high=1, label="λ, the share of AM", key="lambda", hint="1 is AM alone, 0 is FM alone."
    )
    k: int = dimension_parameter()
    order: int = order_parameter()
    references: str = reference_parameter("max", "mean", "weighted")
    combine: str = choice(
        "parts",
        COMBINE,
        label="Best of each part, or of the two together",
        key="combine",
        hint="parts: the best AM and the best FM, perhaps of two references; pairs: both of one reference.",
    )
    am_model: str = trained("lsa", label="LSA model", key="am")
    fm_model: str = trained("language_model", label="Language model", key="fm")

    @property
    def needs_weights(self) -> bool:
        return self.references == "weighted"

    def preparation(self) -> AdequacyFluencyPreparation:
        return AdequacyFluencyPreparation(
            spaces=((self.am_model, (self.k,)),), language_models=((self.fm_model, (self.order,)),)
        )

    def statistics(
        self,
        prepared: AdequacyFluency,
        *,
        weights: ArrayLike | None = None,
        reference_mask: ArrayLike | None = None,
        state: Any = None,
    ) -> MetricStatistics:
        """Statistics (T, S, 2): score and 1, or zeros where the segment has no score."""
        pairs, weights = prepared.segments.pairs, weights_for(self, weights)
        am, fm = prepared.cosines(self.am_model, self.k), prepared.ratios(self.fm_model, self.order)
        if self.combine == "pairs":
            scores = over_references(pairs, self.combined(am, fm), self.references, reference_mask, weights)
        else:
            best_am = over_references(pairs, am, self.references, reference_mask, weights)
            best_fm = over_references(pairs, fm, self.references, reference_mask, weights)
            scores = self.combined(best_am, best_fm)
        return mean_statistics(scores[prepared.segments.rows])

    def combined(self, am: Any, fm: Any) -> Any:
        """``λ AM + (1 - λ) FM``, numbers or arrays."""
        return self.balance * am + (1 - self.balance) * fm

    def explanation(self, case: SegmentCase) -> SegmentExplanation:
        am = case.only_counted(case.prepared.cosines(self.am_model, self.k))
        fm = case.only_counted(case.prepared.ratios(self.fm_model, self.order))
        explanation = case.explanation((Column("AM", am), Column("FM", fm)))
        if self.references != "max" or np.isnan(am).all():
            return explanation
        best_am = best_fm = explanation.chosen
        if self.combine == "parts":
            best_am, best_fm = int(np.nanargmax(am)), int(np.nanargmax(fm))
        if best_am is None or best_fm is None:
            return explanation
        adequacy, fluency = float(am[best_am]), float(fm[best_fm])
        return replace(
            explanation,
            parts=(Part("AM, adequacy", adequacy, best_am), Part("FM, fluency", fluency, best_fm)),
            formula=f"{self.balance:g} × {adequacy:.3f} + {1 - self.balance:g} × {fluency:.3f}",
        )
