"""Weights of responses from the scores of their ratings, and how far a new sample of raters could have moved them.

A scheme gives each rating a score and a precision. Resampling raters is then a matrix product for means, and a
cumulative sum for medians.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import ndtr

from annotation.weighting.groups import TextArray, reasons
from annotation.weighting.intervals import student_quantile
from annotation.weighting.result import WeightResult
from annotation.weighting.table import FloatArray, IntArray, RatingTable, ratio

Centre = Literal["mean", "median"]

INTERVAL = 0.95
BLOCK_CELLS = 4_000_000  # replicates x rows held at once: 32 MB of float64
NO_SPREAD = 1e-12  # in units of the weight: rounding of ratings that all agree
MANY = 100  # from here on the variance of a median is that of many ratings


@dataclass(frozen=True, eq=False)
class Contributions:
    """Rating i gives its response the score ``score[i] / unit``, with weight ``precision[i] > 0``.

    The separate divisor keeps integer ratings integer: sums are exact and each weight is rounded once.
    """

    table: RatingTable  # the ratings that count
    score: FloatArray
    precision: FloatArray
    unit: float
    unusable: str = ""  # why ratings were left out, for responses none of whose ratings counts


class Spread(NamedTuple):
    """Standard deviation of the scores of ratings of precision 1 about their response's weight, and its freedom.

    Pooled over responses, in units of the weight; NaN where no response has ratings of two raters.
    """

    value: float
    df: int


def weigh(
    everything: RatingTable, parts: Contributions, centre: Centre, *, signature: str, spread: Spread | None = None
) -> WeightResult:
    """Compute weights, errors and intervals of all responses of ``everything`` from the ratings that count.

    A weight of k ratings of precision 1 has the interval ``weight +- t(df) s / sqrt(k)``, cut to [-1, +1], with the
    spread s of all responses: three ratings say little about their own spread [1]. By default it is that of
    :func:`pooled_spread`. A second rating by the same rater adds no independent evidence. For medians of k ratings, see
    :func:`_median_errors`.

    References
    ----------
    [1] Cochran, Sampling Techniques, 3rd edition 1977, section 4.6, with the within-group mean square of the analysis
    of variance.
    """
    table = parts.table
    n = table.counts()
    pairs, _ = _clusters(table)
    n_raters = np.bincount(pairs // max(table.n_raters, 1), minlength=table.n_responses)
    weights = centres(parts, centre)
    pooled = pooled_spread(parts) if spread is None else spread
    varies = pooled.value > NO_SPREAD
    error = _mean_errors(parts, pooled) if centre == "mean" else _median_errors(parts, pooled, n_raters)
    error[(n_raters < 2) | (not varies)] = np.nan
    half = student_quantile(pooled.df, INTERVAL) * error
    return WeightResult(
        weights=weights,
        n=n,
        n_raters=n_raters,
        mean=everything.means(),
        standard_error=error,
        low=np.maximum(weights - half, -1.0),
        high=np.minimum(weights + half, 1.0),
        reasons=_reasons(everything, parts.unusable, n, n_raters, varies=varies),
        signature=f"{signature}|interval:{INTERVAL}-student-pooled|version:2",
    )


def centres(parts: Contributions, centre: Centre) -> FloatArray:
    """Return the weights alone, shape (R,); NaN where no rating counts."""
    centred = _means(parts) if centre == "mean" else _medians(parts)
    return np.clip(centred, -1.0, 1.0)


def pooled_spread(parts: Contributions) -> Spread:
    """Pool the squared distances of raters' scores from their response's mean: the mean square within responses."""
    table = parts.table
    pairs, pair_of = _clusters(table)
    size = np.bincount(pair_of, minlength=len(pairs))
    score = np.bincount(pair_of, parts.score, minlength=len(pairs)) / (parts.unit * np.maximum(size, 1))
    precision = np.bincount(pair_of, parts.precision, minlength=len(pairs)) / np.maximum(size, 1)
    response = pairs // max(table.n_raters, 1)
    mass = np.bincount(response, precision, minlength=table.n_responses)
    mean = ratio(np.bincount(response, precision * score, minlength=table.n_responses), mass)
    df = len(pairs) - int(np.count_nonzero(mass))
    if df < 1:
        return Spread(np.nan, 0)
    return Spread(float(np.sqrt((precision * (score - mean[response]) ** 2).sum() / df)), df)


def replicate_weights(parts: Contributions, centre: Centre, drawn: FloatArray) -> FloatArray:
    """Compute weights under resampled raters, shape (R, B); ``drawn[k, b]`` is how often rater k is in replicate b.

    NaN if no rater of a response was drawn.
    """
    blocks = [block for _, block in _replicate_blocks(parts, centre, drawn)]
    return np.concatenate(blocks) if blocks else np.zeros((0, drawn.shape[1]))


def draw_raters(n_raters: int, n_replicates: int, rng: np.random.Generator) -> FloatArray:
    """Draw B resamples of size K; return how often each of K raters is in each, shape (K, B)."""
    picks = rng.integers(max(n_raters, 1), size=(n_replicates, n_raters))
    picks += np.arange(n_replicates)[:, None] * n_raters
    counts = np.bincount(picks.ravel(), minlength=n_replicates * n_raters)
    return np.ascontiguousarray(counts.reshape(n_replicates, n_raters).T, dtype=np.float64)


def _clusters(table: RatingTable) -> tuple[IntArray, IntArray]:
    """Return the distinct (response, rater) pairs as ``response * K + rater``, and the pair of each rating."""
    pairs, inverse = np.unique(table.response * table.n_raters + table.rater, return_inverse=True)
    return pairs, inverse


def _means(parts: Contributions) -> FloatArray:
    total, mass = parts.table.sums(parts.precision * parts.score), parts.table.sums(parts.precision)
    return ratio(total, parts.unit * mass)


def _mean_errors(parts: Contributions, spread: Spread) -> FloatArray:
    """Return standard errors of precision-weighted means, a rater's ratings of a response taken as one observation."""
    table = parts.table
    _, pair_of = _clusters(table)
    of_same_rater = np.bincount(pair_of)[pair_of]
    mass = table.sums(parts.precision)
    errors: FloatArray = spread.value * np.sqrt(ratio(table.sums(parts.precision * of_same_rater), mass**2))
    return errors


