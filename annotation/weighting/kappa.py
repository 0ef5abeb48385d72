"""Weighted kappa of pairs of raters who share responses."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import sparse

from annotation.weighting.table import FloatArray, IntArray, Ratings, RatingTable, as_table, ratio

Weighting = Literal["quadratic", "linear"]

INTERVAL = 0.95
MIN_SHARED = 5
BLOCK = 32  # resamples at once: their counts stay in the processor's cache


@dataclass(frozen=True)
class PairwiseKappaResult:
    """Mean weighted kappa of rater pairs; at most 1, 0 where agreement is what chance gives, NaN with a reason.

    Attributes
    ----------
    kappa : mean over pairs, each weighted by the responses it shares.
    low, high : 95% interval, percentile bootstrap over responses.
    weighting : how disagreement grows with the distance of two ratings.
    n_pairs : pairs behind the mean.
    n_pairs_left_out : pairs that share responses, but too few, or whose chance agreement is perfect.
    n_responses : responses that one of the pairs behind the mean shares.
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


@dataclass(frozen=True, eq=False)
class _Shared:
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
    ratings: Ratings,
    *,
    weighting: Weighting = "quadratic",
    min_shared: int = MIN_SHARED,
    n_bootstrap: int = 1000,
    rng: np.random.Generator | None = None,
) -> PairwiseKappaResult:
    """Average Cohen's weighted kappa over pairs of raters, weighted by the number of responses they share.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings (one column per rater)
        When a rater rated a response more than once, the latest rating counts.
    weighting : {"quadratic", "linear"}
        Disagreement as the squared or the absolute difference of two ratings.
    min_shared : int
        Pairs that share fewer responses are left out, >= 2: kappa of very few is biased towards 0.
    n_bootstrap : int
        Resamples of the responses behind the interval; 0 for none.
    rng : numpy.random.Generator, optional
        By default one seeded with 0.

    Returns
    -------
    PairwiseKappaResult
        A pair of raters who both give the same single value has no kappa. In a resample the pairs stay the same and
        are weighted by the responses drawn.

    Raises
    ------
    ValueError
        Unknown weighting, ``min_shared`` below 2, or ``n_bootstrap`` below 0.

    References
    ----------
    [1] Cohen, Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit,
    Psychological Bulletin 1968: 1 - observed / expected disagreement. [2] Light, Measures of response agreement for
    qualitative data, Psychological Bulletin 1971: the mean over pairs, there unweighted.

    Examples
    --------
    >>> rows = [[1, 1], [2, 3], [5, 5], [4, 4], [3, 2]]
    >>> result = pairwise_weighted_kappa(rows, n_bootstrap=0)
    >>> round(result.kappa, 3), result.n_pairs, result.reason
    (0.9, 1, 'no interval requested')
    """
    if weighting not in get_args(Weighting):
        raise ValueError(f"weighting is {weighting!r}; accepted: {', '.join(get_args(Weighting))}")
    if min_shared < 2:
        raise ValueError(f"min_shared is {min_shared}; accepted: 2 or more")
    if n_bootstrap < 0:
        raise ValueError(f"n_bootstrap is {n_bootstrap}; accepted: 0 (no interval) or more")
    everything = as_table(ratings)
    table = everything.latest_per_rater()
    n_repeats = len(everything) - len(table)
    all_pairs = _shared(table)
    enough = np.bincount(all_pairs.pair, minlength=all_pairs.n_pairs) >= min_shared
    shared = all_pairs.select(enough)
    once = np.ones((table.n_responses, 1))
    defined = ~np.isnan(_pair_kappas(shared, once, weighting)[0][:, 0])
    shared = shared.select(defined)
    left_out = all_pairs.n_pairs - shared.n_pairs
    if shared.n_pairs == 0:
        return PairwiseKappaResult(weighting, left_out, n_repeats, _reason(all_pairs, enough, min_shared))
    kappa = float(_mean_kappas(shared, once, weighting)[0])
    rated = np.unique(shared.response)
    low, high, reason = _interval(shared, rated, table.n_responses, weighting, n_bootstrap, rng)
    numbers = (kappa, low, high, shared.n_pairs, len(rated))
    return PairwiseKappaResult(weighting, left_out, n_repeats, reason, *numbers)


