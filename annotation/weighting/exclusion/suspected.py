"""Rules for a campaign that has none yet: thresholds far from what its raters usually do, so that few are suspected.

A rater stands out whose measure is more than three robust standard deviations (1.4826 times the median absolute
deviation, Rousseeuw and Croux 1993) below the median of all raters, and also below a fixed bound. Times are compared as
logarithms and correlations as Fisher's z. Where raters hardly differ, a smallest deviation takes the place of theirs.

The deviation of a few raters' correlations says next to nothing. Below ``FEW`` raters the deviation that careful raters
with so many answers would have takes its place: that of Fisher's z and that between careful raters. Careless answers
lower the others' agreement, too, the more the fewer others there are: K raters are marked from √K / 2 deviations on.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from annotation.weighting.exclusion.measured import (
    AgreementBelow,
    AttentionAccuracyBelow,
    EntropyBelow,
    GoldAccuracyBelow,
    MeasuredRule,
    MedianSecondsBelow,
)
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.table import FloatArray

DEVIATIONS = 3.0
TO_SIGMA = 1.4826  # of a normal distribution's median absolute deviation
LEAST_LOG_SECONDS, LEAST_Z = 0.5, 0.1  # deviations where raters hardly differ
UNREADABLE_SECONDS = 0.5  # no text is read in less
FAST_SECONDS = 1.0  # a robust threshold is at least that, up to a third of the median
LARGEST_Z = 3.0  # of a correlation of 1
FEW, FEWEST = 8, 3  # raters; of two who do not agree, neither stands out
HONEST_Z = 0.15  # deviation of careful raters' correlations, if each had endless answers
LEAST_TIMES, LEAST_ANSWERS = 5, 10  # that a rule waits for if raters have too few for its usual number
BY_CHANCE = 0.01  # how often the typical rater may give one answer throughout, as often as a rule waits for


@dataclass(frozen=True, eq=False)
class Measures:
    """One measure of K raters, and how many answers of each are behind it; shape (K,), NaN where undefined."""

    estimate: npt.ArrayLike
    n: npt.ArrayLike

    def usual_after(self, rule: type[MeasuredRule], least: int) -> int:
        """Return the rule's usual number of answers, or half of what the median rater has if that is less."""
        usual, n = int(rule.suggested["after"]), np.asarray(self.n)
        return max(min(usual, int(np.median(n[n > 0])) // 2), least) if (n > 0).any() else usual

    def known(self, after: int) -> tuple[FloatArray, FloatArray]:
        """Return the defined estimates from enough answers, and how many there were."""
        estimate, n = np.asarray(self.estimate, dtype=np.float64), np.asarray(self.n, dtype=np.float64)
        enough = np.isfinite(estimate) & (n >= after)
        return estimate[enough], n[enough]


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
    seconds: Measures,
    agreement: Measures,
    entropy: Measures,
    points: int = 5,
    has_gold: bool = False,
    has_attention: bool = False,
) -> list[ExclusionRule]:
    """Return rules that flag the raters who stand out among all.

    Parameters
    ----------
    seconds, agreement, entropy : Measures
        Median time, correlation with the others' mean, entropy of the answers in bits.
    points : int
        Different answers that the scale offers.
    has_gold, has_attention : bool
        Whether raters answered such checks: their usual rules are added.
    """
    found = (_too_fast(seconds), _disagreeing(agreement), _hardly_varied(entropy, points))
    rules: list[ExclusionRule] = [rule for rule in found if rule is not None]
    for kind, is_used in ((GoldAccuracyBelow, has_gold), (AttentionAccuracyBelow, has_attention)):
        if is_used:
            rules.append(kind(**{**kind.suggested, "action": "flag"}))
    return rules


def _too_fast(measures: Measures) -> MedianSecondsBelow | None:
    after = measures.usual_after(MedianSecondsBelow, LEAST_TIMES)
    times, _ = measures.known(after)
    if not times.size:
        return None
    robust = float(np.exp(robust_threshold(np.log(np.maximum(times, 1e-3)), least_deviation=LEAST_LOG_SECONDS)))
    threshold = max(min(max(robust, FAST_SECONDS), float(np.median(times)) / 3), UNREADABLE_SECONDS)
    return MedianSecondsBelow(action="flag", seconds=_rounded(threshold), after=after)


def _disagreeing(measures: Measures) -> AgreementBelow | None:
    after = measures.usual_after(AgreementBelow, LEAST_ANSWERS)
    correlations, n = measures.known(after)
    if len(correlations) < FEWEST:
        return None
    with np.errstate(divide="ignore"):
        z = np.clip(np.arctanh(correlations), -LARGEST_Z, LARGEST_Z)
    if len(z) < FEW:
        deviation = math.hypot(HONEST_Z, 1 / math.sqrt(np.median(n) - 3))
        robust = float(np.median(z)) - math.sqrt(len(z)) / 2 * deviation
    else:
        robust = robust_threshold(z, least_deviation=LEAST_Z)
    bound = float(AgreementBelow.suggested["correlation"])
    return AgreementBelow(action="flag", correlation=max(_rounded(min(math.tanh(robust), bound)), -0.99), after=after)


def _hardly_varied(measures: Measures, points: int) -> EntropyBelow | None:
    bits, _ = measures.known(LEAST_ANSWERS)
    if not bits.size:
        return None
    typical = float(np.median(bits))
    threshold = min(float(EntropyBelow.suggested["bits"]), typical / 4)
    if threshold < 0.01:
        return None
    after = max(math.ceil(math.log(BY_CHANCE) / math.log(largest_share(typical, points))), LEAST_ANSWERS)
    return EntropyBelow(action="flag", bits=_rounded(threshold), after=after)


def largest_share(bits: float, points: int) -> float:
    """Return how often an answer can come at most, of ``points``, if answers have this entropy.

    >>> round(largest_share(1.0, 2), 3), round(largest_share(2.0, 5), 3)
    (0.5, 0.5)
    """
    if bits >= math.log2(points):
        return 1 / points
    return float(brentq(lambda share: _entropy(share, points) - bits, 1 / points, 1 - 1e-12))


def _entropy(share: float, points: int) -> float:
    """Return the entropy of answers of which one has this share and the others share the rest."""
    rest = 1 - share
    return -share * math.log2(share) - rest * math.log2(rest / (points - 1))


def _rounded(threshold: float) -> float:
    """Return two decimals, as people write a rule."""
    return round(threshold, 2)
