"""Rules for a campaign that has none yet: thresholds far from what its raters usually do, so that few are suspected.

A rater stands out whose measure is more than three robust standard deviations (1.4826 times the median absolute
deviation, Rousseeuw and Croux 1993) below the median of all raters, and also below a fixed bound. Times are compared as
logarithms and correlations as Fisher's z. Where raters hardly differ, a smallest deviation takes the place of theirs.

The deviation of a few raters says next to nothing, and a careless one moves the median of few. Below ``FEW`` raters
each is compared with the others: times with the others' median, agreement with how far the others agree among
themselves without this rater (``agreement_of_others``), because answers at random lower the correlations of all who are
compared with them. The deviation is what careful raters with so many answers would have: that of Fisher's z of both,
and that between careful raters. A rater is marked from ``FEW_DEVIATIONS`` on; only a minority can stand out.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from annotation.weighting.exclusion.measured import (
    AgreementBelow,
    AttentionAccuracyBelow,
    EntropyBelow,
    GoldAccuracyBelow,
    MeasuredRule,
    MedianSecondsBelow,
)
from annotation.weighting.exclusion.others import OthersAgreement
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.table import FloatArray

DEVIATIONS = 3.0
TO_SIGMA = 1.4826  # of a normal distribution's median absolute deviation
LEAST_LOG_SECONDS, LEAST_Z = 0.5, 0.1  # deviations where raters hardly differ
UNREADABLE_SECONDS = 0.5  # no text is read in less
FAST_SECONDS = 1.5  # a robust threshold is at least that, up to a third of the median
LARGEST_Z = 3.0  # of a correlation of 1
FEW, FEWEST = 8, 3  # raters; of two who do not agree, neither stands out
FEW_DEVIATIONS = 1.5  # by simulation, at most 5% of careful raters: benchmarks/coverage/rater.py
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
    others: OthersAgreement | None = None,
    points: int = 5,
    has_gold: bool = False,
    has_attention: bool = False,
) -> list[ExclusionRule]:
    """Return rules that flag the raters who stand out among all.

    Parameters
    ----------
    seconds, agreement, entropy : Measures
        Median time, correlation with the others' mean, entropy of the answers in bits.
    others : OthersAgreement, optional
        How far the others agree without each of these raters; by default, as the measures of the others say.
    points : int
        Different answers that the scale offers.
    has_gold, has_attention : bool
        Whether raters answered such checks: their usual rules are added.
    """
    found = (too_fast_among(seconds), _disagreeing(agreement, others), _hardly_varied(entropy, points))
    rules: list[ExclusionRule] = [rule for rule in found if rule is not None]
    for kind, is_used in ((GoldAccuracyBelow, has_gold), (AttentionAccuracyBelow, has_attention)):
        if is_used:
            rules.append(kind(**{**kind.suggested, "action": "flag"}))
    return rules


def typical_seconds(measures: Measures) -> float:
    """Return the median over raters of their median times; NaN if none has enough answers."""
    times, _ = measures.known(measures.usual_after(MedianSecondsBelow, LEAST_TIMES))
    return float(np.median(times)) if times.size else float("nan")


def too_fast_among(measures: Measures) -> MedianSecondsBelow | None:
    """Return the rule that flags who is far faster than the others; None if no rater has enough answers."""
    after = measures.usual_after(MedianSecondsBelow, LEAST_TIMES)
    times, _ = measures.known(after)
    if not times.size:
        return None
    logs = np.log(np.maximum(times, 1e-3))
    if 1 < len(logs) < FEW:
        threshold = _one_for_all(times, [_fast(np.delete(logs, rater)) for rater in range(len(logs))])
    else:
        threshold = _rounded(_fast(logs))
    return MedianSecondsBelow(action="flag", seconds=max(threshold, UNREADABLE_SECONDS), after=after)


def _fast(log_seconds: FloatArray) -> float:
    """Return what is far below these times."""
    robust = float(np.exp(robust_threshold(log_seconds, least_deviation=LEAST_LOG_SECONDS)))
    return max(min(max(robust, FAST_SECONDS), float(np.exp(np.median(log_seconds))) / 3), UNREADABLE_SECONDS)


def _one_for_all(values: FloatArray, own: npt.ArrayLike, *, most: int | None = None) -> float:
    """Return one threshold for raters who each have their own, below which are those who are below theirs.

    A rater above their own threshold is never below it, and no more than ``most`` raters are, the lowest first.
    """
    limits = np.asarray(own, dtype=np.float64)
    marked = values < limits
    if most is not None:
        marked[np.argsort(values)[most:]] = False
    if not marked.any():
        return min(_rounded(float(limits.min())), _down(float(values.min())))
    others = float(values[~marked].min(initial=np.inf))
    return min(_rounded(float(limits[marked].max())), _down(others))


def _disagreeing(measures: Measures, others: OthersAgreement | None) -> AgreementBelow | None:
    after = measures.usual_after(AgreementBelow, LEAST_ANSWERS)
    correlations, n = measures.known(after)
    if len(correlations) < FEWEST:
        return None
    bound = float(AgreementBelow.suggested["correlation"])
    if len(correlations) < FEW:
        own = np.minimum(_apart(correlations, n, _of_others(measures, others, after)), bound)
        threshold = _one_for_all(correlations, own, most=(len(correlations) - 1) // 2)
    else:
        threshold = _rounded(min(math.tanh(robust_threshold(_z(correlations), least_deviation=LEAST_Z)), bound))
    return AgreementBelow(action="flag", correlation=max(threshold, -0.99), after=after)


def _apart(correlations: FloatArray, n: FloatArray, others: OthersAgreement) -> FloatArray:
    """Return what is far below the others' agreement, for each of a few raters."""
    usual = np.where(np.isfinite(others.correlation), others.correlation, -1.0)  # unknown: the rater is not marked
    n_usual = np.where(np.isfinite(others.n), others.n, LEAST_ANSWERS)
    noise = 1 / (n - 3) + 1 / (n_usual - 3) / max(len(correlations) - 2, 1)
    apart: FloatArray = np.tanh(_z(usual) - FEW_DEVIATIONS * np.sqrt(HONEST_Z**2 + noise))
    return apart


