"""Weighted kappa of pairs of raters who share responses."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from annotation.weighting.intervals import check_confidence, student_quantile
from annotation.weighting.table import FloatArray, IntArray, Ratings, RatingTable, as_table

Weighting = Literal["quadratic", "linear"]

MIN_SHARED = 2  # responses: chance agreement compares ratings of different ones
MIN_RESPONSES = 10  # for an interval
_ROUNDING = 1e-12  # relative: what ratings that are all equal leave behind


@dataclass(frozen=True)
class PairwiseKappaResult:
    """Weighted kappa of rater pairs; at most 1, 0 where agreement is what chance gives, NaN with a reason.

    Attributes
    ----------
    kappa : 1 less observed over chance disagreement, both summed over pairs.
    low, high : interval, jackknife over responses on Fisher's z; for the raters at hand.
    weighting : how disagreement grows with the distance of two ratings.
    n_pairs : pairs that share two responses or more.
    n_pairs_left_out : pairs that share one.
    n_responses : responses that one of the pairs shares.
    n_repeats : earlier ratings of a response by the same rater, left out.
    reason : why ``kappa``, or else its interval, is NaN; empty where neither is.
    """

    weighting: Weighting
    n_pairs_left_out: int
    n_repeats: int
    reason: str
    kappa: float = np.nan
    low: float = np.nan
    high: float = np.nan
    n_pairs: int = 0
    n_responses: int = 0


class _Shared(NamedTuple):
    """The responses that pairs of raters share, pair after pair: pair, response, both ratings."""

    pair: IntArray
    response: IntArray
    first: FloatArray
    second: FloatArray
    n_pairs: int

    def select(self, pairs: np.ndarray) -> "_Shared":
        keep = pairs[self.pair]
        renumbered = np.cumsum(pairs) - 1
        return _Shared(
            renumbered[self.pair[keep]], self.response[keep], self.first[keep], self.second[keep], int(pairs.sum())
        )


def pairwise_weighted_kappa(
    ratings: Ratings, *, weighting: Weighting = "quadratic", confidence: float = 0.95
) -> PairwiseKappaResult:
    """Compute Cohen's weighted kappa of all pairs of raters together, whatever responses each pair shares.

    Observed and chance disagreement are summed over pairs, and kappa is taken once of the sums: the mean of pairs' own
    kappas is drawn to 0 where pairs share few responses. For the same reason chance compares a rater's rating of one
    response with the other's of a different one, in n (n - 1) ways for n shared responses, not n^2.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings (one column per rater)
        When a rater rated a response more than once, the latest rating counts.
    weighting : {"quadratic", "linear"}
        Disagreement as the squared or the absolute difference of two ratings.
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    PairwiseKappaResult
        Each pair weighs as much as the responses that it shares. The interval holds the choice of responses, not of
        raters.

    Raises
    ------
    ValueError
        Unknown weighting, or ``confidence`` outside (0, 1).

    References
    ----------
    [1] Cohen, Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit,
    Psychological Bulletin 1968: 1 - observed / expected disagreement. [2] Efron and Tibshirani, An Introduction to the
    Bootstrap, 1993, eq. 11.5: the jackknife's standard error.

    Examples
    --------
    >>> rows = [[1, 1], [2, 3], [5, 5], [4, 4], [3, 2]]
    >>> result = pairwise_weighted_kappa(rows)
    >>> round(result.kappa, 3), result.n_pairs, result.n_responses
    (0.918, 1, 5)
    """
    if weighting not in get_args(Weighting):
        raise ValueError(f"weighting is {weighting!r}; accepted: {', '.join(get_args(Weighting))}")
    check_confidence(confidence)
    everything = as_table(ratings)
    table = everything.latest_per_rater()
    n_repeats = len(everything) - len(table)
    all_pairs = _shared(table)
    enough = np.bincount(all_pairs.pair, minlength=all_pairs.n_pairs) >= MIN_SHARED
    shared = all_pairs.select(enough)
    left_out = all_pairs.n_pairs - shared.n_pairs
    if shared.n_pairs == 0:
        few = f"no two raters share {MIN_SHARED} responses" if all_pairs.n_pairs else ""
        reason = few or "no two raters rated the same response"
        return PairwiseKappaResult(weighting, left_out, n_repeats, reason)
    rated, response = np.unique(shared.response, return_inverse=True)
    counts = shared.n_pairs, len(rated)
    parts = _disagreements(shared, response, len(rated), weighting)
    if parts.chance == 0:
        reason = "every pair of raters gave the same single value: chance agreement is perfect too"
        return PairwiseKappaResult(weighting, left_out, n_repeats, reason, np.nan, np.nan, np.nan, *counts)
    kappa = 1 - parts.observed / parts.chance  # [1]
    low, high, reason = _interval(kappa, parts, confidence)
    return PairwiseKappaResult(weighting, left_out, n_repeats, reason, kappa, low, high, *counts)


class _Disagreements(NamedTuple):
    """Observed and chance disagreement, summed over pairs: of all responses, and without each of them."""

    observed: float
    chance: float
    observed_without: FloatArray
    chance_without: FloatArray
    of_twos: FloatArray  # (2, pairs of two responses, 2): observed and chance disagreement that each of the two adds


def _interval(kappa: float, parts: _Disagreements, confidence: float) -> tuple[float, float, str]:
    if len(parts.chance_without) < MIN_RESPONSES:
        return np.nan, np.nan, f"no interval below {MIN_RESPONSES} shared responses"
    if (parts.chance_without == 0).any():
        return np.nan, np.nan, "no interval: without one of the responses all ratings are equal"
    without = 1 - parts.observed_without / parts.chance_without
    if not -1 < min(kappa, without.min()) <= max(kappa, without.max()) < 1 - _ROUNDING:
        return np.nan, np.nan, "no interval: raters agree fully, or less than Fisher's z can hold"
    z = np.arctanh(without)
    n = len(z)
    squares = (n - 1) / n * float(((z - z.mean()) ** 2).sum())  # [2]
    # The two responses of a pair of two share one chance disagreement, so what they add varies together.
    added = (parts.of_twos[0] - (1 - kappa) * parts.of_twos[1]) / (parts.chance * (1 - kappa**2))
    squares += 2 * float((added[:, 0] * added[:, 1]).sum())
    if squares < _ROUNDING:
        return np.nan, np.nan, "no interval: responses do not vary in how far raters agree"
    reach = float(student_quantile(n - 1, confidence)) * np.sqrt(squares)
    return float(np.tanh(np.arctanh(kappa) - reach)), float(np.tanh(np.arctanh(kappa) + reach)), ""


def _disagreements(shared: _Shared, response: IntArray, n_responses: int, weighting: Weighting) -> _Disagreements:
    pair, n_pairs = shared.pair, shared.n_pairs
    size = np.bincount(pair, minlength=n_pairs)
    apart = _distance(shared.first, shared.second, weighting)
    # Distances of each rating from all the other rater's ratings of the pair's responses, its own response included.
    across = _distances_across(shared, shared.first, shared.second, size, weighting)
    back = _distances_across(shared, shared.second, shared.first, size, weighting)
    observed = np.bincount(pair, apart, minlength=n_pairs)
    crossed = np.bincount(pair, across, minlength=n_pairs) - observed  # over different responses
    chance = crossed / (size - 1)  # n times the mean of n (n - 1) distances
    # A pair of two is left with one response, which has no chance disagreement of its own: the pair's mean stays.
    left = size[pair] - 1
    several = left >= MIN_SHARED
    fewer = (crossed[pair] - (across + back - 2 * apart)) / np.maximum(left - 1, 1)
    chance_less = chance[pair] - np.where(several, fewer, chance[pair] / 2)
    least = _ROUNDING * float(size.sum()) * float(np.ptp(np.concatenate([shared.first, shared.second])) ** 2 + 1)
    total_observed, total_chance = float(observed.sum()), float(chance.sum())
    chance_without = total_chance - np.bincount(response, chance_less, minlength=n_responses)
    observed_less = np.bincount(response, apart, minlength=n_responses).astype(np.float64, copy=False)
    return _Disagreements(
        total_observed,
        total_chance if total_chance > least else 0.0,
        np.subtract(total_observed, observed_less),
        np.where(chance_without > least, chance_without, 0.0),
        np.stack([apart[~several], chance_less[~several]]).reshape(2, -1, 2),
    )


def _distance(first: FloatArray, second: FloatArray, weighting: Weighting) -> FloatArray:
    apart: FloatArray = np.abs(first - second) ** (2.0 if weighting == "quadratic" else 1.0)
    return apart


def _distances_across(
    shared: _Shared, ours: FloatArray, theirs: FloatArray, size: IntArray, weighting: Weighting
) -> FloatArray:
    """Return the sum of distances of each of our ratings from all of theirs within the same pair."""
    pair = shared.pair
    if weighting == "quadratic":
        middle = (ours.min() + ours.max()) / 2  # sums about it lose nothing to cancellation
        x, y = ours - middle, theirs - middle
        total, squares = (np.bincount(pair, part, minlength=len(size)) for part in (y, y * y))
        distances: FloatArray = size[pair] * x * x - 2 * x * total[pair] + squares[pair]
        return distances
    values = np.unique(np.concatenate([ours, theirs]))
    distances = np.zeros(len(ours))
    for value in values:
        n_of_value = np.bincount(pair, theirs == value, minlength=len(size))
        distances += n_of_value[pair] * np.abs(ours - value)
    return distances


def _shared(table: RatingTable) -> _Shared:
    order = np.lexsort((table.rater, table.response))
    response, rater, value = table.response[order], table.rater[order], table.value[order]
    # Row i pairs with each later row of its response: step 1 further, step 2 further, and so on.
    firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for step in range(1, len(response)):
        rows = np.flatnonzero(response[step:] == response[:-step])
        if not rows.size:
            break
        firsts.append(rows)
        seconds.append(rows + step)
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    pairs, pair = np.unique(rater[first] * max(table.n_raters, 1) + rater[second], return_inverse=True)
    by_pair = np.argsort(pair, kind="stable")
    first, second = first[by_pair], second[by_pair]
    return _Shared(pair[by_pair], response[first], value[first], value[second], len(pairs))