def _medians(parts: Contributions) -> FloatArray:
    alone = np.ones((parts.table.n_raters, 1))
    return replicate_weights(parts, "median", alone)[:, 0]


def _median_errors(parts: Contributions, spread: Spread, n_raters: IntArray) -> FloatArray:
    """Return standard errors of medians of normal ratings, widened where ratings come in steps.

    Ratings on points move a median of three or more by whole or half steps. Half a step is taken as the reach of that
    rounding beside the spread of the raters, the two as independent.
    """
    counts, where = np.unique(n_raters, return_inverse=True)
    variance = np.array([median_variance(int(count)) for count in counts])[where]
    gaps = np.diff(np.unique(parts.score))
    gaps = gaps[gaps > NO_SPREAD * parts.unit]
    step = float(gaps.min()) / parts.unit if gaps.size else 0.0
    rounding = step / 2 / float(student_quantile(max(spread.df, 1), INTERVAL))
    errors: FloatArray = np.hypot(spread.value * np.sqrt(variance), np.where(n_raters > 2, rounding, 0.0))
    return errors


@cache
def median_variance(k: int) -> float:
    """Return the variance of the median of k independent standard normal values; NaN for none.

    By quadrature over the density of the middle value, or over the joint density of the middle two; from ``MANY``
    values on it is ``pi / (2 k)``.

    References
    ----------
    David and Nagaraja, Order Statistics, 3rd edition 2003, eq. 2.1.6 and 2.2.1.

    Examples
    --------
    >>> [round(median_variance(k), 3) for k in (1, 2, 3)]
    [1.0, 0.5, 0.449]
    """
    if k < 1:
        return float("nan")
    if k >= MANY:
        return float(np.pi / 2 / k)
    z = np.linspace(-8, 8, 1601)
    below, density = ndtr(z), np.exp(-(z**2) / 2)
    m = (k - 1) // 2
    if k % 2:
        mass = (below * ndtr(-z)) ** m * density
        return float((z**2 * mass).sum() / mass.sum())
    x, y = z[:, None], z[None, :]
    joint = (below**m * density)[:, None] * (ndtr(-z) ** m * density)[None, :]
    joint *= (x < y) + 0.5 * (x == y)
    return float((((x + y) / 2) ** 2 * joint).sum() / joint.sum())


