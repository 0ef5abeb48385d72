"""Counts in a release's report that follow from its weights, built here or imported."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

LISTED_ITEMS = 100


def weight_counts(item_id: Sequence[int], external_id: Sequence[str], columns: npt.ArrayLike) -> dict[str, Any]:
    """Return the counts of the weighted references and of their items.

    ``columns`` holds weight, low and high end of the interval for each reference, NaN where there is no interval.
    """
    weight, low, high = np.asarray(columns, dtype=np.float64).reshape(3, -1)
    items, item = np.unique(np.asarray(item_id, dtype=np.int64), return_inverse=True)
    best = np.full(len(items), -np.inf)
    np.maximum.at(best, item, weight)
    is_best = weight == best[item]
    spans_zero = (low <= 0) & (high >= 0)
    name_of = dict(zip(item_id, external_id, strict=True))
    without = sorted(name_of[pk] for pk in items[best <= 0].tolist())
    return {
        "references": {
            "weighted": len(weight),
            "positive": int((weight > 0).sum()),
            "zero": int((weight == 0).sum()),
            "negative": int((weight < 0).sum()),
            "interval_spans_zero": int(spans_zero.sum()),
            "without_interval": int(np.isnan(low).sum()),
        },
        "items": {
            "with_weight": len(items),
            "without_positive": len(without),
            "without_positive_listed": without[:LISTED_ITEMS],
            "tied_best": int((np.bincount(item, is_best, minlength=len(items)) > 1).sum()),
            "best_interval_spans_zero": len(np.unique(item[is_best & spans_zero])),
        },
    }
