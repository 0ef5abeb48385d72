"""The three sweeps of Figure 2 of the deltaBLEU paper: reference threshold, unit size, n-gram order."""

from collections.abc import Mapping
from dataclasses import replace

from annotation.core.numbers import finite_or_none
from correlations.results.study import Sweep, SweepPoint, SweepSeries
from correlations.services.inputs import StudyInputs, row_reads, study_metric
from correlations.services.progress import StagedProgress
from correlations.services.table import estimate
from correlations.stats.sampled_units import MetricResult
from correlations.stats.sweeps import SweepResult, reference_sweep, unit_size_sweep
from correlations.stats.units import StudyMetric
from metrics.scoring.metric import Metric, MetricStatistics, mean_statistics, metric_labels
from metrics.subsets import Subset

THRESHOLDS = tuple(round(step / 10, 1) for step in range(-10, 11))
UNIT_SIZES = (1, 2, 5, 10, 20, 50, 100)
ORDERS = (1, 2, 3, 4)


def study_sweeps(inputs: StudyInputs, progress: StagedProgress) -> dict[str, Sweep]:
    """Return the leading coefficient of every metric along each dimension, with all else as in the table."""
    spec, human, pairs = inputs.specification, inputs.human.mean, inputs.pairs
    sampling = replace(inputs.sampling, coefficients=inputs.sampling.coefficients[:1])
    subset = spec.built_sweep_subset
    labels = _labelled(spec.built_metrics())
    with_references = {metric: label for metric, label in labels.items() if metric.needs_references}
    weighted = with_references if spec.release else {}
    at_order = {
        float(order): _study_metrics(inputs, _labelled(spec.metrics_at_order(order)), subset) for order in ORDERS
    }
    sweeps: dict[str, Sweep] = {}
    if weighted:
        report = progress.stage("Sweep over thresholds")
        at_threshold = _at_thresholds(inputs, weighted)
        threshold = reference_sweep(at_threshold, human, pairs, sampling, progress=report)
        sweeps["threshold"] = _sweep(threshold, "w ≥ threshold")
    if spec.metrics_at_order(spec.order):
        report = progress.stage("Sweep over orders")
        sweeps["order"] = _sweep(reference_sweep(at_order, human, pairs, sampling, progress=report), subset.label)
    unit_size = unit_size_sweep(
        _study_metrics(inputs, labels, subset),
        human,
        pairs,
        sampling,
        unit_sizes=UNIT_SIZES,
        metrics_at_one=[
            _sentence_metric(label, inputs.statistics(metric, subset), metric) for metric, label in labels.items()
        ],
        progress=progress.stage("Sweep over unit sizes"),
    )
    return sweeps | {"unit_size": _sweep(unit_size, subset.label)}


def _at_thresholds(inputs: StudyInputs, labels: Mapping[Metric, str]) -> dict[float, list[StudyMetric]]:
    metrics_at: dict[float, list[StudyMetric]] = {value: [] for value in THRESHOLDS}
    for metric, label in labels.items():
        texts = inputs.texts[row_reads(inputs.run_texts, metric, inputs.specification.built_sweep_subset)]
        swept = texts.scorer.threshold_sweep(metric, THRESHOLDS)
        for value, statistics in zip(THRESHOLDS, swept, strict=True):
            metrics_at[value].append(study_metric(label, texts.placed(statistics, inputs.n_items), metric))
    return metrics_at


def _labelled(metrics: list[Metric]) -> dict[Metric, str]:
    return dict(zip(metrics, metric_labels(metrics), strict=True))


def _study_metrics(inputs: StudyInputs, labels: Mapping[Metric, str], subset: Subset) -> list[StudyMetric]:
    return [study_metric(label, inputs.statistics(metric, subset), metric) for metric, label in labels.items()]


def _sentence_metric(name: str, statistics: MetricStatistics, metric: Metric) -> StudyMetric:
    """Return smoothed sentence scores for units of one item: an unsmoothed score would be 0 nearly everywhere."""
    return replace(study_metric(name, mean_statistics(statistics.sentence_scores), metric), clamped=None)


def _sweep(result: SweepResult, references: str) -> Sweep:
    series = (SweepSeries(label, tuple(_point(each) for each in results)) for label, results in result.series.items())
    return Sweep(result.points, references, tuple(series))


def _point(result: MetricResult) -> SweepPoint:
    return SweepPoint(
        coefficients={key: estimate(summary) for key, summary in result.coefficients.items()},
        n_observations=result.n_observations,
        items=result.n_valid_segments,
        clamped_share=None if result.clamped is None else finite_or_none(result.clamped.share),
    )
