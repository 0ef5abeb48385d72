"""Mean ratings of systems, and their differences, with intervals over raters and items together."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.ranking.clustered import UNKNOWN, Clusters, TwoWayVariance, two_way_variance
from annotation.ranking.family import family
from annotation.ranking.signed_ranks import signed_rank_p

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

PERMUTATIONS = 9_999
PERMUTATIONS_PER_PAIR = 40  # at least: a pair's smallest p by Holm is then half of 0.05
MOST_PERMUTATIONS = 100_000  # enough for 5,000 pairs, those of 100 systems
AT_ONCE = 1000  # permutations in memory
ROUNDED = 1e-9  # a spread this small beside the differences is rounding


@dataclass(frozen=True, eq=False)
class Differences:
    """All pairs of T systems, each on the items that both have; NaN where undefined and on the diagonal.

    Attributes
    ----------
    mean, low, high : (T, T) float
        Mean over items of the row's mean rating less the column's, with its 95% interval over new samples of raters and
        items, cut at the largest difference that the scale allows.
    p_values : (T, T) float
        Two-sided, over new samples of raters and items: 1 less the confidence whose interval just reaches 0. Where
        every item has the same difference, that of the permutation test.
    adjusted, family_low, family_high : (T, T) float
        ``p_values`` by Holm's correction over all pairs, and intervals that hold together and agree with it, cut as
        above: see ``annotation.ranking.family``.
    permutation_p_values, wilcoxon_p_values : (T, T) float
        Paired permutation test and Wilcoxon's signed-rank test (equal items are left out), two-sided, over items alone:
        for these raters.
    of_raters, n_raters : (T, T) float
        The variance of the difference over raters, and how many they are in effect; 0 and infinitely many if unknown.
    items : (T, T) int
        How many both have.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    p_values: FloatArray
    adjusted: FloatArray
    family_low: FloatArray
    family_high: FloatArray
    permutation_p_values: FloatArray
    wilcoxon_p_values: FloatArray
    of_raters: FloatArray
    n_raters: FloatArray
    items: IntArray

    @property
    def better(self) -> BoolArray:
        """Return (T, T) whether the row's system is better than the column's, however little."""
        ahead: BoolArray = self.mean > 0
        return ahead


