"""The three sweeps of Figure 2 of the deltaBLEU paper: reference threshold, unit size, n-gram order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from correlations.services.inputs import StudyInputs, study_metric
from correlations.services.progress import StagedProgress
from correlations.services.table import coefficient
from correlations.specification import metric_labels
from correlations.stats.sampled_units import MetricResult
from correlations.stats.sweeps import SweepResult, reference_sweep, unit_size_sweep
from correlations.stats.units import StudyMetric
from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.metric import Metric, MetricStatistics
from metrics.services.scoring import none_if_nan
from metrics.subsets import Subset

THRESHOLDS = tuple(round(step / 10, 1) for step in range(-10, 11))
UNIT_SIZES = (1, 2, 5, 10, 20, 50, 100)
ORDERS = (1, 2, 3, 4)


def study_sweeps(inputs: StudyInputs, progress: StagedProgress) -> dict[str, Any]:
    """Spearman's coefficient of every metric along each dimension, all else as in the table."""
    spec = inputs.specification
    shared: dict[str, Any] = {
        "human": inputs.human.mean,
        "pairs": inputs.pairs,
        "seed": spec.seed,
        "n_assignments": spec.assignments,
        "remainder": spec.remainder,
        "orientation": spec.orientation,
    }
    metrics = spec.built_metrics()
    subset = spec.built_sweep_subset
    at_threshold = {
        value: _named(inputs, metrics, Subset("threshold", ">=", value, "positive")) for value in THRESHOLDS
    }
    at_order = {float(order): _named(inputs, spec.built_metrics(order), subset) for order in ORDERS}
    threshold = reference_sweep(
        at_threshold, unit_size=spec.unit_size, progress=progress.stage("Sweep over thresholds"), **shared
    )
    order = reference_sweep(at_order, unit_size=spec.unit_size, progress=progress.stage("Sweep over orders"), **shared)
    unit_size = unit_size_sweep(
        _named(inputs, metrics, subset),
        unit_sizes=UNIT_SIZES,
        metrics_at_one=[
            sentence_metric(label, inputs.scorer.statistics(metric, subset))
            for label, metric in zip(metric_labels(metrics), metrics, strict=True)
        ],
        progress=progress.stage("Sweep over unit sizes"),
        **shared,
    )
    return {
        "threshold": _plain(threshold, "w ≥ threshold"),
        "unit_size": _plain(unit_size, subset.label),
        "order": _plain(order, subset.label),
    }


def _named(inputs: StudyInputs, metrics: Sequence[Metric], subset: Subset) -> list[StudyMetric]:
    return [
        study_metric(label, inputs.scorer.statistics(metric, subset))
        for label, metric in zip(metric_labels(metrics), metrics, strict=True)
    ]


def sentence_metric(name: str, statistics: MetricStatistics) -> StudyMetric:
    """Smoothed sentence scores, for units of one item: an unsmoothed score would be 0 nearly everywhere."""
    scores = statistics.sentence_scores
    present = np.isfinite(scores)
    packed = np.stack([np.where(present, scores, 0.0), present], axis=-1)
    return StudyMetric(name, packed, MeanAggregate(), np.asarray(present.all(axis=0)))


def _plain(sweep: SweepResult, references: str) -> dict[str, Any]:
    return {
        "points": list(sweep.points),
        "references": references,
        "series": [
            {"label": label, "points": [_point(result) for result in results]}
            for label, results in sweep.series.items()
        ],
    }


def _point(result: MetricResult) -> dict[str, Any]:
    return {
        "rho": coefficient(result.spearman),
        "n_observations": result.n_observations,
        "items": result.n_valid_segments,
        "clamped_share": None if result.clamped is None else none_if_nan(result.clamped.share),
    }
