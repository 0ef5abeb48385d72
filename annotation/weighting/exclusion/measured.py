"""Rules that measure raters, and exclude or flag those who fall short.

A rule compares the estimate, not its interval: exactly what was registered. It applies to a rater after
``after`` answers of the kind that it measures. An undefined measure has no consequence.

To add a rule, write its class here and list it in ``MEASURED_RULES``, from which forms, pages and files take it.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar

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
    raters_ruling,
)
from annotation.weighting.groups import codes_of
from annotation.weighting.raters import RaterSummary, summarise_raters
from annotation.weighting.table import FloatArray, IntArray, RatingTable


@dataclass(frozen=True, eq=False)
class Measurement:
    """A measure of K raters, arrays of shape (K,). A rater falls short if the estimate is below ``threshold``."""

    n: IntArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    threshold: float
    pvalue: FloatArray | None = None  # if given, a rater falls short whose p-value is at or above the threshold


SHARE = {"accepted": "a share, above 0 and at most 1", "above": 0, "below": 1, "or_equal": True}
PROBABILITY = {"accepted": "a probability, above 0 and below 1", "above": 0, "below": 1}
CORRELATION = {"accepted": "a correlation, above -1 and at most 1", "above": -1, "below": 1, "or_equal": True}
PERCENTILE = {"accepted": "a percentile, above 0 and below 100", "above": 0, "below": 100}
BITS = {"accepted": "a number of bits above 0", "above": 0}
SECONDS = {"accepted": "a number of seconds above 0", "above": 0}
AFTER = {"label": "After so many answers"}


@dataclass(frozen=True)
class MeasuredRule(ExclusionRule):
    """Base of the rules that measure raters: ``action``, the threshold with the numbers it accepts, and ``after``."""

    live: ClassVar[bool] = True
    measure: ClassVar[str]  # in words
    counted: ClassVar[str]  # what ``after`` counts, in words
    condition: ClassVar[str] = "whose {measure} is below {threshold:g}"  # which raters fall short
    action: Action = field(metadata={"label": "Then"})

    def __post_init__(self) -> None:
        if not isinstance(self.action, str) or self.action not in ACTIONS:
            raise self.refuse("action", ", ".join(ACTIONS))
        accepted = {name: value for name, value in self._threshold.metadata.items() if name != "label"}
        self.need_number(self._threshold.name, **accepted)
        self.need_count("after")

    @property
    def _threshold(self) -> Field[Any]:
        return fields(self)[1]

    @abstractmethod
    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        """Measure every rater on what earlier rules left."""

    @property
    def sentence(self) -> str:
        verb = "Exclude" if self.action == "exclude" else "Flag"
        condition = self.condition.format(measure=self.measure, threshold=getattr(self, self._threshold.name))
        return f"{verb} raters {condition}, after {self.after_answers} {self.counted}."

    @property
    def after_answers(self) -> int:
        """Return how many answers a rater must have given before the rule applies."""
        answers: int = getattr(self, "after")  # noqa: B009 - each subclass's own last field
        return answers

    def does(self) -> Action:
        return self.action

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        result = self.measured(log, standing)
        # Comparisons with NaN, an undefined measure, are false.
        short = result.estimate < result.threshold if result.pvalue is None else result.pvalue >= result.threshold
        struck = short & (result.n >= self.after_answers) & ~standing.out
        evidence = {
            index: Evidence(
                measure=self.measure,
                n=int(result.n[index]),
                estimate=float(result.estimate[index]),
                low=float(result.low[index]),
                high=float(result.high[index]),
                threshold=float(result.threshold),
                pvalue=np.nan if result.pvalue is None else float(result.pvalue[index]),
            )
            for index in np.flatnonzero(struck).tolist()
        }
        return raters_ruling(log, struck, evidence, exclude=self.action == "exclude")


@dataclass(frozen=True)
class _AccuracyBelow(MeasuredRule):
    kind: ClassVar[RangeKind]
    accuracy: float = field(metadata={"label": "Share of right answers below", **SHARE})
    after: int = field(metadata=AFTER)

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        accuracy = check_accuracy(log.need_checks(self.name), self.kind, len(log.raters))
        return Measurement(accuracy.n, accuracy.share, accuracy.low, accuracy.high, self.accuracy)


@dataclass(frozen=True)
class GoldAccuracyBelow(_AccuracyBelow):
    """Exclude or flag raters whose share of gold answers inside the expected range is below ``accuracy``."""

    name: ClassVar[str] = "gold_accuracy_below"
    title: ClassVar[str] = "Gold answered wrongly too often"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "exclude", "accuracy": 0.6, "after": 5}
    kind: ClassVar[RangeKind] = "gold"
    measure: ClassVar[str] = "gold accuracy"
    counted: ClassVar[str] = "gold answers"


@dataclass(frozen=True)
class AttentionAccuracyBelow(_AccuracyBelow):
    """Exclude or flag raters who pass too few attention checks; "cannot judge" does not pass."""

    name: ClassVar[str] = "attention_accuracy_below"
    title: ClassVar[str] = "Attention checks failed too often"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "exclude", "accuracy": 0.7, "after": 3}
    kind: ClassVar[RangeKind] = "attention"
    measure: ClassVar[str] = "attention accuracy"
    counted: ClassVar[str] = "attention checks"


@dataclass(frozen=True)
class AnchorAccuracyBelow(_AccuracyBelow):
    """Exclude or flag raters whose share of anchors rated in the expected range is below ``accuracy``."""

    name: ClassVar[str] = "anchor_accuracy_below"
    title: ClassVar[str] = "Human references rated too low"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "flag", "accuracy": 0.5, "after": 5}
    kind: ClassVar[RangeKind] = "anchor"
    measure: ClassVar[str] = "anchor accuracy"
    counted: ClassVar[str] = "anchors"


@dataclass(frozen=True)
class SelfConsistencyBelow(MeasuredRule):
    """Exclude or flag raters whose share of repeats within one point of their first answer is below ``share``."""

    name: ClassVar[str] = "self_consistency_below"
    title: ClassVar[str] = "Repeats answered differently"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "flag", "share": 0.6, "after": 5}
    measure: ClassVar[str] = "share of repeats within one point"
    counted: ClassVar[str] = "repeats"
    share: float = field(metadata={"label": "Share within one point below", **SHARE})
    after: int = field(metadata=AFTER)

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        repeats = self_consistency(log.need_checks(self.name), len(log.raters))
        return Measurement(repeats.n, repeats.within, repeats.within_low, repeats.within_high, self.share)


@dataclass(frozen=True)
class DegradedNotLower(MeasuredRule):
    """Exclude or flag raters who do not rate degraded texts lower: the test's p-value is ``p`` or above.

    The evidence's estimate is the probability that an undegraded text is rated above a degraded one.
    """

    name: ClassVar[str] = "degraded_not_lower"
    title: ClassVar[str] = "Degraded texts not rated lower"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "flag", "p": 0.05, "after": 10}
    measure: ClassVar[str] = "undegraded texts rated above degraded ones"
    counted: ClassVar[str] = "degraded texts"
    condition: ClassVar[str] = (
        "who do not rate degraded texts lower (Mann-Whitney, one-sided p of {threshold:g} or more)"
    )
    p: float = field(metadata={"label": "p-value of the test at or above", **PROBABILITY})
    after: int = field(metadata=AFTER)

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        checks, value = log.need_checks(self.name), log.need("value", self.name)
        keep = standing.remaining
        criterion = None if log.criterion is None else log.criterion[keep]
        test = degraded_test(checks, log.code[keep], value[keep], len(log.raters), criterion=criterion)
        return Measurement(test.n_degraded, test.auc, test.auc_low, test.auc_high, self.p, test.pvalue)


@dataclass(frozen=True)
class FasterThanPercentile(MeasuredRule):
    """Exclude or flag raters whose median time is below that percentile of all times that earlier rules left.

    The evidence's threshold is that percentile in seconds.
    """

    name: ClassVar[str] = "faster_than_percentile"
    title: ClassVar[str] = "Faster than nearly all"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "flag", "percentile": 2, "after": 10}
    measure: ClassVar[str] = "median seconds"
    counted: ClassVar[str] = "timed ratings"
    condition: ClassVar[str] = "whose median time is below percentile {threshold:g} of all times"
    percentile: float = field(metadata={"label": "Median time below percentile", **PERCENTILE})
    after: int = field(metadata=AFTER)

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        times = _times(log, standing, self.name)
        known = log.need("seconds", self.name)[standing.remaining]
        known = known[~np.isnan(known)]
        threshold = float(np.percentile(known, self.percentile)) if len(known) else np.nan
        return Measurement(times.n_timed, times.median_seconds, times.seconds_low, times.seconds_high, threshold)


@dataclass(frozen=True)
class MedianSecondsBelow(MeasuredRule):
    """Exclude or flag raters whose median time per rating is below ``seconds``."""

    name: ClassVar[str] = "median_seconds_below"
    title: ClassVar[str] = "Too fast"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "flag", "seconds": 2, "after": 10}
    measure: ClassVar[str] = "median seconds"
    counted: ClassVar[str] = "timed ratings"
    condition: ClassVar[str] = "whose median time is below {threshold:g} s"
    seconds: float = field(metadata={"label": "Median seconds below", **SECONDS})
    after: int = field(metadata=AFTER)

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        times = _times(log, standing, self.name)
        return Measurement(times.n_timed, times.median_seconds, times.seconds_low, times.seconds_high, self.seconds)


@dataclass(frozen=True)
class AgreementBelow(MeasuredRule):
    """Exclude or flag raters whose ratings correlate too little with the others' mean, as earlier rules left it.

    A rater who gives one value throughout has no correlation; ``entropy_below`` is the rule for that.
    """

    name: ClassVar[str] = "agreement_below"
    title: ClassVar[str] = "Too little agreement with the others"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "flag", "correlation": 0.2, "after": 20}
    measure: ClassVar[str] = "correlation with the others' mean"
    counted: ClassVar[str] = "ratings of responses that others rated too"
    correlation: float = field(metadata={"label": "Correlation below", **CORRELATION})
    after: int = field(metadata=AFTER)

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        response, value = log.need("response", self.name), log.need("value", self.name)
        summary = _summary(log, standing, value, codes_of(response))
        return Measurement(
            summary.n_compared, summary.agreement, summary.agreement_low, summary.agreement_high, self.correlation
        )


@dataclass(frozen=True)
class EntropyBelow(MeasuredRule):
    """Exclude or flag raters whose answers vary little: the entropy of their distribution is below ``bits``."""

    name: ClassVar[str] = "entropy_below"
    title: ClassVar[str] = "Answers that hardly vary"
    suggested: ClassVar[Mapping[str, Any]] = {"action": "flag", "bits": 0.5, "after": 20}
    measure: ClassVar[str] = "entropy of answers, bits"
    counted: ClassVar[str] = "ratings"
    condition: ClassVar[str] = "whose answers have an entropy below {threshold:g} bits"
    bits: float = field(metadata={"label": "Entropy in bits below", **BITS})
    after: int = field(metadata=AFTER)

    def measured(self, log: RatingLog, standing: Standing) -> Measurement:
        value = log.need("value", self.name)
        summary = _summary(log, standing, value, np.zeros(len(log), dtype=np.int64))
        return Measurement(summary.n, summary.entropy, summary.entropy_low, summary.entropy_high, self.bits)


def _times(log: RatingLog, standing: Standing, rule: str) -> RaterSummary:
    keep = standing.remaining
    seconds: FloatArray = log.need("seconds", rule)[keep]
    rater = log.code[keep]
    table = RatingTable(np.zeros(len(rater), dtype=np.int64), rater, np.zeros(len(rater)), n_raters=len(log.raters))
    of_ratings = summarise_raters(table, seconds=seconds)
    if log.screen is None:
        return of_ratings
    # A rule counts ratings, as it always did; its interval counts the time of a screen once.
    once = summarise_raters(table, seconds=seconds, screen=log.screen[keep])
    return replace(of_ratings, seconds_low=once.seconds_low, seconds_high=once.seconds_high)


def _summary(log: RatingLog, standing: Standing, value: FloatArray, response: npt.NDArray[np.int64]) -> RaterSummary:
    keep = standing.remaining & ~np.isnan(value)
    table = RatingTable(response[keep], log.code[keep], value[keep], n_raters=len(log.raters))
    criterion, points = (None if column is None else column[keep] for column in (log.criterion, log.points))
    return summarise_raters(table, criterion=criterion, points=points)


MEASURED_RULES: tuple[type[ExclusionRule], ...] = (
    GoldAccuracyBelow,
    AttentionAccuracyBelow,
    AnchorAccuracyBelow,
    SelfConsistencyBelow,
    DegradedNotLower,
    AgreementBelow,
    EntropyBelow,
    FasterThanPercentile,
    MedianSecondsBelow,
)
