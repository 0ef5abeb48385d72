"""The signs of weights, and the best references of each item.

Weights of the mean of five ratings are sums of tenths; under a rater model they are not, and rounding must neither make
a sign nor break a tie. Weights closer than ``SAME`` to each other, or to 0, count as equal.
"""

import numpy as np
import numpy.typing as npt

from annotation.weighting.groups import BoolArray
from annotation.weighting.table import FloatArray, IntArray

SAME = 1e-9

SignArray = npt.NDArray[np.int8]


def signs(weights: FloatArray) -> SignArray:
    """Return -1, 0 or +1; 0 also where there is no weight."""
    known = np.where(np.isfinite(weights), weights, 0.0)
    return np.where(known > SAME, 1, np.where(known < -SAME, -1, 0)).astype(np.int8)


def best_weights(weights: FloatArray, item: IntArray, n_items: int) -> FloatArray:
    """Return the highest weight of each item; NaN if none of its references has one."""
    best = np.full(n_items, -np.inf)
    known = np.isfinite(weights)
    np.maximum.at(best, item[known], weights[known])
    return np.where(np.isneginf(best), np.nan, best)


def is_best(weights: FloatArray, item: IntArray, n_items: int) -> BoolArray:
    """Return which references are the best of their item; several if they tie."""
    best = best_weights(weights, item, n_items)
    is_highest: BoolArray = weights >= best[item] - SAME  # False where either is NaN
    return is_highest
