"""Intervals and tests of studies: metrics against ratings, over units, systems and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from benchmarks.coverage.case import CAUTIOUS, WIDER, Case, Hits, Setting, held, rejected
from benchmarks.coverage.worlds import Floats
from correlations.stats.parameters import ParameterValue, bootstrap_weights, curves, segment_level
from correlations.stats.resampling import (
    BootstrapDifference,
    RaterRatings,
    RowBootstrap,
    bootstrap_difference,
    replicates_interval,
    study_bootstrap,
)
from correlations.stats.sampled_units import StudyResult, sampled_unit_correlation
from correlations.stats.significance import paired_permutation_test, williams_test
from correlations.stats.sources import Redraw, Sources, source_bootstrap
from correlations.stats.system_level import system_level_correlation
from correlations.stats.units import StudyMetric, UnitSampling

MEANS = np.array([0.0, 0.1, 0.2, 0.3])  # of the systems
PAIRS = [(0, 1), (0, 2), (1, 3), (2, 3)]
UNIT, REPLICATES, ASSIGNMENTS = 25, 100, 20
RATERS, RATINGS = 30, 3
NOISE = (0.8, 0.8)  # of two metrics of equal worth


def metric(name: str, scores: Floats) -> StudyMetric:
    return StudyMetric(name, scores[..., None], lambda sums: sums[..., 0])


def world(rng: np.random.Generator, n: int) -> tuple[list[StudyMetric], Floats, RaterRatings]:
    """Return two metrics, mean ratings and single ratings of n items: hard items are hard for every system."""
    shape = len(MEANS), n
    quality = MEANS[:, None] + rng.normal(0, 0.5, n) + rng.normal(0, 0.7, shape)
    metrics = [metric(name, quality + rng.normal(0, noise, shape)) for name, noise in zip("ab", NOISE, strict=True)]
    severity = rng.normal(0, 0.3, RATERS)
    rater = rng.random((*shape, RATERS)).argpartition(RATINGS, axis=-1)[..., :RATINGS]
    values = quality[..., None] + severity[rater] + rng.normal(0, 0.7, rater.shape)
    system, segment, _ = np.indices(rater.shape)
    ratings = RaterRatings(rater.ravel(), system.ravel(), segment.ravel(), values.ravel())
    return metrics, values.mean(axis=-1), ratings


def study(metrics: list[StudyMetric], human: Floats, seed: int, assignments: int = ASSIGNMENTS) -> StudyResult:
    sampling = UnitSampling(unit_size=UNIT, n_assignments=assignments, seed=seed, coefficients=("spearman",))
    return sampled_unit_correlation(metrics, human, PAIRS, sampling)


@cache
def truth() -> float:
    """Return the coefficient on endless items; metrics of equal worth have the same."""
    rng = np.random.default_rng(1)
    results = [study(*world(rng, 20_000)[:2], seed=seed, assignments=2) for seed in range(3)]
    return float(np.mean([row.coefficients["spearman"].mean for result in results for row in result.rows]))


def bootstrapped(
    rng: np.random.Generator, n: int, *, with_raters: bool = False
) -> tuple[StudyResult, tuple[RowBootstrap, ...]]:
    metrics, human, ratings = world(rng, n)
    seed = int(rng.integers(2**31))
    sampling = UnitSampling(unit_size=UNIT, seed=seed, coefficients=("spearman",))
    rows = study_bootstrap(
        metrics, human, PAIRS, sampling, raters=ratings if with_raters else None, n_replicates=REPLICATES
    )
    return study(metrics, human, seed), rows


def over_items(rng: np.random.Generator, *, n: int, with_raters: bool = False) -> Hits:
    _, rows = bootstrapped(rng, n, with_raters=with_raters)
    return holding_truth(rows)


def weighted_world(rng: np.random.Generator, n: int) -> tuple[StudyMetric, Floats, RaterRatings, Redraw]:
    """Return a metric that weighs one reference of each item by its ratings, and the ratings and draws of raters."""
    (matches, _), human, ratings = world(rng, n)
    severity, rater = rng.normal(0, 0.3, RATERS), rng.random((n, RATERS)).argpartition(RATINGS, axis=-1)[:, :RATINGS]
    values = 1 + rng.normal(0, 0.3, n)[:, None] + severity[rater] + rng.normal(0, 0.7, rater.shape)

    def under(times: Floats) -> StudyMetric:
        counts = times[rater].sum(axis=1)
        weights = (times[rater] * values).sum(axis=1) / np.maximum(counts, 1)
        return replace(matches, statistics=matches.statistics * weights[:, None], valid=counts > 0)

    def redraw(rng: np.random.Generator, size: int) -> dict[int, list[StudyMetric]]:
        drawn = rng.multinomial(RATERS, np.full(RATERS, 1 / RATERS), size).astype(np.float64)
        return {0: [under(times) for times in drawn]}

    return under(np.ones(RATERS)), human, ratings, redraw


@cache
def weighted_truth() -> float:
    rng = np.random.default_rng(2)
    worlds = [weighted_world(rng, 2000)[:2] for _ in range(40)]
    results = [study([row], human, seed, assignments=2) for seed, (row, human) in enumerate(worlds)]
    return float(np.mean([result.rows[0].coefficients["spearman"].mean for result in results]))


def over_all_sources(rng: np.random.Generator, *, n: int) -> Hits:
    row, human, raters, redraw = weighted_world(rng, n)
    sampling = UnitSampling(unit_size=UNIT, seed=int(rng.integers(2**31)), coefficients=("spearman",))
    sources = Sources(True, raters, redraw)
    (drawn,) = source_bootstrap([row], human, PAIRS, sampling, sources, n_replicates=REPLICATES)
    ends = drawn.summaries["spearman"].interval
    return held([ends.low], weighted_truth(), [ends.high])


def over_rated_items(rng: np.random.Generator, *, n: int, rated: float, alike: bool) -> Hits:
    """Hold the truth where a share of the items, or of each system's outputs, is rated."""
    metrics, human, _ = world(rng, n)
    seed = int(rng.integers(2**31))
    unrated = rng.random((1 if alike else len(MEANS), n)) >= rated
    part = np.where(np.broadcast_to(unrated, human.shape), np.nan, human)
    sampling = UnitSampling(unit_size=UNIT, seed=seed, coefficients=("spearman",))
    return holding_truth(study_bootstrap(metrics, part, PAIRS, sampling, n_replicates=REPLICATES))