def _of_others(measures: Measures, others: OthersAgreement | None, after: int) -> OthersAgreement:
    """Return the agreement of the others for the raters whose own is known."""
    correlations, n = measures.known(after)
    if others is None:
        rest = [np.delete(np.arange(len(n)), rater) for rater in range(len(n))]
        return OthersAgreement(
            np.array([np.median(correlations[each]) for each in rest]), np.array([np.median(n[each]) for each in rest])
        )
    known = np.isfinite(np.asarray(measures.estimate, dtype=np.float64)) & (np.asarray(measures.n) >= after)
    return OthersAgreement(others.correlation[known], others.n[known])


def _z(correlations: FloatArray) -> FloatArray:
    """Return Fisher's z."""
    with np.errstate(divide="ignore"):
        z: FloatArray = np.clip(np.arctanh(correlations), -LARGEST_Z, LARGEST_Z)
    return z


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
    return float(scipy.optimize.brentq(lambda share: _entropy(share, points) - bits, 1 / points, 1 - 1e-12))


def _entropy(share: float, points: int) -> float:
    """Return the entropy of answers of which one has this share and the others share the rest."""
    rest = 1 - share
    return -share * math.log2(share) - rest * math.log2(rest / (points - 1))


def _rounded(threshold: float) -> float:
    """Return two decimals, as people write a rule."""
    return round(threshold, 2)


def _down(threshold: float) -> float:
    """Return two decimals that are not above the threshold."""
    return math.floor(threshold * 100) / 100 if math.isfinite(threshold) else threshold
