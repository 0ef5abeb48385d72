"""Ratings by place on the screen, and along the raters' work."""

from dataclasses import dataclass

import numpy as np

from annotation.models import Criterion
from annotation.rating.selectors.ratings import FloatArray, IntArray
from annotation.weighting.groups import codes_of
from annotation.weighting.intervals import mean_interval
from annotation.weighting.position import list_position_bias, pair_position_bias, preference_position_bias

BINS = 12


@dataclass(frozen=True)
class Bin:
    """Ratings less the mean of all that their rater gave, over a stretch."""

    start: float
    end: float
    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PositionFigures:
    """One criterion's ratings by place on the screen, and whether the place matters."""

    criterion: str
    kind: str  # pair, preference or list
    means: list[tuple[int, int, float]]  # place from 1, ratings, mean
    difference: float  # pairs: first less second place; preferences: share of choices that fell on the first
    low: float
    high: float
    pvalue: float  # of no bias
    rank_pvalue: float  # pairs: Wilcoxon's
    n: int  # pairs, choices or lists behind the test
    reason: str


def position_figures(
    criterion: Criterion, presentation: IntArray, position: FloatArray, value: FloatArray
) -> PositionFigures:
    places, counts = np.unique(position, return_counts=True)
    means = [
        (int(place) + 1, int(count), float(value[position == place].mean()))
        for place, count in zip(places, counts, strict=True)
    ]
    nan = float("nan")
    if criterion.scale.mirrored:
        first = value[position == 0]
        chosen = preference_position_bias(int((first > 0).sum()), int((first < 0).sum()), ties=int((first == 0).sum()))
        return PositionFigures(
            criterion.name,
            "preference",
            means,
            chosen.share,
            chosen.low,
            chosen.high,
            chosen.pvalue,
            nan,
            chosen.n,
            chosen.reason,
        )
    if places.max(initial=0) <= 1:
        pair = pair_position_bias(*_two_places(presentation, position, value))
        return PositionFigures(
            criterion.name,
            "pair",
            means,
            pair.difference,
            pair.low,
            pair.high,
            pair.pvalue,
            pair.rank_pvalue,
            pair.n,
            pair.reason,
        )
    found = list_position_bias(presentation, position.astype(np.int64), value)
    return PositionFigures(criterion.name, "list", means, nan, nan, nan, found.pvalue, nan, found.n_lists, found.reason)


def _two_places(presentation: IntArray, position: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    code = codes_of(presentation)
    columns = np.full((2, code.max(initial=-1) + 1), np.nan)
    columns[position.astype(np.int64), code] = value
    return columns[0], columns[1]


def binned(value: FloatArray, rater: IntArray, place: FloatArray) -> list[Bin]:
    """Over at most a dozen stretches of equal length; those without ratings are left out."""
    known = ~np.isnan(place)
    value, place, who = value[known], place[known], codes_of(rater[known])
    if not len(value) or np.ptp(place) == 0:
        return []
    deviation = value - (np.bincount(who, value) / np.bincount(who))[who]
    whole = bool((place == np.round(place)).all())
    width = np.ptp(place) / BINS
    if whole:
        width = max(np.ceil((np.ptp(place) + 1) / BINS), 1.0)
    number = np.minimum(((place - place.min()) / width).astype(np.int64), BINS - 1)
    n = np.bincount(number)
    filled = np.flatnonzero(n)
    mean = np.bincount(number, deviation)[filled] / n[filled]
    squares = np.bincount(number, deviation**2)[filled] - n[filled] * mean**2
    spread = np.sqrt(np.maximum(squares, 0) / np.maximum(n[filled] - 1, 1))
    ends = mean_interval(mean, np.where(n[filled] > 1, spread, np.nan), n[filled])
    starts = place.min() + filled * width
    return [
        Bin(
            float(start), float(start + width - (1 if whole else 0)), int(count), float(middle), float(low), float(high)
        )
        for start, count, middle, low, high in zip(starts, n[filled], mean, ends.low, ends.high, strict=True)
    ]