def holding_truth(rows: Sequence[RowBootstrap]) -> Hits:
    intervals = [row.summaries["spearman"].interval for row in rows]
    return held([each.low for each in intervals], truth(), [each.high for each in intervals])


def paper(rng: np.random.Generator, *, n: int) -> Hits:
    metrics, human, _ = world(rng, n)
    intervals = [
        row.coefficients["spearman"].paper_interval for row in study(metrics, human, int(rng.integers(2**31))).rows
    ]
    return held([each.low for each in intervals], truth(), [each.high for each in intervals])


def compared(rng: np.random.Generator, n: int) -> BootstrapDifference:
    result, rows = bootstrapped(rng, n)
    first, second = (row.coefficients["spearman"].mean for row in result.rows)
    return bootstrap_difference(first - second, *(row.replicates["spearman"] for row in rows))


def difference(rng: np.random.Generator, *, n: int) -> Hits:
    result = compared(rng, n)
    return held([result.interval.low], 0.0, [result.interval.high])


def difference_null(rng: np.random.Generator, *, n: int) -> Hits:
    return rejected([compared(rng, n).p_value])


def parameter_value(rng: np.random.Generator, systems: int, n: int) -> tuple[ParameterValue, Floats, float]:
    """Return a metric's scores, ratings, and the true correlation over these systems."""
    means = rng.normal(0, 0.4, systems)
    worth = means + rng.normal(0, 0.3, systems)
    scores = worth[:, None] + rng.normal(0, 0.8, (systems, n))
    human = means[:, None] + rng.normal(0, 0.8, (systems, n))
    value = ParameterValue(scores[..., None], lambda sums: sums[..., 0], scores)
    return value, human, float(np.corrcoef(worth, means)[0, 1])


def curve(rng: np.random.Generator, *, n: int) -> Hits:
    value, human, true = parameter_value(rng, 8, n)
    outputs = np.ones(human.shape, dtype=bool)
    drawn = bootstrap_weights(outputs, 300, int(rng.integers(2**31)))
    replicates = curves([value], human, outputs, drawn, coefficients=("pearson",)).system["pearson"][:, 0]
    ends = replicates_interval(replicates).interval
    return held([ends.low], true, [ends.high])


def system_null(rng: np.random.Generator, *, n: int) -> Hits:
    result = system_level_correlation(rng.normal(size=n), rng.normal(size=n), [str(i) for i in range(n)])
    return rejected([result.pvalues["pearson"]])


def segment_null(rng: np.random.Generator, *, n: int) -> Hits:
    scores, human = rng.normal(size=(2, 4, n))
    value = ParameterValue(scores[..., None], lambda sums: sums[..., 0], scores)
    return rejected([segment_level(value, human, np.ones(human.shape, dtype=bool)).pvalues["pearson"]])


