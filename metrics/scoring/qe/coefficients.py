"""How predictions agree with ratings: Pearson's and Spearman's coefficient, and errors in points."""

from __future__ import annotations

import math

import numpy as np
import scipy

from metrics.scoring.arrays import Floats


def pearson(first: Floats, second: Floats) -> float:
    """Return Pearson's coefficient of two arrays (n,); NaN for fewer than 2, or if either is constant."""
    if first.size < 2 or (first == first[0]).all() or (second == second[0]).all():
        return math.nan
    x, y = first - first.mean(), second - second.mean()
    return float(np.clip(x @ y / math.sqrt(float(x @ x) * float(y @ y)), -1, 1))


def spearman(first: Floats, second: Floats) -> float:
    """Return Spearman's coefficient, ties with mean ranks; NaN where `pearson` is."""
    if first.size < 2:
        return math.nan
    return pearson(scipy.stats.rankdata(first), scipy.stats.rankdata(second))


def errors(predicted: Floats, rated: Floats) -> tuple[float, float]:
    """Return the mean absolute and the root mean squared error."""
    apart = predicted - rated
    return float(np.abs(apart).mean()), float(np.sqrt((apart**2).mean()))
