"""Position bias: whether the position on the screen moves ratings of pairs, forced choices and lists."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy
from scipy.special import chdtrc

from annotation.weighting.groups import aligned, centred, codes_of, crossed, mean_and_spread
from annotation.weighting.intervals import check_confidence, mean_interval
from annotation.weighting.table import FloatArray, IntArray

Method = Literal["auto", "permutation", "asymptotic"]

PERMUTED_ROWS = 3000  # up to here the p-value of lists is a permutation's; above, chi-square is as good
_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True)
class PairBias:
    """Ratings at the first position less those at the second, in pairs; NaN with a reason where undefined.

    Attributes
    ----------
    difference, low, high : mean difference in points, with its interval (Student).
    pvalue : two-sided paired t-test of no difference.
    rank_pvalue : Wilcoxon's signed-rank test of the same, two-sided, equal ratings left out.
    n : presentations with both ratings.
    n_first, n_second, n_equal : of them with the higher rating at the first position, at the second, at neither.
    reason : why something is NaN; empty where nothing is.
    """

    difference: float
    n: int
    n_first: int
    n_second: int
    n_equal: int
    reason: str = ""
    low: float = np.nan
    high: float = np.nan
    pvalue: float = np.nan
    rank_pvalue: float = np.nan


@dataclass(frozen=True)
class PreferenceBias:
    """Share of forced choices for the first position; NaN with a reason if there were none.

    Attributes
    ----------
    share, low, high : of the choices of a side, with its interval (Wilson).
    pvalue : exact two-sided binomial test of one half.
    n, n_ties : choices of a side, and of neither.
    reason : why the others are NaN; empty where they are not.
    """

    n: int
    n_ties: int
    reason: str = ""
    share: float = np.nan
    low: float = np.nan
    high: float = np.nan
    pvalue: float = np.nan


@dataclass(frozen=True, eq=False)
class ListBias:
    """Ratings by position in lists; NaN with a reason where undefined.

    Attributes
    ----------
    positions : int array, shape (P,)
        The positions, ascending.
    n : int array, shape (P,)
        Ratings at each.
    deviation, low, high : float arrays, shape (P,)
        Mean of the rating less the mean of its list, in points, with its interval (Student).
    statistic, df : quadratic form of the deviations' sums, chi-square with ``df`` if positions do not matter.
    pvalue : that ratings within a list are exchangeable.
    method : "permutation" or "asymptotic": the source of the p-value.
    n_lists : lists with two or more different ratings; the others are uninformative.
    reason : why statistic and p-value are NaN; empty where they are not.
    """

    positions: IntArray
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
    """Test whether the text at the first position is rated differently because of the position.

    Which of two texts comes first is random, so that without a bias the mean difference is zero, whatever the texts.

    Parameters
    ----------
    first, second : float arrays, shape (n,)
        Ratings of the texts at the first and the second position, an entry per presentation; pairs with a NaN do not
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
    n = len(apart)
    difference = float(apart.mean()) if n else np.nan
    counts = int((apart > 0).sum()), int((apart < 0).sum()), int((apart == 0).sum())
    spread = float(apart.std(ddof=1)) if n > 1 else np.nan
    ends = mean_interval(difference, spread, n, confidence=confidence)
    if n < 2:
        return PairBias(difference, n, *counts, "fewer than two pairs were rated")
    rank_pvalue = float(scipy.stats.wilcoxon(apart[apart != 0]).pvalue) if counts[2] < n else np.nan
    if np.ptp(apart) == 0:
        return PairBias(difference, n, *counts, "every pair differs by the same", rank_pvalue=rank_pvalue)
    pvalue = float(scipy.stats.ttest_1samp(apart, 0.0).pvalue)
    return PairBias(difference, n, *counts, "", float(ends.low), float(ends.high), pvalue, rank_pvalue)


