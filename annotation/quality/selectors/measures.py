"""The measures of a rater: labels, fields of ``RaterQuality``, and whether the table of raters lists them."""

from dataclasses import dataclass

import numpy as np

from annotation.weighting.quality import RaterQuality

FEW, REPEATS, DEGRADED = "fewer answers than this takes", "repeats judged both times", "degraded texts"


@dataclass(frozen=True)
class Measure:
    """A measure of one rater; NaN with a reason if undefined."""

    name: str
    label: str
    estimate: float
    low: float
    high: float
    n: int
    reason: str
    of: str  # what is counted

    @property
    def is_defined(self) -> bool:
        return bool(np.isfinite(self.estimate))


@dataclass(frozen=True)
class MeasureKind:
    """A kind of measure: names of fields of a part of ``RaterQuality``."""

    label: str
    part: str
    estimate: str
    interval: str | None = None  # what the names of its ends begin with, as in agreement_low; None: no interval
    n: str = "n"
    reason: str = FEW  # a field, or the reason itself
    of: str = "ratings"
    is_listed: bool = True

    def measure(self, name: str, quality: RaterQuality, index: int) -> Measure:
        part = getattr(quality, self.part)
        low = high = np.nan
        if self.interval is not None:
            low, high = (float(getattr(part, f"{self.interval}{end}")[index]) for end in ("low", "high"))
        estimate, n = float(getattr(part, self.estimate)[index]), int(getattr(part, self.n)[index])
        reason = str(getattr(part, self.reason)[index]) if hasattr(part, self.reason) else self.reason
        return Measure(name, self.label, estimate, low, high, n, reason, self.of)


MEASURES = {
    "n": MeasureKind("Ratings", "summary", "n", reason=""),
    "agreement": MeasureKind(
        "Agreement with others",
        "summary",
        "agreement",
        "agreement_",
        n="n_compared",
        reason="agreement_reason",
        of="ratings of responses that others rated too",
    ),
    "gold": MeasureKind("Gold", "gold", "share", "", reason="reason", of="answers with a known range"),
    "attention": MeasureKind("Attention", "attention", "share", "", reason="reason", of="attention checks"),
    "anchor": MeasureKind("Anchors", "anchor", "share", "", reason="reason", of="human references"),
    "repeats": MeasureKind("Repeats within one point", "repeats", "within", "within_", reason="reason", of=REPEATS),
    "kappa": MeasureKind(
        "κ on repeats", "repeats", "kappa", "kappa_", reason="kappa_reason", of=REPEATS, is_listed=False
    ),
    "degraded": MeasureKind(
        "Degraded texts rated lower", "degraded", "auc", "auc_", n="n_degraded", reason="reason", of=DEGRADED
    ),
    "degraded_p": MeasureKind(
        "Degraded test, p", "degraded", "pvalue", n="n_degraded", reason="reason", of=DEGRADED, is_listed=False
    ),
    "seconds": MeasureKind(
        "Median seconds",
        "summary",
        "median_seconds",
        "seconds_",
        n="n_timed",
        reason="no time is known",
        of="timed answers",
    ),
    "mean": MeasureKind("Mean", "summary", "mean", "mean_", is_listed=False),
    "spread": MeasureKind("Spread", "summary", "spread", is_listed=False),
    "entropy": MeasureKind("Entropy, bits", "summary", "entropy", "entropy_"),
}
WITHOUT_ANSWERS = {
    name: Measure(name, kind.label, 0.0 if name == "n" else np.nan, np.nan, np.nan, 0, "no answer yet", "")
    for name, kind in MEASURES.items()
}


def measures_of(quality: RaterQuality, index: int) -> dict[str, Measure]:
    return {name: kind.measure(name, quality, index) for name, kind in MEASURES.items()}
