"""Raters' answers to the checks mixed into their work: known answers, and repeats of earlier units."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from annotation.weighting.groups import (
    BoolArray,
    TextArray,
    aligned,
    checked_codes,
    codes_of,
    compact,
    crossed,
    jackknife_error,
    mean_and_spread,
    reasons,
)
from annotation.weighting.intervals import Intervals, mean_interval, student_quantile, wilson_interval
from annotation.weighting.table import FloatArray, IntArray, ratio

CheckKind = Literal["gold", "attention", "repeat", "degraded", "anchor"]
RangeKind = Literal["gold", "attention", "anchor"]

CHECK_KINDS: tuple[CheckKind, ...] = get_args(CheckKind)
RANGE_KINDS: tuple[RangeKind, ...] = get_args(RangeKind)
MIN_REPEATS = 5  # for an interval of kappa; below, the jackknife has too little data
_ROUNDING = 1e-9  # of a scale's unit: 0.1 + 0.2 is within 0.3


class CheckLog:
    """Answers to checks, an entry per current answer and criterion.

    Parameters
    ----------
    rater : array of str or int, shape (m,)
        Rater identifiers, of the same kind as in the ratings.
    kind : array of str, shape (m,)
        "gold" and "attention" (a known answer), "anchor" (a text known to be good), "repeat" (an earlier unit
        of the rater, shown again), "degraded" (a text made worse on purpose; undegraded ones on its screen are no
        checks).
    value : float array, shape (m,)
        The answer; NaN for "cannot judge".
    criterion : array of str or int, shape (m,), optional
        By default a single criterion.
    low, high : float arrays, shape (m,), optional
        Expected range, both ends included; NaN without.
    first : float array, shape (m,), optional
        Repeats: the first answer; NaN elsewhere.
    point : float or float array, shape (m,)
        The length of "one point" on the scale of the answer; > 0.

    Raises
    ------
    ValueError
        Columns that do not align, an unknown kind, infinite numbers, an empty range or a point that is not above 0; the
        message names the column and the entry.

    Examples
    --------
    >>> checks = CheckLog(["ann", "ann"], kind=["gold", "repeat"], value=[4, 2], low=[4, np.nan], high=[5, np.nan],
    ...                   first=[np.nan, 3])
    >>> len(checks), checks.of("repeat").first.tolist()
    (2, [3.0])
    """

    __slots__ = ("criterion", "first", "high", "kind", "low", "point", "rater", "value")

    def __init__(
        self,
        rater: npt.ArrayLike,
        *,
        kind: npt.ArrayLike,
        value: npt.ArrayLike,
        criterion: npt.ArrayLike | None = None,
        low: npt.ArrayLike | None = None,
        high: npt.ArrayLike | None = None,
        first: npt.ArrayLike | None = None,
        point: npt.ArrayLike = 1.0,
    ) -> None:
        self.rater = np.asarray(rater)
        shape = self.rater.shape
        if len(shape) != 1:
            raise ValueError(f"rater has {len(shape)} dimensions; accepted: one")
        self.kind = aligned("kind", np.asarray(kind, dtype=np.str_), shape)
        unknown = np.flatnonzero(~np.isin(self.kind, CHECK_KINDS))
        if unknown.size:
            raise ValueError(
                f"kind[{unknown[0]}] is {str(self.kind[unknown[0]])!r}; accepted: {', '.join(CHECK_KINDS)}"
            )
        self.value = _numbers("value", value, shape)
        self.criterion = (
            np.zeros(shape, np.int64) if criterion is None else aligned("criterion", np.asarray(criterion), shape)
        )
        self.low = _numbers("low", low, shape)
        self.high = _numbers("high", high, shape)
        self.first = _numbers("first", first, shape)
        empty = np.flatnonzero(self.low > self.high)
        if empty.size:
            entry = empty[0]
            raise ValueError(f"low[{entry}] is {self.low[entry]:g}; accepted: at most high, {self.high[entry]:g}")
        self.point: FloatArray = np.broadcast_to(np.asarray(point, dtype=np.float64), shape)
        small = np.flatnonzero(~(self.point > 0) | np.isinf(self.point))
        if small.size:
            raise ValueError(f"point[{small[0]}] is {self.point[small[0]]}; accepted: a number above 0")

    def __len__(self) -> int:
        return len(self.rater)

    def __repr__(self) -> str:
        return f"CheckLog({len(self)} answers)"

    def select(self, keep: BoolArray) -> "CheckLog":
        """Return the entries of a mask."""
        return self._with(self.rater, keep)

    def of(self, kind: CheckKind) -> "CheckLog":
        """Return the entries of one kind."""
        return self.select(self.kind == kind)

    def recoded(self, rater: npt.NDArray[np.generic]) -> "CheckLog":
        """Return the same answers with other names for their raters, such as codes 0..K-1."""
        return self._with(rater, slice(None))

    def _with(self, rater: npt.NDArray[np.generic], keep: BoolArray | slice) -> "CheckLog":
        columns = {name: getattr(self, name)[keep] for name in self.__slots__ if name != "rater"}
        return CheckLog(rater[keep], **columns)


@dataclass(frozen=True, eq=False)
class CheckAccuracy:
    """Share of K raters' answers to one kind of check that lie in the expected range; arrays of shape (K,).

    Attributes
    ----------
    n : answers that count.
    share : of them inside the range, ends included; in [0, 1], NaN where n is 0.
    low, high : interval of the share (Wilson).
    n_unjudged : "cannot judge". Only for attention checks these are among ``n``, as outside: they need no judgement.
    reason : why ``share`` is NaN; empty where it is not.
    """

    n: IntArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    n_unjudged: IntArray
    reason: TextArray


@dataclass(frozen=True, eq=False)
class SelfConsistency:
    """Agreement of K raters' second answers with their first; arrays of shape (K,).

    Attributes
    ----------
    n : repeats judged both times.
    exact, exact_low, exact_high : share given the same value again, with its interval (Wilson).
    within, within_low, within_high : share within one point of the first, likewise.
    difference, difference_low, difference_high : mean absolute difference, in points, with its interval (Student).
    kappa, kappa_low, kappa_high : quadratic weighted kappa of first and second answers, with its interval (jackknife,
        on Fisher's z scale, Student's t).
    kappa_error : standard error of kappa (jackknife).
    reason : why the shares are NaN; empty where they are not.
    kappa_reason : why kappa, or else its interval, is NaN; empty where neither is.
    """

    n: IntArray
    exact: FloatArray
    exact_low: FloatArray
    exact_high: FloatArray
    within: FloatArray
    within_low: FloatArray
    within_high: FloatArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray
    kappa: FloatArray
    kappa_low: FloatArray
    kappa_high: FloatArray
    kappa_error: FloatArray
    reason: TextArray
    kappa_reason: TextArray


def check_accuracy(checks: CheckLog, kind: RangeKind, n_raters: int, *, confidence: float = 0.95) -> CheckAccuracy:
    """Compute the share of each rater's answers to checks of a kind that lie in the expected range.

    Parameters
    ----------
    checks : CheckLog
        Raters as codes 0..n_raters - 1. Entries without an expected range do not count; a range may be open at one end.
    kind : {"gold", "attention", "anchor"}
    n_raters : int
    confidence : float
        In (0, 1).

    Returns
    -------
    CheckAccuracy
        Answers on several criteria of a screen count separately, and the interval takes them as independent.

    Raises
    ------
    ValueError
        Another kind, raters that are no such codes, or ``confidence`` outside (0, 1).

    References
    ----------
    Interval: Wilson, JASA 1927 (``intervals.wilson_interval``).

    Examples
    --------
    >>> checks = CheckLog([0, 0, 1], kind=["gold"] * 3, value=[4, 2, 5], low=[4, 4, 4], high=[5, 5, 5])
    >>> check_accuracy(checks, "gold", 2).share.tolist()
    [0.5, 1.0]
    """
    if kind not in RANGE_KINDS:
        raise ValueError(f"kind is {kind!r}; accepted: {', '.join(RANGE_KINDS)}")
    answers = checks.of(kind)
    rater = checked_codes(answers.rater, n_raters)
    ranged = ~np.isnan(answers.low) | ~np.isnan(answers.high)
    unjudged = ranged & np.isnan(answers.value)
    slack = _ROUNDING * answers.point
    inside = ~unjudged & ~(answers.value < answers.low - slack) & ~(answers.value > answers.high + slack)
    counts = ranged if kind == "attention" else ranged & ~unjudged
    n = np.bincount(rater[counts], minlength=n_raters)
    hits = np.bincount(rater[counts & inside], minlength=n_raters)
    interval = wilson_interval(hits, n, confidence=confidence)
    return CheckAccuracy(
        n=n,
        share=ratio(hits, n),
        low=interval.low,
        high=interval.high,
        n_unjudged=np.bincount(rater[unjudged], minlength=n_raters),
        reason=reasons([(n == 0, f"no answer to {_KIND_WORDS[kind]}")], n_raters),
    )


def self_consistency(checks: CheckLog, n_raters: int, *, confidence: float = 0.95) -> SelfConsistency:
    """Measure how each rater's second answers agree with the first.

    Parameters
    ----------
    checks : CheckLog
        Raters as codes 0..n_raters - 1; its repeats judged both times count. Differences are divided by ``point``.
    n_raters : int
    confidence : float
        In (0, 1).

    Returns
    -------
    SelfConsistency
        Kappa is 1 for full consistency, 0 for what a rater's own distribution of answers gives by chance; NaN where
        chance leaves no disagreement. With several criteria its observed and expected disagreements are summed over
        them. The interval needs five repeats and is missing where every repeat is exact; in simulations it holds the
        true kappa in 93 to 97 of 100 cases from five repeats on, where Fleiss, Cohen & Everitt's error holds 70 to 80.

    Raises
    ------
    ValueError
        Raters that are no such codes, or ``confidence`` outside (0, 1).

    References
    ----------
    [1] Cohen, Weighted kappa, Psychological Bulletin 1968.
    [2] Efron & Tibshirani, An Introduction to the Bootstrap, 1993, eq. 11.5: the jackknife's standard error.
    [3] Lin, A concordance correlation coefficient to evaluate reproducibility, Biometrics 1989: with quadratic weights
    kappa is this coefficient, whose distribution Fisher's z makes closer to normal.

    Examples
    --------
    >>> checks = CheckLog([0] * 4, kind=["repeat"] * 4, value=[1, 3, 4, 5], first=[1, 2, 4, 5])
    >>> result = self_consistency(checks, 1)
    >>> result.exact.tolist(), result.within.tolist(), result.kappa.round(3).tolist()
    ([0.75], [1.0], [0.947])
    """
    repeats = checks.of("repeat")
    repeats = repeats.select(~np.isnan(repeats.value) & ~np.isnan(repeats.first))
    rater = checked_codes(repeats.rater, n_raters)
    apart = np.abs(repeats.value - repeats.first) / repeats.point
    n = np.bincount(rater, minlength=n_raters)
    n_exact = np.bincount(rater[apart <= _ROUNDING], minlength=n_raters)
    n_within = np.bincount(rater[apart <= 1 + _ROUNDING], minlength=n_raters)
    exact = wilson_interval(n_exact, n, confidence=confidence)
    within = wilson_interval(n_within, n, confidence=confidence)
    difference, spread = mean_and_spread(apart, rater, n)
    spread[spread < _ROUNDING] = 0.0
    difference_interval = mean_interval(difference, spread, n, confidence=confidence)
    kappa, error = _quadratic_kappas(repeats, rater, n_raters)
    usable = (n >= MIN_REPEATS) & (error > 0)  # an error of 0 allows no interval
    kappa_ends = _kappa_ends(np.where(usable, kappa, np.nan), error, n, confidence)
    no_repeat = "no repeat judged both times"
    return SelfConsistency(
        n=n,
        exact=ratio(n_exact, n),
        exact_low=exact.low,
        exact_high=exact.high,
        within=ratio(n_within, n),
        within_low=within.low,
        within_high=within.high,
        difference=difference,
        difference_low=np.maximum(difference_interval.low, 0.0),
        difference_high=difference_interval.high,
        kappa=kappa,
        kappa_low=kappa_ends.low,
        kappa_high=kappa_ends.high,
        kappa_error=error,
        reason=reasons([(n == 0, no_repeat)], n_raters),
        kappa_reason=reasons(
            [
                (n == 0, no_repeat),
                (np.isnan(kappa), "all answers equal: chance agreement is perfect too"),
                (n < MIN_REPEATS, f"no interval below {MIN_REPEATS} repeats"),
                (np.isnan(error), "no interval: without one of the repeats all answers are equal"),
                (~usable, "no interval: the repeats do not vary in how far they agree"),
            ],
            n_raters,
        ),
    )


_KIND_WORDS = {"gold": "a gold check", "attention": "an attention check", "anchor": "an anchor"}


def _kappa_ends(kappa: FloatArray, error: FloatArray, n: IntArray, confidence: float) -> Intervals:
    """Return the interval of each kappa; NaN where kappa is."""
    # [3] On z = atanh(kappa) the error is that of kappa over 1 - kappa^2.
    z = np.arctanh(kappa)
    half = student_quantile(n - 1, confidence) * ratio(error, 1 - np.nan_to_num(kappa) ** 2)
    return Intervals(np.tanh(z - half), np.tanh(z + half))


def _quadratic_kappas(repeats: CheckLog, rater: IntArray, n_raters: int) -> tuple[FloatArray, FloatArray]:
    """Return kappa and its standard error per rater, from first and second answers."""
    stratum, owner = compact(crossed(rater, codes_of(repeats.criterion)), rater)
    size = np.bincount(stratum)
    first, second = repeats.first / repeats.point, repeats.value / repeats.point

    def summed(column: FloatArray) -> FloatArray:
        total: FloatArray = np.bincount(stratum, column, minlength=len(size)).astype(np.float64)
        return total

    # m times E (x - y')^2 over all pairs of answers of a stratum of m, from sums about the stratum's centre.
    centre = summed(first) / size
    left, right = first - centre[stratum], second - centre[stratum]
    squares, sum_left, sum_right = summed(left**2 + right**2), summed(left), summed(right)
    by_chance = squares - 2 * sum_left * sum_right / size
    observed = (first - second) ** 2
    total_observed = np.bincount(rater, observed, minlength=n_raters).astype(np.float64)
    total_chance = np.bincount(owner, by_chance, minlength=n_raters).astype(np.float64)
    # [1] 1 - observed over expected disagreement
    kappa = 1 - _over(total_observed, total_chance)
    # [2] The same without each answer in turn.
    others = np.maximum(size[stratum] - 1, 1)
    chance_without = squares[stratum] - left**2 - right**2
    chance_without -= 2 * (sum_left[stratum] - left) * (sum_right[stratum] - right) / others
    without = 1 - _over(total_observed[rater] - observed, total_chance[rater] - by_chance[stratum] + chance_without)
    error = jackknife_error(without, rater, np.bincount(rater, minlength=n_raters))
    return kappa, np.where(error < _ROUNDING, 0.0, error)


def _over(observed: FloatArray, by_chance: FloatArray) -> FloatArray:
    # Answers that are all equal leave rounding behind, in points squared.
    return ratio(observed, np.where(by_chance > _ROUNDING, by_chance, 0.0))


def _numbers(name: str, column: npt.ArrayLike | None, shape: tuple[int, ...]) -> FloatArray:
    if column is None:
        return np.full(shape, np.nan)
    array = np.asarray(column, dtype=np.float64)
    aligned(name, array, shape)
    infinite = np.flatnonzero(np.isinf(array))
    if infinite.size:
        raise ValueError(f"{name}[{infinite[0]}] is {array[infinite[0]]}; accepted: a finite number, or NaN for none")
    return array
