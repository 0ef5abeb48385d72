"""From ratings to weights in [-1, +1], with their uncertainty; agreement; rater quality.

Pure functions on arrays: usable from a notebook without the rest of Assay.
"""

from annotation.weighting.agreement import AlphaResult, IccResult, icc, krippendorff_alpha
from annotation.weighting.linear import linear_weights, median_weights
from annotation.weighting.raters import RaterSummary, summarise_raters
from annotation.weighting.reliability import RaterModel, fit_rater_model, reliability_weights
from annotation.weighting.result import WeightResult, exact_tenths
from annotation.weighting.schemes import SCHEME_NAMES, WeightScheme, bootstrap_weights, get_scheme
from annotation.weighting.table import RatingTable, value_counts
from annotation.weighting.zscore import zscore_weights

__all__ = [
    "SCHEME_NAMES",
    "AlphaResult",
    "IccResult",
    "RaterModel",
    "RaterSummary",
    "RatingTable",
    "WeightResult",
    "WeightScheme",
    "bootstrap_weights",
    "exact_tenths",
    "fit_rater_model",
    "get_scheme",
    "icc",
    "krippendorff_alpha",
    "linear_weights",
    "median_weights",
    "reliability_weights",
    "summarise_raters",
    "value_counts",
    "zscore_weights",
]
