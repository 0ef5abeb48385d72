"""Rules for a campaign that has none yet: thresholds far from what its raters usually do, so that few are suspected.

A rater stands out whose measure is more than three robust standard deviations (1.4826 times the median absolute
deviation, Rousseeuw and Croux 1993) below the median of all raters, and also below a fixed bound. Times are compared as
logarithms and correlations as Fisher's z. Where raters hardly differ, a smallest deviation takes the place of theirs.
"""

import numpy as np
import numpy.typing as npt

from annotation.weighting.exclusion.measured import (
    AgreementBelow,
    AttentionAccuracyBelow,
    EntropyBelow,
    GoldAccuracyBelow,
    MedianSecondsBelow,
)
from annotation.weighting.exclusion.rule import ExclusionRule

DEVIATIONS = 3.0
TO_SIGMA = 1.4826  # of a normal distribution's median absolute deviation
LEAST_LOG_SECONDS, LEAST_Z = 0.5, 0.1  # deviations where raters hardly differ
UNREADABLE_SECONDS = 0.5  # no text is read in less
FAST_SECONDS = 1.0  # a robust threshold is at least that, up to a third of the median
LARGEST_Z = 3.0  # of a correlation of 1


def robust_threshold(values: npt.ArrayLike, *, least_deviation: float) -> float:
    """Return the median less three robust standard deviations; NaN without a defined value.

    >>> round(robust_threshold([1.0, 2.0, 3.0, 4.0, 100.0], least_deviation=0.1), 3)
    -1.448
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not known.size:
        return float("nan")
    median = float(np.median(known))
    deviation = max(TO_SIGMA * float(np.median(np.abs(known - median))), least_deviation)
    return median - DEVIATIONS * deviation


def rules_for(
    *,
    seconds: npt.ArrayLike,
    agreement: npt.ArrayLike,
    entropy: npt.ArrayLike,
    has_gold: bool = False,
    has_attention: bool = False,
) -> list[ExclusionRule]:
    """Return rules that flag the raters who stand out among all.

    Parameters
    ----------
    seconds, agreement, entropy : float arrays, one number per rater
        Median time, correlation with the others' mean, entropy of the answers in bits; NaN where undefined.
    has_gold, has_attention : bool
        Whether raters answered such checks: their usual rules are added.
    """
    rules: list[ExclusionRule] = []
    after = {rule: int(rule.suggested["after"]) for rule in (MedianSecondsBelow, AgreementBelow, EntropyBelow)}
    if np.isfinite(times := np.asarray(seconds, dtype=np.float64)).any():
        typical = float(np.nanmedian(times))
        robust = float(np.exp(robust_threshold(np.log(np.maximum(times, 1e-3)), least_deviation=LEAST_LOG_SECONDS)))
        threshold = max(min(max(robust, FAST_SECONDS), typical / 3), UNREADABLE_SECONDS)
        rules.append(MedianSecondsBelow(action="flag", seconds=_rounded(threshold), after=after[MedianSecondsBelow]))
    if np.isfinite(correlations := np.asarray(agreement, dtype=np.float64)).any():
        with np.errstate(divide="ignore"):
            z = np.clip(np.arctanh(correlations), -LARGEST_Z, LARGEST_Z)
        robust = float(np.tanh(robust_threshold(z, least_deviation=LEAST_Z)))
        bound = float(AgreementBelow.suggested["correlation"])
        correlation = max(_rounded(min(robust, bound)), -0.99)
        rules.append(AgreementBelow(action="flag", correlation=correlation, after=after[AgreementBelow]))
    if np.isfinite(bits := np.asarray(entropy, dtype=np.float64)).any():
        threshold = min(float(EntropyBelow.suggested["bits"]), float(np.nanmedian(bits)) / 4)
        if threshold >= 0.01:
            rules.append(EntropyBelow(action="flag", bits=_rounded(threshold), after=after[EntropyBelow]))
    for kind, is_used in ((GoldAccuracyBelow, has_gold), (AttentionAccuracyBelow, has_attention)):
        if is_used:
            rules.append(kind(**{**kind.suggested, "action": "flag"}))
    return rules


def _rounded(threshold: float) -> float:
    """Return two decimals, as people write a rule."""
    return round(threshold, 2)
