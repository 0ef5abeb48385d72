"""Whether the place on the screen moves ratings: pairs, forced choices and lists."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest, chi2, ttest_1samp, wilcoxon

from annotation.weighting.groups import aligned, centred, codes_of, crossed, mean_and_spread
from annotation.weighting.intervals import check_confidence, mean_interval
from annotation.weighting.table import FloatArray, IntArray

Method = Literal["auto", "permutation", "asymptotic"]

PERMUTED_ROWS = 3000  # up to here the p-value of lists is a permutation's; above, chi-square is as good
_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True)
class PairBias:
    """First less second place over presentations of pairs; NaN with a reason where undefined.

    Attributes
    ----------
    difference, low, high : mean difference in points, with its interval (Student), 95% unless asked otherwise.
    pvalue : two-sided paired t-test of no difference.
    rank_pvalue : Wilcoxon's signed-rank test of the same, two-sided, equal ratings left out.
    n : presentations with both ratings.
    n_first, n_second, n_equal : of them with the higher rating on the first place, on the second, on neither.
    reason : why something is NaN; empty where nothing is.
    """

    difference: float
    low: float
    high: float
    pvalue: float
    rank_pvalue: float
    n: int
    n_first: int
    n_second: int
    n_equal: int
    reason: str


@dataclass(frozen=True)
class PreferenceBias:
    """Share of forced choices that fell on the first place; NaN with a reason where there were none.

    Attributes
    ----------
    share, low, high : of the choices that chose, with its interval (Wilson), 95% unless asked otherwise.
    pvalue : exact two-sided binomial test of one half.
    n, n_ties : choices that chose, and that did not.
    reason : why the others are NaN; empty where they are not.
    """

    share: float
    low: float
    high: float
    pvalue: float
    n: int
    n_ties: int
    reason: str


@dataclass(frozen=True, eq=False)
class ListBias:
    """Ratings by place in lists; NaN with a reason where undefined.

    Attributes
    ----------
    places : int array, shape (P,)
        The places, ascending.
    n : int array, shape (P,)
        Ratings at each.
    deviation, low, high : float arrays, shape (P,)
        Mean of the rating less the mean of its list, in points, with its interval (Student, 95% unless told otherwise).
    statistic, df : quadratic form of the deviations' sums, chi-square with ``df`` where places do not matter.
    pvalue : that ratings within a list are exchangeable.
    method : "permutation" or "asymptotic": where the p-value comes from.
    n_lists : lists with two or more different ratings, which alone tell something.
    reason : why statistic and p-value are NaN; empty where they are not.
    """

    places: IntArray
    n: IntArray
    deviation: FloatArray
    low: FloatArray
    high: FloatArray
    statistic: float
    df: int
    pvalue: float
    method: Literal["permutation", "asymptotic"]
    n_lists: int
    reason: str


def pair_position_bias(first: npt.ArrayLike, second: npt.ArrayLike, *, confidence: float = 0.95) -> PairBias:
    """Test whether the text on the first place is rated differently because it is there.

    Which of two texts comes first is drawn, so that without a bias the mean difference is zero, whatever the texts.

    Parameters
    ----------
    first, second : float arrays, shape (n,)
        Ratings of the texts on the first and the second place, one entry per presentation; pairs with a NaN do not
        count.
    confidence : float
        In (0, 1).

    Returns
    -------
    PairBias
        Presentations are taken as independent.

    Raises
    ------
    ValueError
        Columns of different length, or ``confidence`` outside (0, 1).

    References
    ----------
    Student, Biometrika 1908; Wilcoxon, Biometrics Bulletin 1945, as in scipy.stats.ttest_1samp and wilcoxon.

    Examples
    --------
    >>> result = pair_position_bias([5, 4, 4, 3, 5], [3, 4, 3, 2, 4])
    >>> result.difference, round(result.pvalue, 3), result.n_first
    (1.0, 0.034, 4)
    """
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    aligned("second", right, left.shape, per="presentation")
    apart = left - right
    apart = apart[~np.isnan(apart)]
    n, nan = len(apart), float("nan")
    difference = float(apart.mean()) if n else nan
    counts = int((apart > 0).sum()), int((apart < 0).sum()), int((apart == 0).sum())
    spread = float(apart.std(ddof=1)) if n > 1 else nan
    ends = mean_interval(difference, spread, n, confidence=confidence)
    if n < 2:
        return PairBias(difference, nan, nan, nan, nan, n, *counts, "fewer than two pairs were rated")
    rank_pvalue = float(wilcoxon(apart[apart != 0]).pvalue) if counts[2] < n else nan
    if np.ptp(apart) == 0:
        return PairBias(difference, nan, nan, nan, rank_pvalue, n, *counts, "every pair differs by the same")
    pvalue = float(ttest_1samp(apart, 0.0).pvalue)
    return PairBias(difference, float(ends.low), float(ends.high), pvalue, rank_pvalue, n, *counts, "")


def preference_position_bias(
    first_chosen: int, second_chosen: int, *, ties: int = 0, confidence: float = 0.95
) -> PreferenceBias:
    """Test whether choices fall on the first place more or less often than on the second.

    Parameters
    ----------
    first_chosen, second_chosen, ties : int
        Choices of the text on the first place, of that on the second, and of neither.
    confidence : float
        In (0, 1).

    Returns
    -------
    PreferenceBias
        Ties tell nothing of a side and are left out, as in the sign test.

    Raises
    ------
    ValueError
        A negative count, or ``confidence`` outside (0, 1).

    References
    ----------
    Clopper & Pearson's exact test, as in scipy.stats.binomtest; interval: Wilson, JASA 1927.

    Examples
    --------
    >>> result = preference_position_bias(60, 40)
    >>> result.share, round(result.pvalue, 3)
    (0.6, 0.057)
    """
    for name, count in (("first_chosen", first_chosen), ("second_chosen", second_chosen), ("ties", ties)):
        if count < 0:
            raise ValueError(f"{name} is {count}; accepted: 0 or more")
    check_confidence(confidence)
    n, nan = first_chosen + second_chosen, float("nan")
    if n == 0:
        return PreferenceBias(nan, nan, nan, nan, 0, ties, "nobody chose a side")
    test = binomtest(first_chosen, n)
    low, high = test.proportion_ci(confidence_level=confidence, method="wilson")
    return PreferenceBias(first_chosen / n, float(low), float(high), float(test.pvalue), n, ties, "")


def list_position_bias(
    presentation: npt.ArrayLike,
    place: npt.ArrayLike,
    value: npt.ArrayLike,
    *,
    method: Method = "auto",
    n_permutations: int = 1999,
    rng: np.random.Generator | None = None,
    confidence: float = 0.95,
) -> ListBias:
    """Test whether the place in a list moves ratings; lists may differ in length.

    Parameters
    ----------
    presentation : array, shape (n,)
        Which list each rating belongs to.
    place : int array, shape (n,)
        Its place there.
    value : float array, shape (n,)
        Ratings on one criterion; NaN does not count.
    method : {"auto", "permutation", "asymptotic"}
        "auto" permutes up to 3,000 ratings.
    n_permutations : int
        Of the ratings within every list, >= 1.
    rng : numpy.random.Generator, optional
        By default one seeded with 0.
    confidence : float
        In (0, 1).

    Returns
    -------
    ListBias
        The p-value of permutations counts the observed order as one of them [2], so it is never 0.

    Raises
    ------
    ValueError
        Columns of different length, a place twice in one list, an unknown method, ``n_permutations`` below 1, or
        ``confidence`` outside (0, 1).

    References
    ----------
    [1] Skillings & Mack, On the use of a Friedman-type statistic in balanced and unbalanced block designs,
    Technometrics 1981, with ratings in place of ranks: given ranks of lists of one length it is Friedman's chi-square.
    [2] Phipson & Smyth, Permutation p-values should never be zero, Statistical Applications in Genetics 2010.

    Examples
    --------
    >>> result = list_position_bias([0, 0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1], [5, 4, 3, 4, 3, 1, 5, 4])
    >>> result.deviation.round(2).tolist(), result.n_lists
    ([0.94, -0.06, -1.33], 3)
    """
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}; accepted: {', '.join(get_args(Method))}")
    if n_permutations < 1:
        raise ValueError(f"n_permutations is {n_permutations}; accepted: 1 or more")
    values, where = np.asarray(value, dtype=np.float64), np.asarray(place)
    lists = np.asarray(presentation)
    for name, column in (("presentation", lists), ("place", where)):
        aligned(name, column, values.shape, per="rating")
    known = ~np.isnan(values)
    lists, values = codes_of(lists[known]), values[known]
    places, code = np.unique(where[known].astype(np.int64), return_inverse=True)
    _refuse_twice(lists, code, places)
    size = np.bincount(lists)
    deviation, shared = centred(values, lists, size), size[lists] > 1
    n = np.bincount(code[shared], minlength=len(places))
    mean, spread = mean_and_spread(deviation[shared], code[shared], n)
    ends = mean_interval(mean, spread, n, confidence=confidence)
    telling = (np.bincount(lists, deviation**2) > 1e-18)[lists] if len(lists) else known[:0]
    table = _Lists.of(codes_of(lists[telling]), code[telling], deviation[telling], len(places))
    statistic, df = table.statistic(), table.rank
    permute = method == "permutation" or (method == "auto" and len(values) <= PERMUTED_ROWS)
    reason = "" if df > 0 else "no list holds two different ratings"
    pvalue = float("nan")
    if df > 0:
        pvalue = (
            table.permuted_pvalue(statistic, n_permutations, rng or np.random.default_rng(0))
            if permute
            else float(chi2.sf(statistic, df))
        )
    return ListBias(
        places,
        n,
        mean,
        ends.low,
        ends.high,
        statistic,
        df,
        pvalue,
        "permutation" if permute else "asymptotic",
        len(table.deviation),
        reason,
    )


@dataclass(frozen=True, eq=False)
class _Lists:
    """Deviations list by list, padded to the longest with zeros at a place of their own, P."""

    deviation: FloatArray  # (lists, longest)
    code: IntArray  # (lists, longest)
    filled: npt.NDArray[np.bool_]
    inverse: FloatArray  # of the covariance of the places' sums, (P, P)
    rank: int

    @classmethod
    def of(cls, lists: IntArray, code: IntArray, deviation: FloatArray, n_places: int) -> "_Lists":
        size = np.bincount(lists)
        order = np.argsort(lists, kind="stable")
        column = np.arange(len(lists)) - (np.cumsum(size) - size)[lists[order]] if len(lists) else lists
        shape = (len(size), int(size.max(initial=0)))
        padded, where = np.zeros(shape), np.full(shape, n_places)
        padded[lists[order], column] = deviation[order]
        where[lists[order], column] = code[order]
        # [1] Under exchange within a list of L, Var = S / L and Cov = -S / (L (L - 1)), S its sum of squares.
        scale = np.bincount(lists, deviation**2) / np.maximum(size - 1, 1)
        covariance = np.zeros((n_places, n_places))
        at = np.zeros((len(size), n_places))
        at[lists, code] = 1.0
        covariance -= at.T @ (at * (scale / np.maximum(size, 1))[:, None])
        covariance[np.diag_indices(n_places)] += at.T @ scale
        rank = int(np.linalg.matrix_rank(covariance, hermitian=True)) if n_places else 0
        inverse: FloatArray = np.linalg.pinv(covariance, hermitian=True).astype(np.float64) if n_places else covariance
        return cls(padded, where, where < n_places, inverse, rank)

    def statistic(self) -> float:
        if self.rank == 0:
            return float("nan")
        return float(self._forms(self.deviation[None])[0])

    def permuted_pvalue(self, statistic: float, n_permutations: int, rng: np.random.Generator) -> float:
        step = max(1, _BLOCK_CELLS // self.deviation.size)
        reached = 0
        for done in range(0, n_permutations, step):
            keys = rng.random((min(step, n_permutations - done), *self.deviation.shape))
            keys[:, ~self.filled] = 2.0  # padding stays behind
            drawn = np.take_along_axis(np.broadcast_to(self.deviation, keys.shape), keys.argsort(axis=2), axis=2)
            reached += int((self._forms(drawn) >= statistic * (1 - 1e-9)).sum())
        # [2]
        return (reached + 1) / (n_permutations + 1)

    def _forms(self, deviations: FloatArray) -> FloatArray:
        n, n_places = len(deviations), len(self.inverse)
        cell = np.arange(n)[:, None, None] * (n_places + 1) + self.code
        sums = np.bincount(cell.ravel(), deviations.ravel(), minlength=n * (n_places + 1))
        sums = sums.reshape(n, n_places + 1)[:, :n_places]
        forms: FloatArray = np.einsum("bp,pq,bq->b", sums, self.inverse, sums, optimize=True)
        return forms


def _refuse_twice(lists: IntArray, code: IntArray, places: IntArray) -> None:
    cells, times = np.unique(crossed(lists, code), return_counts=True)
    if (times > 1).any():
        place = int(places[cells[times > 1][0] % len(places)])
        raise ValueError(f"place {place} appears twice in one presentation; accepted: each place once")