def preference_position_bias(
    first_chosen: int, second_chosen: int, *, ties: int = 0, confidence: float = 0.95
) -> PreferenceBias:
    """Test whether the first position is chosen more or less often than the second.

    Parameters
    ----------
    first_chosen, second_chosen, ties : int
        Choices of the text at the first position, at the second, and of neither.
    confidence : float
        In (0, 1).

    Returns
    -------
    PreferenceBias
        Ties are left out, as in the sign test.

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
    n = first_chosen + second_chosen
    if n == 0:
        return PreferenceBias(0, ties, "no rater chose a side")
    test = scipy.stats.binomtest(first_chosen, n)
    low, high = test.proportion_ci(confidence_level=confidence, method="wilson")
    return PreferenceBias(n, ties, "", first_chosen / n, float(low), float(high), float(test.pvalue))


def list_position_bias(
    presentation: npt.ArrayLike,
    position: npt.ArrayLike,
    value: npt.ArrayLike,
    *,
    method: Method = "auto",
    n_permutations: int = 1999,
    rng: np.random.Generator | None = None,
    confidence: float = 0.95,
) -> ListBias:
    """Test whether the position in a list moves ratings; lists may differ in length.

    Parameters
    ----------
    presentation : array, shape (n,)
        The list of each rating.
    position : int array, shape (n,)
        Its position there.
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
        Columns of different length, a position twice in a list, an unknown method, ``n_permutations`` below 1, or
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
    values, shown_at = np.asarray(value, dtype=np.float64), np.asarray(position)
    lists = np.asarray(presentation)
    for name, column in (("presentation", lists), ("position", shown_at)):
        aligned(name, column, values.shape, per="rating")
    known = ~np.isnan(values)
    lists, values = codes_of(lists[known]), values[known]
    positions, code = np.unique(shown_at[known].astype(np.int64), return_inverse=True)
    _refuse_repeats(lists, code, positions)
    size = np.bincount(lists)
    deviation, shared = centred(values, lists, size), size[lists] > 1
    n = np.bincount(code[shared], minlength=len(positions))
    mean, spread = mean_and_spread(deviation[shared], code[shared], n)
    ends = mean_interval(mean, spread, n, confidence=confidence)
    varied = (np.bincount(lists, deviation**2) > 1e-18)[lists] if len(lists) else known[:0]
    table = _Lists.of(codes_of(lists[varied]), code[varied], deviation[varied], len(positions))
    statistic, df = table.statistic(), table.rank
    permute = method == "permutation" or (method == "auto" and len(values) <= PERMUTED_ROWS)
    pvalue = np.nan
    if df > 0 and permute:
        pvalue = table.permuted_pvalue(statistic, n_permutations, rng or np.random.default_rng(0))
    elif df > 0:
        pvalue = float(chdtrc(df, statistic))
    source: Literal["permutation", "asymptotic"] = "permutation" if permute else "asymptotic"
    reason = "" if df > 0 else "no list holds two different ratings"
    test = (statistic, df, pvalue, source, len(table.deviation), reason)
    return ListBias(positions, n, mean, ends.low, ends.high, *test)


@dataclass(frozen=True, eq=False)
class _Lists:
    """Deviations list by list, padded to the longest with zeros at the additional position P."""

    deviation: FloatArray  # (lists, longest)
    code: IntArray  # (lists, longest)
    filled: npt.NDArray[np.bool_]
    inverse: FloatArray  # of the covariance of the positions' sums, (P, P)
    rank: int

    @classmethod
    def of(cls, lists: IntArray, code: IntArray, deviation: FloatArray, n_positions: int) -> "_Lists":
        size = np.bincount(lists)
        order = np.argsort(lists, kind="stable")
        column = np.arange(len(lists)) - (np.cumsum(size) - size)[lists[order]] if len(lists) else lists
        shape = (len(size), int(size.max(initial=0)))
        padded, codes = np.zeros(shape), np.full(shape, n_positions)
        padded[lists[order], column] = deviation[order]
        codes[lists[order], column] = code[order]
        # [1] Under exchange within a list of L, Var = S / L and Cov = -S / (L (L - 1)), S its sum of squares.
        scale = np.bincount(lists, deviation**2) / np.maximum(size - 1, 1)
        covariance = np.zeros((n_positions, n_positions))
        at = np.zeros((len(size), n_positions))
        at[lists, code] = 1.0
        covariance -= at.T @ (at * (scale / np.maximum(size, 1))[:, None])
        covariance[np.diag_indices(n_positions)] += at.T @ scale
        rank = int(np.linalg.matrix_rank(covariance, hermitian=True)) if n_positions else 0
        inverse: FloatArray = (
            np.linalg.pinv(covariance, hermitian=True).astype(np.float64) if n_positions else covariance
        )
        return cls(padded, codes, codes < n_positions, inverse, rank)

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
        n, n_positions = len(deviations), len(self.inverse)
        cell = np.arange(n)[:, None, None] * (n_positions + 1) + self.code
        sums = np.bincount(cell.ravel(), deviations.ravel(), minlength=n * (n_positions + 1))
        sums = sums.reshape(n, n_positions + 1)[:, :n_positions]
        forms: FloatArray = np.einsum("bp,pq,bq->b", sums, self.inverse, sums, optimize=True)
        return forms


def _refuse_repeats(lists: IntArray, code: IntArray, positions: IntArray) -> None:
    cells, times = np.unique(crossed(lists, code), return_counts=True)
    if (times > 1).any():
        position = int(positions[cells[times > 1][0] % len(positions)])
        raise ValueError(f"position {position} appears twice in a presentation; accepted: each position once")