@dataclass(frozen=True, eq=False)
class SystemMeans:
    """Attributes
    ----------
    mean, low, high : (T,) float
        In units of the scale; NaN without a rated item, the interval also with one item or one rater, and where all
        ratings are equal.
    ratings, raters, items : (T,) int
        How many of each.
    of_items : (T, S) float
        Mean rating of each system's output of each item; NaN if it has none.
    differences : Differences
        Of all pairs.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    ratings: IntArray
    raters: IntArray
    items: IntArray
    of_items: FloatArray
    differences: Differences


def system_means(
    system: npt.ArrayLike,
    item: npt.ArrayLike,
    rater: npt.ArrayLike | None,
    rating: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_systems: int | None = None,
    ends: tuple[float, float] = (np.nan, np.nan),
    permutations: int | None = None,
) -> SystemMeans:
    """Return each system's mean over items of the mean rating of its output, and all differences, with intervals.

    Parameters
    ----------
    system, item, rater : (n,) int
        Codes from 0 of the system, the item and the rater of each rating. A rating of a text that several systems gave
        is there once for each. Without raters (None) intervals are over items alone.
    rating : (n,) float
    rng : numpy.random.Generator
        For the permutation tests.
    n_systems : int, optional
        T; by default one more than the largest code.
    ends : (float, float)
        Of the scale. A mean's interval is then that of its log odds between them: it stays on the scale, and is longer
        on the side away from the nearer end, as the means of few skewed ratings are. Intervals of differences are cut
        at the length of the scale. NaN for a scale without ends.
    permutations : int, optional
        By default `PERMUTATIONS`, or `PERMUTATIONS_PER_PAIR` for each pair if those are more.

    Raises
    ------
    ValueError
        Columns of different length, codes below 0 or systems not below T, ratings that are not finite or off the scale.

    References
    ----------
    The intervals: see ``annotation.ranking.clustered``. The test: Noreen, Computer-Intensive Methods for Testing
    Hypotheses, 1989, section 2.1; Phipson and Smyth, Permutation P-values Should Never Be Zero, 2010.

    Examples
    --------
    >>> means = system_means([0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1], [4, 5, 2, 3], rng=np.random.default_rng(1))
    >>> means.mean, float(means.differences.mean[0, 1])
    (array([3.25, 3.  ]), 1.5)
    """
    systems, values = np.asarray(system, dtype=np.int64), np.asarray(rating, dtype=np.float64)
    n = max(n_systems or 0, int(systems.max(initial=-1)) + 1) if n_systems is None else n_systems
    items = np.asarray(item, dtype=np.int64)
    raters = None if rater is None else np.asarray(rater, dtype=np.int64)
    _check(systems, items, raters, values, n, ends)
    n_items = int(items.max(initial=-1)) + 1
    cell = systems * n_items + items
    k = np.bincount(cell, minlength=n * n_items)
    of_items = _ratio(np.bincount(cell, values, minlength=n * n_items).astype(np.float64), k).reshape(n, n_items)
    clusters = Clusters.of(items, raters)
    each = 1 / k[cell]  # share of a rating in the mean of its item
    by_system = [np.flatnonzero(systems == index) for index in range(n)]
    mean, low, high = np.full((3, n), np.nan)
    for index, own in enumerate(by_system):
        if own.size:
            mean[index], variance = _mean(values[own], each[own], clusters.select(own))
            low[index], high[index] = mean_interval(mean[index], variance, ends)
    return SystemMeans(
        mean,
        low,
        high,
        np.bincount(systems, minlength=n),
        np.array([0 if raters is None else np.unique(raters[own]).size for own in by_system], dtype=np.int64),
        np.isfinite(of_items).sum(axis=1),
        of_items,
        _cut(_differences(values, each, items, clusters, by_system, of_items, rng, permutations), ends),
    )


def mean_interval(
    mean: float, variance: TwoWayVariance, ends: tuple[float, float] = (np.nan, np.nan)
) -> tuple[float, float]:
    """Return the 95% interval of a mean; by its log odds between the ends of its scale, if it has ends."""
    half = variance.half_width()
    low, high = ends
    if not np.isfinite([low, high]).all():
        return mean - half, mean + half
    if not low < mean < high or np.isnan(half):
        return np.nan, np.nan
    share = (mean - low) / (high - low)
    reach = half / (high - low) / (share * (1 - share))  # delta method
    odds = np.log(share / (1 - share)) + np.array([-reach, reach])
    shares = 0.5 * (1 + np.tanh(odds / 2))  # the logistic function, without overflow
    return float(low + (high - low) * shares[0]), float(low + (high - low) * shares[1])


def _mean(values: FloatArray, each: FloatArray, clusters: Clusters) -> tuple[float, TwoWayVariance]:
    weight = each / each.sum()  # the shares within an item sum to 1
    mean = float(weight @ values)
    return mean, two_way_variance(weight * (values - mean), clusters, weight)


def _differences(
    values: FloatArray,
    each: FloatArray,
    items: IntArray,
    clusters: Clusters,
    by_system: list[IntArray],
    of_items: FloatArray,
    rng: np.random.Generator,
    permutations: int | None,
) -> Differences:
    n = len(by_system)
    pairs = list(combinations(range(n), 2))
    shared = np.isfinite(of_items).astype(np.int64)
    permuted = paired_permutation_p(of_items, pairs, rng=rng, permutations=permutations)
    difference, half, tested, ranked = np.full((4, len(pairs)), np.nan)
    variances = [UNKNOWN] * len(pairs)
    for index, (i, j) in enumerate(pairs):
        both = np.isfinite(of_items[i]) & np.isfinite(of_items[j])
        if not both.any():
            continue
        own = np.concatenate([by_system[i], by_system[j]])
        sign = np.repeat([1.0, -1.0], [by_system[i].size, by_system[j].size])
        kept = both[items[own]]
        own, sign = own[kept], sign[kept]
        weight = each[own] / both.sum()
        centre = np.where(sign > 0, of_items[i][both].mean(), of_items[j][both].mean())
        influence = sign * weight * (values[own] - centre)
        variance = two_way_variance(influence, clusters.select(own), weight, whole_raters=True)
        apart = of_items[i][both] - of_items[j][both]
        difference[index], ranked[index] = apart.mean(), signed_rank_p(apart)
        if variance.items + variance.raters <= (ROUNDED * float(np.abs(apart).max())) ** 2:
            tested[index] = permuted[index]  # all items have the same difference, so that there is no interval
            continue
        variances[index], half[index] = variance, variance.half_width()
        tested[index] = variance.p_value(float(difference[index]))
    together = family(difference, variances, tested)
    return Differences(
        _square(n, pairs, difference, -difference),
        _square(n, pairs, difference - half, -difference - half),
        _square(n, pairs, difference + half, -difference + half),
        _square(n, pairs, tested),
        _square(n, pairs, together.adjusted),
        _square(n, pairs, together.family_low, -together.family_high),
        _square(n, pairs, together.family_high, -together.family_low),
        _square(n, pairs, np.where(np.isnan(difference), np.nan, permuted)),
        _square(n, pairs, ranked),
        _square(n, pairs, np.array([variance.raters for variance in variances])),
        _square(n, pairs, np.array([variance.n_raters for variance in variances])),
        shared @ shared.T,
    )


def _square(n: int, pairs: list[tuple[int, int]], above: FloatArray, below: FloatArray | None = None) -> FloatArray:
    """Return (n, n) values of pairs, and below the diagonal those of the pairs the other way round."""
    square = np.full((n, n), np.nan)
    if pairs:
        i, j = np.array(pairs, dtype=np.int64).T
        square[i, j], square[j, i] = above, above if below is None else below
    return square


def _cut(differences: Differences, ends: tuple[float, float]) -> Differences:
    """Cut the intervals at the largest difference that a scale with these ends allows, if it has ends."""
    width = ends[1] - ends[0]
    if not np.isfinite(width):
        return differences
    names = ("low", "high", "family_low", "family_high")
    return replace(differences, **{name: np.clip(getattr(differences, name), -width, width) for name in names})


def paired_permutation_p(
    scores: npt.ArrayLike,
    pairs: list[tuple[int, int]],
    *,
    rng: np.random.Generator,
    permutations: int | None = None,
) -> FloatArray:
    """Return the two-sided p of the paired permutation test over items, for each pair of systems.

    If two systems are equally good, each item's two mean ratings may be swapped. The order of the data counts as one
    permutation, so that p is never 0.

    Parameters
    ----------
    scores : (T, S) float
        Mean ratings of items; NaN if there is none. A pair is tested on the items that both have; NaN without any.
    pairs : list of K (int, int)

    Examples
    --------
    >>> better = np.arange(20) % 5
    >>> paired_permutation_p([better, better - 1.0], [(0, 1)], rng=np.random.default_rng(1))
    array([0.0001])
    """
    if not pairs:
        return np.zeros(0)
    values = np.asarray(scores, dtype=np.float64)
    left, right = np.array(pairs, dtype=np.int64).T
    differences = values[left] - values[right]  # (K, S)
    shared = np.isfinite(differences)
    differences[~shared] = 0.0
    totals = differences.sum(axis=1)
    reached = np.abs(totals) - 1e-9 * np.abs(differences).sum(axis=1)  # sums of equal terms differ by rounding
    n = permutations or min(max(PERMUTATIONS, PERMUTATIONS_PER_PAIR * len(pairs)), MOST_PERMUTATIONS)
    beyond = np.zeros(len(pairs), dtype=np.int64)
    for start in range(0, n, AT_ONCE):
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(min(AT_ONCE, n - start), values.shape[1]), dtype=np.int8)
        beyond += (np.abs(signs @ differences.T) >= reached).sum(axis=0)
    p_values: FloatArray = np.where(shared.any(axis=1), (beyond + 1) / (n + 1), np.nan)
    return p_values


def _ratio(total: npt.NDArray[np.float64], n: IntArray) -> FloatArray:
    ratio: FloatArray = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    return ratio


def _check(
    systems: IntArray,
    items: IntArray,
    raters: IntArray | None,
    values: FloatArray,
    n_systems: int,
    ends: tuple[float, float],
) -> None:
    shape = values.shape
    columns = {"system": systems, "item": items} | ({} if raters is None else {"rater": raters})
    for name, codes in columns.items():
        if codes.shape != shape or codes.ndim != 1:
            raise ValueError(f"{name} has shape {codes.shape}; accepted: that of the ratings, {shape}")
        if codes.min(initial=0) < 0:
            raise ValueError(f"{name} holds {codes.min()}; accepted: codes from 0")
    if systems.max(initial=-1) >= n_systems:
        raise ValueError(f"system holds {systems.max()}; accepted: 0 to {n_systems - 1}")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"rating[{bad[0]}] is {values[bad[0]]}; accepted: a finite number")
    low, high = ends
    outside = np.flatnonzero((values < low) | (values > high))
    if outside.size:
        raise ValueError(f"rating[{outside[0]}] is {values[outside[0]]:g}; accepted: {low:g} to {high:g}")
