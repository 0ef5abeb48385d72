"""Why segments have no score, as far as files tell."""

from __future__ import annotations

import numpy as np

from metrics.cli.cache import Scores
from metrics.cli.files import Given
from metrics.scoring.arrays import Bools, Ints
from metrics.scoring.metric import Metric
from metrics.subsets import Subset

EMPTY = "an empty text"
OTHERWISE = "not defined for these texts"

Reasons = list[list[str]]  # T lists of S; empty where a segment has a score


def reasons(given: Given, metric: Metric, subset: Subset, scores: Scores) -> Reasons:
    """Why segments have no score.

    The first that holds: no reference that counts; an output without a word; the metric has no score of such texts.
    """
    missing = _without_reference(given, metric, subset)
    found = []
    for texts, row in zip(given.systems, scores.segments, strict=True):
        own = [""] * given.n_segments
        for place in np.flatnonzero(np.isnan(row)).tolist():
            own[place] = missing[place] or (OTHERWISE if texts[place].strip() else EMPTY)
        found.append(own)
    return found


def _without_reference(given: Given, metric: Metric, subset: Subset) -> list[str]:
    """Of each segment what its references lack; empty where they lack nothing, or are not read."""
    if not metric.needs_references:
        return [""] * given.n_segments
    count = np.array(list(map(len, given.references)))
    weights = np.ones(int(count.sum())) if given.weights is None else given.weights
    kept = subset.mask(weights, given.is_original)
    reference = {"all": "reference", "original": "original reference"}.get(subset.kind, f"reference with {subset}")
    there = _any(kept, count)
    positive = _any(kept & (weights > 0), count) if metric.needs_weights else there
    lacking = [f"no {reference}", f"no {reference} of positive weight"]
    return np.select([~there, ~positive], lacking, default="").tolist()  # type: ignore[no-any-return]


def _any(kept: Bools, count: Ints) -> Bools:
    return np.bincount(np.repeat(np.arange(count.size), count), weights=kept, minlength=count.size) > 0
