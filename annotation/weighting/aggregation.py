"""Weights of responses from the scores of their ratings, and how far other raters could have moved them.

A scheme gives each rating a score and a precision. Resampling raters is then a matrix product for means, and a
cumulative sum for medians.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from annotation.weighting.groups import TextArray, reasons
from annotation.weighting.result import WeightResult
from annotation.weighting.table import FloatArray, IntArray, RatingTable, ratio

Centre = Literal["mean", "median"]

INTERVAL = 0.95
BLOCK_CELLS = 4_000_000  # replicates x rows held at once: 32 MB of float64


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


def weigh(
    everything: RatingTable,
    parts: Contributions,
    centre: Centre,
    *,
    signature: str,
    n_bootstrap: int,
    rng: np.random.Generator | None,
) -> WeightResult:
    """Compute weights, errors and intervals of all responses of ``everything`` from the ratings that count."""
    if n_bootstrap < 0:
        raise ValueError(f"n_bootstrap is {n_bootstrap}; accepted: 0 (no interval) or more")
    table = parts.table
    n = table.counts()
    n_raters = np.bincount(_clusters(table)[0] // max(table.n_raters, 1), minlength=table.n_responses)
    centred = _means(parts) if centre == "mean" else _medians(parts)
    low, high, spread = _intervals(parts, centre, n_bootstrap, rng or np.random.default_rng(0))
    error = _mean_errors(parts, centred) if centre == "mean" else spread
    few = n_raters < 2
    for column in (low, high, error):
        column[few] = np.nan
    return WeightResult(
        weights=np.clip(centred, -1.0, 1.0),
        n=n,
        n_raters=n_raters,
        mean=everything.means(),
        standard_error=error,
        low=low,
        high=high,
        reasons=_reasons(everything, parts.unusable, n, n_raters, n_bootstrap),
        signature=f"{signature}|interval:{INTERVAL}-percentile-bootstrap-{n_bootstrap}-over-raters|version:1",
    )


def replicate_weights(parts: Contributions, centre: Centre, drawn: FloatArray) -> FloatArray:
    """Compute weights under resampled raters, shape (R, B); ``drawn[k, b]`` is how often rater k is in replicate b.

    NaN where none of a response's raters was drawn.
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


def _mean_errors(parts: Contributions, means: FloatArray) -> FloatArray:
    """Return standard errors of precision-weighted means with the rater as the independent unit.

    sqrt(m / (m - 1) * sum_raters (sum p (s - mean))^2) / sum p, for m raters: s / sqrt(n) when every rater rated once
    and precisions are equal (Cameron & Miller, A practitioner's guide to cluster-robust inference, 2015, eq. 11-12).
    """
    table = parts.table
    mass = table.sums(parts.precision)
    deviation = parts.precision * (parts.score / parts.unit - means[table.response])
    pairs, pair_of = _clusters(table)
    response_of_pair = pairs // max(table.n_raters, 1)
    squares = np.bincount(
        response_of_pair, np.bincount(pair_of, deviation, minlength=len(pairs)) ** 2, minlength=table.n_responses
    )
    m = np.bincount(response_of_pair, minlength=table.n_responses)
    return ratio(np.sqrt(ratio(m * squares, m - 1)), mass)


def _medians(parts: Contributions) -> FloatArray:
    alone = np.ones((parts.table.n_raters, 1))
    return replicate_weights(parts, "median", alone)[:, 0]


def _intervals(
    parts: Contributions, centre: Centre, n_bootstrap: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    size = parts.table.n_responses
    low, high, spread = np.full((3, size), np.nan)
    if n_bootstrap == 0:
        return low, high, spread
    drawn = draw_raters(parts.table.n_raters, n_bootstrap, rng)
    for rows, block in _replicate_blocks(parts, centre, drawn):
        block.sort(axis=1)  # NaN goes last
        valid = np.count_nonzero(~np.isnan(block), axis=1)
        low[rows] = _sorted_quantile(block, valid, (1 - INTERVAL) / 2)
        high[rows] = _sorted_quantile(block, valid, (1 + INTERVAL) / 2)
        average = ratio(np.nansum(block, axis=1), valid)
        spread[rows] = np.sqrt(ratio(np.nansum((block - average[:, None]) ** 2, axis=1), valid - 1))
    return low, high, spread


def _sorted_quantile(block: FloatArray, valid: IntArray, q: float) -> FloatArray:
    """Return the quantile (linear between order statistics) of the first ``valid`` entries of each sorted row."""
    position = q * np.maximum(valid - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(valid - 1, 0))
    rows = np.arange(len(block))
    start = block[rows, below]
    quantile: FloatArray = start + (position - below) * (block[rows, above] - start)
    return quantile


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


def _reasons(everything: RatingTable, unusable: str, n: IntArray, n_raters: IntArray, n_bootstrap: int) -> TextArray:
    return reasons(
        [
            (everything.counts() == 0, "no rating"),
            (n == 0, f"no usable rating: {unusable}"),
            (n_raters < 2, "one rater: no standard error, no interval"),
            (np.full(len(n), n_bootstrap == 0), "no interval asked for"),
        ],
        len(n),
    )