def _reason(shared: _Shared, enough: np.ndarray, min_shared: int) -> str:
    if shared.n_pairs == 0:
        return "no two raters rated the same response"
    if not enough.any():
        return f"no two raters share {min_shared} responses"
    return "every pair of raters gave the same single value: chance agreement is perfect too"


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


def _interval(
    shared: _Shared,
    rated: IntArray,
    n_responses: int,
    weighting: Weighting,
    n_bootstrap: int,
    rng: np.random.Generator | None,
) -> tuple[float, float, str]:
    if n_bootstrap == 0:
        return np.nan, np.nan, "no interval requested"
    generator = rng or np.random.default_rng(0)
    means = []
    for done in range(0, n_bootstrap, BLOCK):
        times = np.zeros((n_responses, min(BLOCK, n_bootstrap - done)))
        for resample in range(times.shape[1]):
            picks = generator.integers(len(rated), size=len(rated))
            times[rated, resample] = np.bincount(picks, minlength=len(rated))
        means.append(_mean_kappas(shared, times, weighting))
    kappas = np.concatenate(means)
    kappas = kappas[~np.isnan(kappas)]
    if len(kappas) < n_bootstrap / 2:
        return np.nan, np.nan, "no interval: most resamples of the responses leave no pair with a kappa"
    low, high = np.quantile(kappas, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2])
    return float(low), float(high), ""


def _mean_kappas(shared: _Shared, times: FloatArray, weighting: Weighting) -> FloatArray:
    kappas, size = _pair_kappas(shared, times, weighting)
    known = ~np.isnan(kappas)
    total = np.where(known, size * np.nan_to_num(kappas), 0.0).sum(axis=0)
    return ratio(total, np.where(known, size, 0.0).sum(axis=0))


def _pair_kappas(shared: _Shared, times: FloatArray, weighting: Weighting) -> tuple[FloatArray, FloatArray]:
    """Return kappa and shared responses of each pair in each resample, which has response r ``times[r, b]`` times."""
    first, second = shared.first, shared.second
    start = np.searchsorted(shared.pair, np.arange(shared.n_pairs + 1))

    def summed(column: FloatArray) -> FloatArray:
        matrix = sparse.csr_array((column, shared.response, start), shape=(shared.n_pairs, len(times)))
        return np.asarray(matrix @ times)

    size = summed(np.ones(len(first)))
    values = np.unique(np.concatenate([first, second]))
    reach = float(np.ptp(values)) if len(values) else 0.0
    # [1] Both disagreements times size squared, so that ratings in whole points stay exact.
    if weighting == "quadratic":
        observed = summed((first - second) ** 2) * size
        # E (x - y')^2 over all pairs of ratings, from sums and sums of squares about the middle of the ratings
        middle = (values[0] + values[-1]) / 2 if len(values) else 0.0
        left, right = first - middle, second - middle
        expected = summed(left**2 + right**2) * size - 2 * summed(left) * summed(right)
    else:
        observed = summed(np.abs(first - second)) * size
        expected = np.zeros_like(size)
        # E |x - y'| is the integral of F (1 - G) + G (1 - F): a sum over the gaps between values.
        for value, gap in zip(values[:-1], np.diff(values), strict=True):
            below, other = summed((first <= value).astype(np.float64)), summed((second <= value).astype(np.float64))
            expected += gap * (below * (size - other) + other * (size - below))
    # Two raters of one value leave rounding behind; a chance disagreement is far above it.
    expected = np.where(expected > 1e-12 * size**2 * max(reach, reach**2), expected, 0.0)
    return 1 - ratio(observed, expected), size
