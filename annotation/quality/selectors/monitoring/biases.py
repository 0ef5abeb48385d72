"""Ratings by position on the screen."""

from dataclasses import dataclass

import numpy as np

from annotation.models import Criterion
from annotation.rating.selectors.ratings import FloatArray, IntArray
from annotation.weighting.groups import codes_of
from annotation.weighting.position import list_position_bias, pair_position_bias, preference_position_bias


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
