"""Intervals of systems' scores and of their differences, on samples of the demo's real outputs and references."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from benchmarks.bench_overlap import corpus
from benchmarks.coverage.case import CAUTIOUS, Case, Hits, Setting, held, rejected
from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.comparisons import compare_systems
from metrics.scoring.metric import MetricStatistics, Workspace
from metrics.scoring.registry import get_metric
from metrics.scoring.resampling import bootstrap_replicates, paired_difference, percentile_interval
from metrics.scoring.segments import Segments

METRICS = ("bleu", "chrf", "cider")
SIZES = (50, 100, 400)
SYSTEMS = 5
MANY = 12
TRIALS = 200


@cache
def population(metric: str, references: int) -> MetricStatistics:
    """Score all segments of the demo that have 16 references: what samples are drawn from."""
    systems, gold = corpus()
    segments = Segments(systems[:SYSTEMS], [texts[:references] for texts in gold])
    return Workspace(segments).statistics(get_metric(metric))


def sampled(rng: np.random.Generator, metric: str, references: int, n: int) -> tuple[Any, Any, Any]:
    """Return scores of the population, scores of a sample, and replicates of the sample.

    CIDEr weighs n-grams by the whole population's frequencies.
    """
    whole = population(metric, references)
    packed = whole.packed[:, rng.integers(whole.packed.shape[1], size=n)]
    seed = int(rng.integers(2**31))
    replicates = bootstrap_replicates([packed], n, whole.aggregate, replicates=500, seed=seed)
    return whole.system_scores(), whole.aggregate(packed.sum(axis=1)), replicates


def score(rng: np.random.Generator, *, metric: str, references: int, n: int) -> Hits:
    truth, _, replicates = sampled(rng, metric, references, n)
    intervals = [percentile_interval(column) for column in replicates.T]
    return held([each.low for each in intervals], truth, [each.high for each in intervals])


def difference(rng: np.random.Generator, *, metric: str, n: int) -> Hits:
    truth, scores, replicates = sampled(rng, metric, 16, n)
    tests = [paired_difference(scores[0], scores[i], replicates[:, 0], replicates[:, i]) for i in range(1, SYSTEMS)]
    return held([test.low for test in tests], truth[0] - truth[1:], [test.high for test in tests])


def null(rng: np.random.Generator, *, metric: str, references: int, n: int) -> Hits:
    """Compare systems that are equal: at each segment either may have either's output."""
    whole = population(metric, references)
    drawn, swap = rng.integers(whole.packed.shape[1], size=n), rng.random((n, 1)) < 0.5
    first, second = whole.packed[0, drawn], whole.packed[1, drawn]
    packed = np.stack([np.where(swap, first, second), np.where(swap, second, first)])
    seed = int(rng.integers(2**31))
    replicates = bootstrap_replicates([packed], n, whole.aggregate, replicates=500, seed=seed)
    scores = whole.aggregate(packed.sum(axis=1))
    return rejected([paired_difference(scores[0], scores[1], *replicates.T, n_segments=n).p_value])


def apart(rng: np.random.Generator, *, n: int) -> Hits:
    """Compare twelve equal systems, which share the difficulty of each segment: whether any two are told apart."""
    scores = rng.normal(size=n) + rng.normal(size=(MANY, n))
    packed = np.stack([scores, np.ones_like(scores)], axis=-1)
    replicates = bootstrap_replicates([packed], n, MeanAggregate(), replicates=1000, seed=int(rng.integers(2**31)))
    return rejected([min(pair.adjusted for pair in compare_systems(scores.mean(axis=1), replicates, n_segments=n))])


def _label(metric: str, references: int, n: int) -> str:
    return f"{metric}, {references} reference{'s' * (references > 1)}, {n} segments"


CASES = (
    Case(
        "Score of a system",
        "metrics.scoring.resampling.percentile_interval",
        ("metrics.Interval.low",),
        tuple(
            Setting(
                _label(metric, references, n),
                partial(score, metric=metric, references=references, n=n),
                TRIALS,
            )
            for metric in METRICS
            for references in (1, 16)
            for n in SIZES
        ),
        "range of resamples",
    ),
    Case(
        "Difference of two systems",
        "metrics.scoring.resampling.paired_difference",
        ("PairedDifference.low", "PairOfSystems.low"),
        tuple(
            Setting(f"{metric}, 16 references, {n} segments", partial(difference, metric=metric, n=n), TRIALS)
            for metric in METRICS
            for n in SIZES
        ),
        "range of resamples",
    ),
    Case(
        "Difference of two systems, p",
        "metrics.scoring.resampling.paired_difference",
        ("PairedDifference.p_value", "PairOfSystems.p_value"),
        tuple(
            Setting(
                _label(metric, references, n),
                partial(null, metric=metric, references=references, n=n),
                1000,
                CAUTIOUS if references == 1 or n < 100 else "",
            )
            for metric in METRICS
            for references in (1, 16)
            for n in (12, 50, 400)
        ),
        "p-value",
    ),
    Case(
        "Any of 66 pairs of equal systems, p corrected",
        "metrics.scoring.comparisons.compare_systems",
        (),
        tuple(Setting(f"{MANY} systems, {n} segments", partial(apart, n=n), 500) for n in SIZES),
        "p-value",
    ),
)
