"""FM: fluency, as how alike hypothesis and reference are in probability under an n-gram language model.

``p(s) = exp(1/N sum_k log p(w_k | w_(k-n+1) .. w_(k-1)))`` (equation 2), N the words of s; the end of the sentence is
in the sum and not in N. ``FM(h, r) = min(p(h), p(r)) / max(p(h), p(r))`` (equation 3), 1 where both are 0. Over
references: the maximum (the paper's final setting) or the mean. The form "absolute" is that of Banchs et al. (2015):
p(h) itself.

Range 0 to 1. Undefined (NaN, left out of a system's mean) where a segment has no reference in the subset, unless the
form is absolute, which reads none.

D'Haro, Banchs, Hori, Li: Automatic evaluation of end-to-end dialog systems with adequacy-fluency metrics. Computer
Speech and Language 55, 2019, sections 3.1, 3.2 and 5.2. Banchs, D'Haro, Li: Adequacy-fluency metrics: evaluating MT in
the continuous space model framework. IEEE/ACM Transactions on Audio, Speech and Language Processing 23(3), 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from metrics.scoring.adequacy_fluency import (
    AdequacyFluency,
    AdequacyFluencyPreparation,
    order_parameter,
    over_references,
    reference_parameter,
    weights_for,
)
from metrics.scoring.metric import Metric, MetricStatistics, mean_statistics
from metrics.scoring.parameters import choice, trained

FORMS = ("relative", "absolute")


@dataclass(frozen=True)
class Fm(Metric):
    """FM as a metric of the registry."""

    name: ClassVar[str] = "fm"
    label: ClassVar[str] = "FM"
    summary: ClassVar[str] = "Fluency: how alike a response and a reference are in probability under a language model."
    group: ClassVar[str] = "adequacy-fluency"

    order: int = order_parameter()
    form: str = choice(
        "relative",
        FORMS,
        label="Probability, relative to a reference's or its own",
        key="form",
        hint="relative: the smaller probability over the larger; absolute: the response's own, no reference read.",
    )
    references: str = reference_parameter("max", "mean", "weighted")
    model: str = trained("language_model", label="Language model", key="fm")

    def __post_init__(self) -> None:
        super().__post_init__()
        # The class says what FM is by default, each FM what it reads itself.
        object.__setattr__(self, "needs_references", self.form == "relative")

    @property
    def needs_weights(self) -> bool:
        return self.references == "weighted" and self.form == "relative"

    def preparation(self) -> AdequacyFluencyPreparation:
        return AdequacyFluencyPreparation(language_models=((self.model, (self.order,)),))

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
        if self.form == "absolute":
            scores = prepared.probabilities(self.model, self.order)
        else:
            values, weights = prepared.ratios(self.model, self.order), weights_for(self, weights)
            scores = over_references(segments.pairs, values, self.references, reference_mask, weights)
        return mean_statistics(scores[segments.rows])
