"""Rules that measure raters, and exclude or flag those who fall short.

A rule strikes on the estimate, not on its interval: what was registered is what happens. ``after`` is how many answers
of the kind the rule looks at a rater must have given before it may strike; a figure that is undefined never strikes.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from annotation.weighting.checks import RangeKind, check_accuracy, self_consistency
from annotation.weighting.degraded import degraded_test
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.rule import (
    ACTIONS,
    Action,
    Evidence,
    ExclusionRule,
    Ruling,
    Standing,
    place_ruling,
)
from annotation.weighting.groups import codes_of
from annotation.weighting.raters import RaterSummary, summarise_raters
from annotation.weighting.table import FloatArray, IntArray, RatingTable


@dataclass(frozen=True, eq=False)
class Measurement:
    """One figure of each of K raters, arrays of shape (K,): strikes where ``compared`` is below ``threshold``."""

    n: IntArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    threshold: float
    pvalue: FloatArray | None = None  # then a rater is struck whose p-value is at or above the threshold


@dataclass(frozen=True)
class MeasuredRule(ExclusionRule):
    """Base of the rules that measure raters."""

    live: ClassVar[bool] = True
    measure: ClassVar[str]  # in words
    counted: ClassVar[str]  # what ``after`` counts, in words
    action: Action

    def __post_init__(self) -> None:
        if not isinstance(self.action, str) or self.action not in ACTIONS:
            raise self.refuse("action", ", ".join(ACTIONS))
        self.check_threshold()
        self.need_count("after")

    @abstractmethod
    def check_threshold(self) -> None:
        """Refuse a threshold that is none."""

    @abstractmethod
    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        """The figure of every rater, from what earlier rules left."""

    @property
    @abstractmethod
    def condition(self) -> str:
        """When it strikes, in words."""

    @property
    def sentence(self) -> str:
        verb = "Exclude" if self.action == "exclude" else "Flag"
        return f"{verb} raters {self.condition}, after {self.after_answers} {self.counted}."

    @property
    def after_answers(self) -> int:
        """How many answers a rater must have given before the rule may strike."""
        answers: int = getattr(self, "after")  # noqa: B009 - each subclass's own last field
        return answers

    def does(self) -> Action:
        return self.action

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        found = self.measured(log, standing)
        # Undefined figures are NaN, for which both are false.
        short = found.estimate < found.threshold if found.pvalue is None else found.pvalue >= found.threshold
        struck = short & (found.n >= self.after_answers) & ~standing.out
        evidence = {
            place: Evidence(
                measure=self.measure,
                n=int(found.n[place]),
                estimate=float(found.estimate[place]),
                low=float(found.low[place]),
                high=float(found.high[place]),
                threshold=float(found.threshold),
                pvalue=np.nan if found.pvalue is None else float(found.pvalue[place]),
            )
            for place in np.flatnonzero(struck).tolist()
        }
        return place_ruling(log, struck, evidence, exclude=self.action == "exclude")


@dataclass(frozen=True)
class _AccuracyBelow(MeasuredRule):
    kind: ClassVar[RangeKind]
    accuracy: float
    after: int

    def check_threshold(self) -> None:
        self.need_number("accuracy", "a share, above 0 and at most 1", above=0, below=1, or_equal=True)

    @property
    def condition(self) -> str:
        return f"whose {self.measure} is below {self.accuracy:g}"

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        found = check_accuracy(log.need_checks(self.name), self.kind, len(log.raters))
        return Measurement(found.n, found.share, found.low, found.high, self.accuracy)


@dataclass(frozen=True)
class GoldAccuracyBelow(_AccuracyBelow):
    """Strikes raters whose share of gold answers inside the expected range is below ``accuracy``."""

    name: ClassVar[str] = "gold_accuracy_below"
    kind: ClassVar[RangeKind] = "gold"
    measure: ClassVar[str] = "gold accuracy"
    counted: ClassVar[str] = "gold answers"


@dataclass(frozen=True)
class AttentionAccuracyBelow(_AccuracyBelow):
    """Strikes raters whose share of attention checks passed is below ``accuracy``; "cannot judge" is not passed."""

    name: ClassVar[str] = "attention_accuracy_below"
    kind: ClassVar[RangeKind] = "attention"
    measure: ClassVar[str] = "attention accuracy"
    counted: ClassVar[str] = "attention checks"


@dataclass(frozen=True)
class AnchorAccuracyBelow(_AccuracyBelow):
    """Strikes raters whose share of anchors rated in the expected range is below ``accuracy``."""

    name: ClassVar[str] = "anchor_accuracy_below"
    kind: ClassVar[RangeKind] = "anchor"
    measure: ClassVar[str] = "anchor accuracy"
    counted: ClassVar[str] = "anchors"


@dataclass(frozen=True)
class SelfConsistencyBelow(MeasuredRule):
    """Strikes raters whose share of repeats within one point of their first answer is below ``share``."""

    name: ClassVar[str] = "self_consistency_below"
    measure: ClassVar[str] = "share of repeats within one point"
    counted: ClassVar[str] = "repeats"
    share: float
    after: int

    def check_threshold(self) -> None:
        self.need_number("share", "a share, above 0 and at most 1", above=0, below=1, or_equal=True)

    @property
    def condition(self) -> str:
        return f"whose {self.measure} is below {self.share:g}"

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        found = self_consistency(log.need_checks(self.name), len(log.raters))
        return Measurement(found.n, found.within, found.within_low, found.within_high, self.share)


@dataclass(frozen=True)
class DegradedNotLower(MeasuredRule):
    """Strikes raters whose ratings do not show that they find degraded texts worse: p of the test at ``p`` or above.

    The evidence's estimate is the probability that an undegraded text is rated above a degraded one.
    """

    name: ClassVar[str] = "degraded_not_lower"
    measure: ClassVar[str] = "undegraded texts rated above degraded ones"
    counted: ClassVar[str] = "degraded texts"
    p: float
    after: int

    def check_threshold(self) -> None:
        self.need_number("p", "a probability, above 0 and below 1", above=0, below=1)

    @property
    def condition(self) -> str:
        return f"who do not rate degraded texts lower (Mann-Whitney, one-sided p of {self.p:g} or more)"

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        checks, value = log.need_checks(self.name), log.need("value", self.name)
        keep = standing.remaining
        criterion = None if log.criterion is None else log.criterion[keep]
        found = degraded_test(checks, log.code[keep], value[keep], len(log.raters), criterion=criterion)
        return Measurement(found.n_degraded, found.auc, found.auc_low, found.auc_high, self.p, found.pvalue)


@dataclass(frozen=True)
class FasterThanPercentile(MeasuredRule):
    """Strikes raters whose median time is below that percentile of all times that earlier rules left.

    The evidence's threshold is that percentile in seconds.
    """

    name: ClassVar[str] = "faster_than_percentile"
    measure: ClassVar[str] = "median seconds"
    counted: ClassVar[str] = "timed ratings"
    percentile: float
    after: int

    def check_threshold(self) -> None:
        self.need_number("percentile", "a percentile, above 0 and below 100", above=0, below=100)

    @property
    def condition(self) -> str:
        return f"whose median time is below percentile {self.percentile:g} of all times"

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        found = _times(log, standing, self.name)
        known = log.need("seconds", self.name)[standing.remaining]
        known = known[~np.isnan(known)]
        threshold = float(np.percentile(known, self.percentile)) if len(known) else np.nan
        return Measurement(found.n_timed, found.median_seconds, found.seconds_low, found.seconds_high, threshold)


@dataclass(frozen=True)
class MedianSecondsBelow(MeasuredRule):
    """Strikes raters whose median time per rating is below ``seconds``."""

    name: ClassVar[str] = "median_seconds_below"
    measure: ClassVar[str] = "median seconds"
    counted: ClassVar[str] = "timed ratings"
    seconds: float
    after: int

    def check_threshold(self) -> None:
        self.need_number("seconds", "a number of seconds above 0", above=0)

    @property
    def condition(self) -> str:
        return f"whose median time is below {self.seconds:g} s"

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        found = _times(log, standing, self.name)
        return Measurement(found.n_timed, found.median_seconds, found.seconds_low, found.seconds_high, self.seconds)


@dataclass(frozen=True)
class AgreementBelow(MeasuredRule):
    """Strikes raters whose ratings correlate with the mean of the others', as earlier rules left it, too little.

    Who gives one value throughout has no correlation, so is not struck; ``entropy_below`` is the rule for that.
    """

    name: ClassVar[str] = "agreement_below"
    measure: ClassVar[str] = "correlation with the others' mean"
    counted: ClassVar[str] = "ratings of responses that others rated too"
    correlation: float
    after: int

    def check_threshold(self) -> None:
        accepted = "a correlation, above -1 and at most 1"
        self.need_number("correlation", accepted, above=-1, below=1, or_equal=True)

    @property
    def condition(self) -> str:
        return f"whose {self.measure} is below {self.correlation:g}"

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        response, value = log.need("response", self.name), log.need("value", self.name)
        found = _summary(log, standing, value, codes_of(response))
        return Measurement(
            found.n_compared, found.agreement, found.agreement_low, found.agreement_high, self.correlation
        )


@dataclass(frozen=True)
class EntropyBelow(MeasuredRule):
    """Strikes raters whose answers vary little: entropy of their distribution below ``bits``."""

    name: ClassVar[str] = "entropy_below"
    measure: ClassVar[str] = "entropy of answers, bits"
    counted: ClassVar[str] = "ratings"
    bits: float
    after: int

    def check_threshold(self) -> None:
        self.need_number("bits", "a number of bits above 0", above=0)

    @property
    def condition(self) -> str:
        return f"whose answers have an entropy below {self.bits:g} bits"

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        value = log.need("value", self.name)
        found = _summary(log, standing, value, np.zeros(len(log), dtype=np.int64))
        return Measurement(found.n, found.entropy, found.entropy_low, found.entropy_high, self.bits)


def _times(log: RatingLog, standing: Standing, rule: str) -> RaterSummary:
    keep = standing.remaining
    seconds: FloatArray = log.need("seconds", rule)[keep]
    rater = log.code[keep]
    table = RatingTable(np.zeros(len(rater), dtype=np.int64), rater, np.zeros(len(rater)), n_raters=len(log.raters))
    return summarise_raters(table, seconds=seconds)


def _summary(log: RatingLog, standing: Standing, value: FloatArray, response: npt.NDArray[np.int64]) -> RaterSummary:
    keep = standing.remaining & ~np.isnan(value)
    table = RatingTable(response[keep], log.code[keep], value[keep], n_raters=len(log.raters))
    return summarise_raters(table, criterion=None if log.criterion is None else log.criterion[keep])
