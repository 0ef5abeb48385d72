"""A summary of each rater: values, times, and agreement with the other raters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.weighting.groups import aligned, centred, codes_of, crossed, jackknife_error, mean_and_spread, reasons
from annotation.weighting.intervals import (
    Intervals,
    correlation_interval,
    mean_interval,
    median_interval,
    student_quantile,
)
from annotation.weighting.table import FloatArray, IntArray, RatingTable, ratio

MIN_ENTROPY = 30  # answers for an interval of the entropy


@dataclass(frozen=True, eq=False)
class RaterSummary:
    """Statistics of K raters, every array of shape (K,); NaN where undefined.

    Attributes
    ----------
    n : ratings given.
    mean, spread : mean and standard deviation (n - 1 in the denominator) of the ratings.
    agreement : Pearson correlation of the ratings with the mean rating the other raters gave the same responses.
    n_compared : ratings behind ``agreement``: those of responses that another rater rated too.
    entropy : of the distribution of answers, in bits; 0 for a rater who always gives the same.
    median_seconds : median time per rating, of the ratings whose time is known; with ``screen`` per answer.
    agreement_reason : why ``agreement`` is NaN; empty where it is not.
    mean_low, mean_high : interval of the mean (Student); NaN below two ratings and where all are equal.
    agreement_low, agreement_high : interval of ``agreement`` (Fisher); NaN below four ratings, and at -1 and 1.
    entropy_low, entropy_high : interval of ``entropy`` (jackknife), cut at 0 and, with ``points``, at the most bits
        that the scales allow; NaN below thirty ratings, and where all answers are equal or equally frequent, for which
        the method has no spread.
    n_timed : ratings whose time is known; with ``screen`` answers.
    seconds_low, seconds_high : interval of ``median_seconds`` (order statistics); NaN below six times.
    """

    n: IntArray
    mean: FloatArray
    spread: FloatArray
    agreement: FloatArray
    n_compared: IntArray
    entropy: FloatArray
    median_seconds: FloatArray
    agreement_reason: npt.NDArray[np.str_]
    mean_low: FloatArray
    mean_high: FloatArray
    agreement_low: FloatArray
    agreement_high: FloatArray
    entropy_low: FloatArray
    entropy_high: FloatArray
    n_timed: IntArray
    seconds_low: FloatArray
    seconds_high: FloatArray


def summarise_raters(
    table: RatingTable,
    *,
    seconds: npt.ArrayLike | None = None,
    criterion: npt.ArrayLike | None = None,
    screen: npt.ArrayLike | None = None,
    points: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> RaterSummary:
    """Summarise each rater's ratings.

    Parameters
    ----------
    table : RatingTable
    seconds : float array, shape (n,), optional
        Time per rating in seconds; NaN where unknown.
    criterion : array of int or str, shape (n,), optional
        The criterion of each rating, if a table holds several. ``agreement`` is then the correlation within
        criteria (each scaled by the standard deviation of its ratings, so that no scale outweighs another) and
        ``entropy`` the mean of the criteria's, by ratings; mean and spread are those of all ratings together.
    screen : array of int or str, shape (n,), optional
        What each rating was sent with: several texts or criteria on one screen share a time, which counts once.
    points : float array, shape (n,), optional
        How many values the scale of each rating has; NaN where any number is one.
    confidence : float
        In (0, 1).

    Returns
    -------
    RaterSummary
        ``agreement`` is NaN, with a reason, below three compared ratings or when either side is constant.

    Raises
    ------
    ValueError
        An array of another length than the table, or ``confidence`` outside (0, 1).

    References
    ----------
    Intervals: see :mod:`annotation.weighting.intervals`. Error of the entropy: Zahl, Jackknifing an index of diversity,
    Ecology 1977.

    Examples
    --------
    >>> table = RatingTable([0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], [1, 3, 5, 1, 2, 3])
    >>> summary = summarise_raters(table)
    >>> summary.agreement.round(3).tolist(), summary.entropy.round(3).tolist()
    ([1.0, 1.0], [1.585, 1.585])
    """
    k = table.n_raters
    about, n_criteria = _criteria(table, criterion)
    n = np.bincount(table.rater, minlength=k)
    mean, spread = mean_and_spread(table.value, table.rater, n)
    agreement, n_compared, held_fixed, reason = _agreement(table, about, n_criteria)
    mean_ends = mean_interval(mean, np.where(spread > _rounding(table), spread, np.nan), n, confidence=confidence)
    agreement_ends = correlation_interval(agreement, n_compared - held_fixed, confidence=confidence)
    entropy, entropy_ends = _entropy(table, about, n_criteria, n, confidence)
    most_bits = _most_bits(table, about, points, n)
    median_seconds, n_timed, seconds_ends = _median_seconds(table, _once(table, seconds, screen), confidence)
    return RaterSummary(
        n=n,
        mean=mean,
        spread=spread,
        agreement=agreement,
        n_compared=n_compared,
        entropy=entropy,
        median_seconds=median_seconds,
        agreement_reason=reason,
        mean_low=mean_ends.low,
        mean_high=mean_ends.high,
        agreement_low=agreement_ends.low,
        agreement_high=agreement_ends.high,
        entropy_low=entropy_ends.low,
        entropy_high=np.minimum(entropy_ends.high, most_bits),
        n_timed=n_timed,
        seconds_low=seconds_ends.low,
        seconds_high=seconds_ends.high,
    )


def _criteria(table: RatingTable, criterion: npt.ArrayLike | None) -> tuple[IntArray, int]:
    if criterion is None:
        return np.zeros(len(table), dtype=np.int64), 1
    code = codes_of(aligned("criterion", np.asarray(criterion), table.value.shape, per="rating"))
    return code, int(code.max(initial=0)) + 1


def _rounding(table: RatingTable) -> float:
    return 1e-10 * float(np.abs(table.value).max(initial=1.0))


def _agreement(
    table: RatingTable, about: IntArray, n_criteria: int
) -> tuple[FloatArray, IntArray, IntArray, npt.NDArray[np.str_]]:
    """Return the correlation, ratings behind it, criterion means estimated beyond one, and why it is NaN."""
    k = table.n_raters
    value = _unit_spread(table.value, about) if n_criteria > 1 else table.value
    cell = codes_of(crossed(table.response, about))
    pair = codes_of(crossed(cell, table.rater))
    # Ratings by others: all ratings of the response, less those of this rater.
    n_others = np.bincount(cell)[cell] - np.bincount(pair)[pair]
    sum_others = np.bincount(cell, value)[cell] - np.bincount(pair, value)[pair]
    shared = n_others > 0
    rater, ratings = table.rater[shared], value[shared]
    others = sum_others[shared] / n_others[shared]
    n = np.bincount(rater, minlength=k)
    group = rater * n_criteria + about[shared]
    n_group = np.bincount(group, minlength=k * n_criteria)
    ratings, others = centred(ratings, group, n_group), centred(others, group, n_group)
    rating_squares = np.bincount(rater, ratings**2, minlength=k)
    other_squares = np.bincount(rater, others**2, minlength=k)
    # A constant column centred in floating point leaves about 1e-30; ratings differ by far more.
    constant_ratings, constant_others = rating_squares < 1e-20, other_squares < 1e-20
    held_fixed = np.maximum((n_group.reshape(k, n_criteria) > 0).sum(axis=1) - 1, 0)
    few = n - held_fixed < 3
    defined = ~few & ~constant_ratings & ~constant_others
    product = np.where(defined, rating_squares * other_squares, 0.0)
    correlation = ratio(np.bincount(rater, ratings * others, minlength=k), np.sqrt(product))
    reason = reasons(
        [
            (few, "fewer than three responses rated by others too"),
            (constant_ratings, "all ratings equal"),
            (constant_others, "the others' means are all equal"),
        ],
        k,
    )
    return np.clip(correlation, -1.0, 1.0), n, held_fixed, reason


def _unit_spread(value: FloatArray, about: IntArray) -> FloatArray:
    n = np.bincount(about)
    spread = np.sqrt(np.bincount(about, centred(value, about, n) ** 2) / np.maximum(n, 1))
    scaled: FloatArray = value / np.where(spread > 1e-10, spread, 1.0)[about]
    return scaled


def _entropy(
    table: RatingTable, about: IntArray, n_criteria: int, n: IntArray, confidence: float
) -> tuple[FloatArray, Intervals]:
    k = table.n_raters
    values, code = np.unique(table.value, return_inverse=True)
    width = max(len(values), 1)
    # Only answers that were given: sliders and magnitudes have too many values for a dense table.
    cells, times = np.unique((table.rater * n_criteria + about) * width + code, return_counts=True)
    group = cells // width
    rater = group // n_criteria
    size = np.bincount(group, times, minlength=k * n_criteria)
    total = np.bincount(rater, times * np.log2(size[group] / times), minlength=k)
    entropy = np.abs(ratio(total, n))  # abs: no -0.0
    # The entropy without one answer, the same for all answers of a cell.
    lost = _n_log_n(size[group]) - _n_log_n(size[group] - 1) - _n_log_n(times) + _n_log_n(times - 1)
    without = ratio(total[rater] - lost, n[rater] - 1)
    error = jackknife_error(without, rater, n, times)
    usable = (n >= MIN_ENTROPY) & (error > 1e-9)
    half = student_quantile(n - 1, confidence) * np.where(usable, error, np.nan)
    # Few answers show too few of the values that a rater uses. The jackknife's estimate has little of that bias, but is
    # less steady: the interval reaches from the lower of the two to the higher, with the error on each side.
    middle = n * entropy - (n - 1) * ratio(np.bincount(rater, times * without, minlength=k), n)
    low, high = np.minimum(entropy, middle) - half, np.maximum(entropy, middle) + half
    return entropy, Intervals(np.maximum(low, 0.0), high)


def _most_bits(table: RatingTable, about: IntArray, points: npt.ArrayLike | None, n: IntArray) -> FloatArray:
    """Return the entropy that each rater would have who uses all points of each scale equally; infinite if unknown."""
    if points is None:
        return np.full(table.n_raters, np.inf)
    available = np.asarray(points, dtype=np.float64)
    aligned("points", available, table.value.shape, per="rating")
    # A mean over turns lies between points: no scale has fewer values than were given.
    given = np.unique(np.stack([about.astype(np.float64), table.value]), axis=1)[0].astype(np.int64)
    most = np.maximum(np.nan_to_num(available, nan=np.inf), np.bincount(given)[about])
    return ratio(np.bincount(table.rater, np.log2(most), minlength=table.n_raters), n)


def _n_log_n(n: npt.NDArray[Any]) -> FloatArray:
    logarithm: FloatArray = n * np.log2(np.maximum(n, 1))
    return logarithm


def _once(table: RatingTable, seconds: npt.ArrayLike | None, screen: npt.ArrayLike | None) -> npt.ArrayLike | None:
    """Return times with one for each screen of a rater, the others NaN."""
    if seconds is None or screen is None:
        return seconds
    taken = np.array(seconds, dtype=np.float64)
    aligned("seconds", taken, table.value.shape, per="rating")
    at_once = codes_of(aligned("screen", np.asarray(screen), table.value.shape, per="rating"))
    known = np.flatnonzero(~np.isnan(taken))
    first = known[np.unique(crossed(table.rater[known], at_once[known]), return_index=True)[1]]
    once = np.full(taken.shape, np.nan)
    once[first] = taken[first]
    return once


def _median_seconds(
    table: RatingTable, seconds: npt.ArrayLike | None, confidence: float
) -> tuple[FloatArray, IntArray, Intervals]:
    k = table.n_raters
    result = np.full(k, np.nan)
    if seconds is None:
        return result, np.zeros(k, dtype=np.int64), Intervals(result.copy(), result.copy())
    taken = np.asarray(seconds, dtype=np.float64)
    aligned("seconds", taken, table.value.shape, per="rating")
    known = ~np.isnan(taken)
    return _medians(table.rater[known], taken[known], k, confidence)


def _medians(
    rater: IntArray, taken: FloatArray, n_raters: int, confidence: float
) -> tuple[FloatArray, IntArray, Intervals]:
    ordered = taken[np.lexsort((taken, rater))]
    n = np.bincount(rater, minlength=n_raters)
    first = np.cumsum(n) - n
    some = n > 0
    lower, upper = first + (n - 1) // 2, first + n // 2
    result = np.full(n_raters, np.nan)
    result[some] = (ordered[lower[some]] + ordered[upper[some]]) / 2
    return result, n, median_interval(ordered, first, n, confidence=confidence)
