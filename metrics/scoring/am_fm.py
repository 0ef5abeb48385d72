"""AM-FM: ``λ AM + (1 - λ) FM`` (equation 4), λ = 0.8.

With several references, section 3.2 keeps "the maximum scores among the different references" of AM and of FM, perhaps
of two references, and equation 4 combines the two: ``combine="parts"``. Section 5 can also be read as the maximum of
the combination over references: ``combine="pairs"``, never above the other. For the mean both are the same.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, sections 3.2 and 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.scoring.adequacy_fluency import (
    AdequacyFluency,
    AdequacyFluencyMetric,
    AdequacyFluencyPreparation,
    dimension_parameter,
    order_parameter,
    reference_parameter,
)
from metrics.scoring.arrays import Floats
from metrics.scoring.explain.case import Column, Part, SegmentCase, SegmentExplanation
from metrics.scoring.parameters import choice, real, trained


@dataclass(frozen=True)
class AmFm(AdequacyFluencyMetric):
    """AM-FM."""

    name: ClassVar[str] = "am_fm"
    label: ClassVar[str] = "AM-FM"
    summary: ClassVar[str] = "Adequacy and fluency in one number, weighted."
    together: ClassVar[str] = "the best AM and the best FM, here of different references"

    balance: float = real(
        0.8, low=0, high=1, label="λ, the share of AM", key="lambda", hint="1 is AM alone, 0 is FM alone."
    )
    k: int = dimension_parameter()
    order: int = order_parameter()
    references: str = reference_parameter("max", "mean", "weighted")
    combine: str = choice(
        "parts",
        ("parts", "pairs"),
        label="Best of each part, or of the two together",
        key="combine",
        hint="parts: the best AM and the best FM, perhaps of two references; pairs: both of one reference.",
    )
    am_model: str = trained("lsa", label="LSA model", key="am")
    fm_model: str = trained("language_model", label="Language model", key="fm")

    def preparation(self) -> AdequacyFluencyPreparation:
        return AdequacyFluencyPreparation(
            spaces=((self.am_model, (self.k,)),), language_models=((self.fm_model, (self.order,)),)
        )

    def row_scores(self, prepared: AdequacyFluency, weights: ArrayLike | None, mask: ArrayLike | None) -> Floats:
        am, fm = prepared.cosines(self.am_model, self.k), prepared.ratios(self.fm_model, self.order)
        if self.combine == "pairs":
            return self.over_references(prepared, self.combined(am, fm), weights, mask)
        return self.combined(*(self.over_references(prepared, values, weights, mask) for values in (am, fm)))

    def combined(self, am: Floats, fm: Floats) -> Floats:
        """Return ``λ AM + (1 - λ) FM`` ."""
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
