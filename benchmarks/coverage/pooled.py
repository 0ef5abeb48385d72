"""Coefficients of several studies: pooled over data sets, the difference of two, and ranks of metrics."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.coverage.case import CAUTIOUS, WIDER, Case, Hits, Setting, held, rejected
from benchmarks.coverage.worlds import Floats
from correlations.stats.intervals import Interval
from correlations.stats.pooled import Pooled, average_ranks, correlation_difference, pooled_correlation

TRUTH, REPLICATES, TRIALS = 0.4, 200, 1000


def items(rng: np.random.Generator, n: int) -> Floats:
    """Return score and rating of n items that correlate as `TRUTH`, (n, 2)."""
    return rng.multivariate_normal([0, 0], [[1, TRUTH], [TRUTH, 1]], n)


def bootstrapped(rng: np.random.Generator, drawn: Floats) -> tuple[float, Interval]:
    """Return Pearson's r of items, and the percentile interval over resampled items."""
    resamples = drawn[rng.integers(len(drawn), size=(REPLICATES, len(drawn)))]
    x, y = np.moveaxis(resamples - resamples.mean(axis=1, keepdims=True), -1, 0)
    replicates = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return float(np.atleast_2d(np.corrcoef(drawn.T))[0, 1]), Interval(*np.quantile(replicates, (0.025, 0.975)).tolist())


def pool(rng: np.random.Generator, sizes: tuple[int, ...]) -> Pooled:
    values, intervals = zip(*(bootstrapped(rng, items(rng, n)) for n in sizes), strict=True)
    return pooled_correlation(values, sizes, intervals)


def pooled(rng: np.random.Generator, *, sizes: tuple[int, ...]) -> Hits:
    ends = pool(rng, sizes).interval
    return held([ends.low], TRUTH, [ends.high])


def alike(rng: np.random.Generator, *, sizes: tuple[int, ...]) -> Hits:
    return rejected([pool(rng, sizes).pvalue])


def apart(rng: np.random.Generator, *, sizes: tuple[int, int]) -> Hits:
    first, second = (bootstrapped(rng, items(rng, n)) for n in sizes)
    ends = correlation_difference(*first, *second).interval
    return held([ends.low], 0.0, [ends.high])


def of_one_dataset(rng: np.random.Generator, *, n: int) -> Hits:
    """Compare a metric with itself over the same items, rated anew by as good raters."""
    drawn = items(rng, n)
    first, second = (bootstrapped(rng, drawn + rng.normal(0, 0.3, (n, 1)) * [0, 1]) for _ in range(2))
    ends = correlation_difference(*first, *second).interval
    return held([ends.low], 0.0, [ends.high])


def ranked(rng: np.random.Generator, *, datasets: int, metrics: int) -> Hits:
    return rejected([average_ranks(rng.normal(size=(datasets, metrics))).pvalue])


def _words(sizes: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]} items"


CASES = (
    Case(
        "Correlation pooled over data sets",
        "correlations.stats.pooled.pooled_correlation",
        ("Pooled.interval",),
        tuple(
            Setting(f"data sets of {_words(sizes)}", partial(pooled, sizes=sizes), TRIALS)
            for sizes in ((100, 100, 100), (60, 400), (50, 100, 200, 300, 400))
        ),
    ),
    Case(
        "Data sets that differ by more than chance, p",
        "correlations.stats.pooled.pooled_correlation",
        ("Pooled.pvalue",),
        tuple(
            Setting(f"data sets of {_words(sizes)}", partial(alike, sizes=sizes), TRIALS)
            for sizes in ((100, 100, 100), (60, 400))
        ),
        "rough p-value",
    ),
    Case(
        "Difference of two studies",
        "correlations.stats.pooled.correlation_difference",
        ("Difference.interval",),
        (
            *(
                Setting(f"data sets of {_words(sizes)}", partial(apart, sizes=sizes), TRIALS)
                for sizes in ((100, 100), (60, 400))
            ),
            Setting("the same 100 items, rated twice", partial(of_one_dataset, n=100), TRIALS, WIDER),
        ),
    ),
    Case(
        "Friedman's test of metrics over data sets",
        "correlations.stats.pooled.average_ranks",
        ("AverageRanks.pvalue",),
        tuple(
            Setting(f"{metrics} metrics on {n} data sets", partial(ranked, datasets=n, metrics=metrics), 4000)
            for n, metrics in ((3, 4), (10, 4))
        ),
        CAUTIOUS,
    ),
)
