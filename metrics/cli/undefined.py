"""Why segments have no score."""

from __future__ import annotations

import numpy as np

from metrics.cli.cache import Scores
from metrics.cli.files import Inputs
from metrics.scoring.arrays import Bools, Ints
from metrics.scoring.metric import Metric
from metrics.subsets import Subset

EMPTY = "an empty text"
OTHERWISE = "not defined for these texts"

Reasons = list[list[str]]  # T lists of S; empty where a segment has a score


def reasons(inputs: Inputs, metric: Metric, subset: Subset, scores: Scores) -> Reasons:
    """Return why segments have no score: no reference counts, the output is empty, or the metric is undefined."""
    missing = _without_reference(inputs, metric, subset)
    by_system = []
    for texts, row in zip(inputs.systems, scores.segments, strict=True):
        by_segment = [""] * inputs.n_segments
        for segment in np.flatnonzero(np.isnan(row)).tolist():
            by_segment[segment] = missing[segment] or (OTHERWISE if texts[segment].strip() else EMPTY)
        by_system.append(by_segment)
    return by_system


def _without_reference(inputs: Inputs, metric: Metric, subset: Subset) -> list[str]:
    """Return what the references of each segment lack; empty if nothing, or if they are not read."""
    if not metric.needs_references:
        return [""] * inputs.n_segments
    count = np.array(list(map(len, inputs.references)))
    weights = np.ones(int(count.sum())) if inputs.weights is None else inputs.weights
    chosen = subset.mask(weights, inputs.is_original)
    reference = {"all": "reference", "original": "original reference"}.get(subset.kind, f"reference with {subset}")
    any_chosen = _any(chosen, count)
    any_positive = _any(chosen & (weights > 0), count) if metric.needs_weights else any_chosen
    lacking = [f"no {reference}", f"no {reference} of positive weight"]
    return np.select([~any_chosen, ~any_positive], lacking, default="").tolist()  # type: ignore[no-any-return]


def _any(chosen: Bools, count: Ints) -> Bools:
    return np.bincount(np.repeat(np.arange(count.size), count), weights=chosen, minlength=count.size) > 0
