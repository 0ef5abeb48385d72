"""From ratings to weights in [-1, +1], with their uncertainty; agreement; rater quality.

Pure functions on arrays: usable from a notebook without the rest of Assay.
"""

from annotation.weighting.agreement import AlphaResult, IccResult, icc, krippendorff_alpha
from annotation.weighting.checks import (
    CHECK_KINDS,
    CheckAccuracy,
    CheckLog,
    SelfConsistency,
    check_accuracy,
    self_consistency,
)
from annotation.weighting.degraded import DegradedTest, degraded_test
from annotation.weighting.enough import Sufficiency, sufficiency
from annotation.weighting.influence import Influence, leave_one_rater_out
from annotation.weighting.kappa import PairwiseKappaResult, pairwise_weighted_kappa
from annotation.weighting.linear import linear_weights, median_weights
from annotation.weighting.position import (
    ListBias,
    PairBias,
    PreferenceBias,
    list_position_bias,
    pair_position_bias,
    preference_position_bias,
)
from annotation.weighting.quality import RaterQuality, rater_quality
from annotation.weighting.raters import RaterSummary, summarise_raters
from annotation.weighting.reliability import RaterModel, fit_rater_model, reliability_weights
from annotation.weighting.result import WeightResult, exact_tenths
from annotation.weighting.scheme import Scheme, SchemeParameter, WeighedResponse, WeightScheme
from annotation.weighting.schemes import DEFAULT_SCHEME, SCHEMES, bootstrap_weights, get_scheme, scheme_for_scale
from annotation.weighting.sensitivity import Alternative, Movement, alternatives, movement
from annotation.weighting.sequence import DriftResult, drift, sequence_places
from annotation.weighting.table import RatingTable, value_counts
from annotation.weighting.zscore import zscore_weights

__all__ = [
    "CHECK_KINDS",
    "DEFAULT_SCHEME",
    "SCHEMES",
    "AlphaResult",
    "Alternative",
    "CheckAccuracy",
    "CheckLog",
    "DegradedTest",
    "DriftResult",
    "IccResult",
    "Influence",
    "ListBias",
    "Movement",
    "PairBias",
    "PairwiseKappaResult",
    "PreferenceBias",
    "RaterModel",
    "RaterQuality",
    "RaterSummary",
    "RatingTable",
    "Scheme",
    "SchemeParameter",
    "SelfConsistency",
    "Sufficiency",
    "WeighedResponse",
    "WeightResult",
    "WeightScheme",
    "alternatives",
    "bootstrap_weights",
    "check_accuracy",
    "degraded_test",
    "drift",
    "exact_tenths",
    "fit_rater_model",
    "get_scheme",
    "icc",
    "krippendorff_alpha",
    "leave_one_rater_out",
    "linear_weights",
    "list_position_bias",
    "median_weights",
    "movement",
    "pair_position_bias",
    "pairwise_weighted_kappa",
    "preference_position_bias",
    "rater_quality",
    "reliability_weights",
    "scheme_for_scale",
    "self_consistency",
    "sequence_places",
    "sufficiency",
    "summarise_raters",
    "value_counts",
    "zscore_weights",
]
