"""Why segments have no score, as far as files tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrics.cli.cache import Scores
from metrics.cli.files import Given
from metrics.scoring.metric import Metric
from metrics.subsets import Subset

EMPTY = "an empty text"
OTHERWISE = "not defined for these texts"


def reasons(given: Given, metric: Metric, subset: Subset, scores: Scores) -> list[list[str]]:
    """T lists of S: why a segment has no score; empty where it has one.

    Of several reasons the first in this order: no reference that counts, an empty output, what the metric itself says.
    """
    missing = _without_reference(given, metric, subset)
    found = []
    for texts, row in zip(given.systems, scores.segments, strict=True):
        own = [""] * given.n_segments
        for place in np.flatnonzero(np.isnan(row)).tolist():
            own[place] = missing[place] or (EMPTY if not texts[place].strip() else OTHERWISE)
        found.append(own)
    return found


def _without_reference(given: Given, metric: Metric, subset: Subset) -> list[str]:
    """Of each segment what its references lack; empty where they lack nothing, or are not read."""
    if not metric.needs_references:
        return [""] * given.n_segments
    count = np.array(list(map(len, given.references)))
    starts = np.cumsum(count) - count
    originals = np.zeros(int(count.sum()), dtype=np.bool_)
    originals[starts[given.originals]] = True
    weights = np.ones(originals.size) if given.weights is None else given.weights
    kept = subset.mask(weights, originals)
    reference = {"all": "reference", "original": "original reference"}.get(subset.kind, f"reference with {subset}")
    there = _any(kept, count)
    if not metric.needs_weights:
        return np.where(there, "", f"no {reference}").tolist()  # type: ignore[no-any-return]
    positive = _any(kept & (weights > 0), count)
    return np.where(there, np.where(positive, "", f"no {reference} of positive weight"), f"no {reference}").tolist()  # type: ignore[no-any-return]


def _any(kept: NDArray[np.bool_], count: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.bincount(np.repeat(np.arange(count.size), count), weights=kept, minlength=count.size) > 0
