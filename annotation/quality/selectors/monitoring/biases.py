"""Ratings by position on the screen, and along each rater's work."""

from dataclasses import dataclass

import numpy as np

from annotation.models import Criterion
from annotation.rating.selectors.ratings import FloatArray, IntArray
from annotation.weighting.groups import codes_of
from annotation.weighting.intervals import mean_interval
from annotation.weighting.position import list_position_bias, pair_position_bias, preference_position_bias

MOST_STRETCHES = 12


@dataclass(frozen=True)
class Stretch:
    """Ratings of a stretch of time or of items, less the mean of all that their rater gave."""

    start: float
    end: float
    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PositionStatistics:
    """One criterion's ratings by position on the screen, and whether the position matters."""

    criterion: str
    kind: str  # pair, preference or list
    means: list[tuple[int, int, float]]  # position from 1, ratings, mean
    n: int  # pairs, choices or lists behind the test
    pvalue: float  # of no bias
    reason: str
    difference: float = np.nan  # pairs: first less second; preferences: share of choices that fell on the first
    low: float = np.nan
    high: float = np.nan
    rank_pvalue: float = np.nan  # pairs: Wilcoxon's


def position_statistics(
    criterion: Criterion, presentation: IntArray, position: FloatArray, value: FloatArray
) -> PositionStatistics:
    positions, counts = np.unique(position, return_counts=True)
    means = [
        (int(index) + 1, int(count), float(value[position == index].mean()))
        for index, count in zip(positions, counts, strict=True)
    ]
    name = criterion.name
    if criterion.scale.mirrored:
        first = value[position == 0]
        choice = preference_position_bias(int((first > 0).sum()), int((first < 0).sum()), ties=int((first == 0).sum()))
        return PositionStatistics(
            name, "preference", means, choice.n, choice.pvalue, choice.reason, choice.share, choice.low, choice.high
        )
    if positions.max(initial=0) <= 1:
        pair = pair_position_bias(*_both_positions(presentation, position, value))
        ends = pair.difference, pair.low, pair.high, pair.rank_pvalue
        return PositionStatistics(name, "pair", means, pair.n, pair.pvalue, pair.reason, *ends)
    lists = list_position_bias(presentation, position.astype(np.int64), value)
    return PositionStatistics(name, "list", means, lists.n_lists, lists.pvalue, lists.reason)


def _both_positions(presentation: IntArray, position: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    code = codes_of(presentation)
    columns = np.full((2, code.max(initial=-1) + 1), np.nan)
    columns[position.astype(np.int64), code] = value
    return columns[0], columns[1]


def stretches(value: FloatArray, rater: IntArray, when: FloatArray) -> list[Stretch]:
    """Divide into at most a dozen stretches of equal length; those without ratings are left out."""
    known = ~np.isnan(when)
    value, when, code = value[known], when[known], codes_of(rater[known])
    if not len(value) or np.ptp(when) == 0:
        return []
    deviation = value - (np.bincount(code, value) / np.bincount(code))[code]
    is_whole = bool((when == np.round(when)).all())
    width = np.ptp(when) / MOST_STRETCHES
    if is_whole:
        width = max(np.ceil((np.ptp(when) + 1) / MOST_STRETCHES), 1.0)
    number = np.minimum(((when - when.min()) / width).astype(np.int64), MOST_STRETCHES - 1)
    n = np.bincount(number)
    filled = np.flatnonzero(n)
    mean = np.bincount(number, deviation)[filled] / n[filled]
    squares = np.bincount(number, deviation**2)[filled] - n[filled] * mean**2
    spread = np.sqrt(np.maximum(squares, 0) / np.maximum(n[filled] - 1, 1))
    interval = mean_interval(mean, np.where(n[filled] > 1, spread, np.nan), n[filled])
    starts = when.min() + filled * width
    columns = (starts, starts + width - is_whole, n[filled], mean, interval.low, interval.high)
    return [Stretch(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