def _replicate_blocks(parts: Contributions, centre: Centre, drawn: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the replicates of consecutive responses, in blocks that fit in memory."""
    table = parts.table
    order = np.lexsort((parts.score, table.response))
    start = np.searchsorted(table.response[order], np.arange(table.n_responses + 1))
    heaviest = max(1, len(table) // max(table.n_responses, 1))
    step = max(1, BLOCK_CELLS // (heaviest * drawn.shape[1]))
    for first in range(0, table.n_responses, step):
        last = min(first + step, table.n_responses)
        rows = order[start[first] : start[last]]
        offsets = start[first : last + 1] - start[first]
        block = _mean_block if centre == "mean" else _median_block
        yield slice(first, last), block(parts, rows, offsets, drawn)


def _mean_block(parts: Contributions, rows: IntArray, offsets: IntArray, drawn: FloatArray) -> FloatArray:
    precision, rater = parts.precision[rows], parts.table.rater[rows]
    shape = (len(offsets) - 1, len(drawn))
    total = np.asarray(sparse.csr_array((precision * parts.score[rows], rater, offsets), shape=shape) @ drawn)
    mass = np.asarray(sparse.csr_array((precision, rater, offsets), shape=shape) @ drawn)
    weights: FloatArray = np.clip(ratio(total, parts.unit * mass), -1.0, 1.0)
    return weights


def _median_block(parts: Contributions, rows: IntArray, offsets: IntArray, drawn: FloatArray) -> FloatArray:
    """Return medians of ratings repeated as often as their rater was drawn; ``rows`` ascend in score in a response."""
    result = np.full((len(offsets) - 1, drawn.shape[1]), np.nan)
    filled = np.flatnonzero(np.diff(offsets))
    if not filled.size:
        return result
    first = offsets[filled]
    times = drawn.astype(np.int32)[parts.table.rater[rows]]
    total = np.add.reduceat(times, first)
    running = np.cumsum(times, axis=0, dtype=np.int32)
    before = running[first] - times[first]
    segment = np.repeat(np.arange(len(filled)), np.diff(offsets)[filled])
    twice = 2 * (running - before[segment])
    # The lower median is the first rating whose running count reaches half, the upper the first that passes it.
    last = (offsets[filled + 1] - 1)[:, None]
    lower = np.minimum(first[:, None] + np.add.reduceat(twice < total[segment], first, dtype=np.int64), last)
    upper = np.minimum(first[:, None] + np.add.reduceat(twice <= total[segment], first, dtype=np.int64), last)
    score = parts.score[rows]
    result[filled] = np.where(total > 0, (score[lower] + score[upper]) / (2 * parts.unit), np.nan)
    return result


def _reasons(everything: RatingTable, unusable: str, n: IntArray, n_raters: IntArray, *, varies: bool) -> TextArray:
    return reasons(
        [
            (everything.counts() == 0, "no rating"),
            (n == 0, f"no usable rating: {unusable}"),
            (n_raters < 2, "one rater: no standard error, no interval"),
            (np.full(len(n), not varies), "raters agree on every response: no standard error, no interval"),
        ],
        len(n),
    )