def three(rng: np.random.Generator, n: int) -> Floats:
    """Return ratings and two metrics of equal worth."""
    human, shared = rng.normal(size=(2, n))
    return np.stack([human, *(human + shared + rng.normal(size=(2, n)))])


def williams(rng: np.random.Generator, *, n: int) -> Hits:
    r = np.atleast_2d(np.corrcoef(three(rng, n)))
    return rejected([williams_test(r[0, 1], r[0, 2], r[1, 2], n).pvalue])


def permuted(rng: np.random.Generator, *, n: int) -> Hits:
    human, first, second = three(rng, n)
    return rejected([paired_permutation_test(first, second, human, rng=rng, n_permutations=199).pvalue])


UNITS = f"4 systems, 4 pairs, units of {UNIT}"
RESAMPLING, SIGNIFICANCE = "correlations.stats.resampling", "correlations.stats.significance"
BOOTSTRAP = f"{RESAMPLING}.study_bootstrap"
CASES = (
    Case(
        "Coefficient of a study, bootstrap over items",
        BOOTSTRAP,
        ("BootstrapSummary.interval", "BootstrapSummary.standard_error"),
        (
            *(Setting(f"{n} items, {UNITS}", partial(over_items, n=n), 400) for n in (300, 1000)),
            Setting(
                f"300 of 1500 items rated, {UNITS}", partial(over_rated_items, n=1500, rated=0.2, alike=True), 5000
            ),
            Setting(
                f"half of each system's outputs of 1200 items rated, {UNITS}",
                partial(over_rated_items, n=1200, rated=0.5, alike=False),
                1200,
            ),
        ),
    ),
    Case(
        "Coefficient of a study, bootstrap over items and raters",
        BOOTSTRAP,
        (),
        (
            Setting(
                f"300 items, {RATINGS} of {RATERS} raters each, {UNITS}",
                partial(over_items, n=300, with_raters=True),
                100,
            ),
        ),
        "range of resamples",
    ),
    Case(
        "Coefficient of a study, draws of items and of raters of outputs and references",
        "correlations.stats.sources.source_bootstrap",
        (),
        (Setting(f"300 items, {RATINGS} of {RATERS} raters each, {UNITS}", partial(over_all_sources, n=300), 100),),
        "range of draws",
    ),
    Case(
        "Coefficient of a study, paper's interval",
        "correlations.stats.intervals.fisher_z_interval",
        ("CoefficientSummary.paper_interval", "Coefficient.interval", "correlations.Interval.low"),
        (Setting(f"300 items, {UNITS}", partial(paper, n=300), 300),),
        "paper's interval",
    ),
    Case(
        "Difference of two metrics",
        f"{RESAMPLING}.bootstrap_difference",
        ("BootstrapDifference.interval", "BootstrapDifference.standard_error"),
        (
            Setting(f"300 items, {UNITS}", partial(difference, n=300), 1000, WIDER),
            Setting(f"1000 items, {UNITS}", partial(difference, n=1000), 4000),
        ),
    ),
    Case(
        "Difference of two metrics, p",
        f"{RESAMPLING}.bootstrap_difference",
        ("BootstrapDifference.p_value",),
        (
            Setting(f"300 items, {UNITS}", partial(difference_null, n=300), 1000, CAUTIOUS),
            Setting(f"1000 items, {UNITS}", partial(difference_null, n=1000), 4000),
        ),
        "p-value",
    ),
    Case(
        "r over systems at a parameter's value",
        f"{RESAMPLING}.replicates_interval",
        (),
        tuple(Setting(f"8 systems, {n} items", partial(curve, n=n), 400) for n in (100, 1000)),
        "range of resamples",
    ),
    Case(
        "r over systems, p",
        "correlations.stats.system_level.system_level_correlation",
        ("SystemLevelResult.pvalues", "Coefficient.pvalue"),
        (Setting("8 systems", partial(system_null, n=8), 3000),),
        "p-value",
    ),
    Case(
        "r over rated outputs, p",
        "correlations.stats.parameters.segment_level",
        ("SegmentLevelResult.pvalues",),
        (Setting("4 systems, 50 items, outputs independent", partial(segment_null, n=50), 3000),),
        "p-value",
    ),
    Case(
        "Williams' test",
        f"{SIGNIFICANCE}.williams_test",
        ("Comparison.pvalue",),
        tuple(Setting(f"{n} observations", partial(williams, n=n), 4000) for n in (10, 50)),
        "p-value",
    ),
    Case(
        "Paired permutation of two metrics",
        f"{SIGNIFICANCE}.paired_permutation_test",
        ("Comparison.pvalue",),
        (Setting("20 observations", partial(permuted, n=20), 1000),),
        "p-value",
    ),
)
