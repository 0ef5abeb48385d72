"""FM: fluency, as how alike hypothesis and reference are in probability under an n-gram language model.

``p(s) = exp(1/N sum_k log p(w_k | w_(k-n+1) .. w_(k-1)))`` (equation 2), N the words of s; the end of the sentence is
in the sum and not in N. ``FM(h, r) = min(p(h), p(r)) / max(p(h), p(r))`` (equation 3), 1 if both are 0. The form
"absolute" is that of Banchs et al. (2015): p(h) itself, which reads no reference.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, sections 3.1, 3.2 and 5.2. Banchs, D'Haro, Li: Adequacy-fluency metrics: evaluating MT in
the continuous space model framework. IEEE/ACM Transactions on Audio, Speech and Language Processing 23(3), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from metrics.scoring.adequacy_fluency import (
    AdequacyFluency,
    AdequacyFluencyMetric,
    AdequacyFluencyPreparation,
    order_parameter,
    reference_parameter,
)
from metrics.scoring.arrays import Floats
from metrics.scoring.parameters import choice, trained


@dataclass(frozen=True)
class Fm(AdequacyFluencyMetric):
    """FM."""

    name: ClassVar[str] = "fm"
    label: ClassVar[str] = "FM"
    summary: ClassVar[str] = "Fluency: how alike a response and a reference are in probability under a language model."

    order: int = order_parameter()
    form: str = choice(
        "relative",
        ("relative", "absolute"),
        label="Probability, relative to a reference's or its own",
        key="form",
        hint="relative: the smaller probability over the larger; absolute: the response's own, no reference read.",
    )
    references: str = reference_parameter("max", "mean", "weighted")
    model: str = trained("language_model", label="Language model", key="fm")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "needs_references", self.form == "relative")  # the class has the default form's

    @property
    def needs_weights(self) -> bool:
        return super().needs_weights and self.form == "relative"

    def preparation(self) -> AdequacyFluencyPreparation:
        return AdequacyFluencyPreparation(language_models=((self.model, (self.order,)),))

    def row_scores(self, prepared: AdequacyFluency, weights: ArrayLike | None, mask: ArrayLike | None) -> Floats:
        if self.form == "absolute":
            return prepared.probabilities(self.model, self.order)
        return self.over_references(prepared, prepared.ratios(self.model, self.order), weights, mask)
