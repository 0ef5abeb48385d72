"""Exclusion rules: data that says which ratings do not count, so that any release can be computed again.

A rule is a small record, ``{"rule": name, "version": 1, ...fields}``. The ratings themselves are never removed. Rules
that measure raters have an action, ``"exclude"`` or ``"flag"``. They apply while a campaign runs (:func:`judge_raters`)
and when weights are computed (:func:`apply_rules`).
"""

from annotation.weighting.checks import CHECK_KINDS, CheckLog
from annotation.weighting.exclusion.applying import Exclusion, RaterVerdict, apply_rules, judge_raters
from annotation.weighting.exclusion.listed import (
    ExcludeExtra,
    ExcludeRaters,
    ExcludeRatings,
    MinRatingsPerRater,
    MinSecondsPerRating,
)
from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.measured import (
    AgreementBelow,
    AnchorAccuracyBelow,
    AttentionAccuracyBelow,
    DegradedNotLower,
    EntropyBelow,
    FasterThanPercentile,
    GoldAccuracyBelow,
    MeasuredRule,
    MedianSecondsBelow,
    SelfConsistencyBelow,
)
from annotation.weighting.exclusion.registry import RULES, rule_from_dict, rules_from_data
from annotation.weighting.exclusion.rule import ACTIONS, Action, Evidence, ExclusionRule, RuleError, Struck

__all__ = [
    "ACTIONS",
    "CHECK_KINDS",
    "RULES",
    "Action",
    "AgreementBelow",
    "AnchorAccuracyBelow",
    "AttentionAccuracyBelow",
    "CheckLog",
    "DegradedNotLower",
    "EntropyBelow",
    "Evidence",
    "ExcludeExtra",
    "ExcludeRaters",
    "ExcludeRatings",
    "Exclusion",
    "ExclusionRule",
    "FasterThanPercentile",
    "GoldAccuracyBelow",
    "MeasuredRule",
    "MedianSecondsBelow",
    "MinRatingsPerRater",
    "MinSecondsPerRating",
    "RaterVerdict",
    "RatingLog",
    "RuleError",
    "SelfConsistencyBelow",
    "Struck",
    "apply_rules",
    "judge_raters",
    "rule_from_dict",
    "rules_from_data",
]
