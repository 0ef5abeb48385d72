"""What a metric is worth: the interval of a mean rating with its help, and the test in place of each rater."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.coverage.case import Case, Hits, Setting, held, rejected
from correlations.stats.helped import regression_difference
from correlations.stats.offsets import same_offset_p
from correlations.stats.worth import ENOUGH_ITEMS, RegressionEstimate, alternative_annotator_test, regression_estimate

SCORED = 1000  # outputs with a score
TRUTH, APART, RATERS, TRIALS = 3.0, 0.4, 4, 2000


def estimated(rng: np.random.Generator, n: int, *, telling: float, curved: bool) -> RegressionEstimate:
    """Rate n outputs by three raters on five points; the metric tells this share of the spread between outputs."""
    scores, own = rng.normal(size=(2, SCORED))
    quality = np.sqrt(telling) * scores + np.sqrt(1 - telling) * own
    rated = TRUTH + quality[:n] + rng.normal(0, 0.8, (3, n)).mean(axis=0)
    shown = np.exp(scores) if curved else scores
    return regression_estimate(rated, shown[:n], shown)


def interval(rng: np.random.Generator, *, n: int, telling: float, curved: bool = False) -> Hits:
    ends = estimated(rng, n, telling=telling, curved=curved).interval
    return held([ends.low], TRUTH, [ends.high])


def difference(rng: np.random.Generator, *, n: int, telling: float) -> Hits:
    """Compare two systems over the same items: what makes an item hard is hard for both, and shows in the scores."""
    hard = rng.normal(0, 1, SCORED)
    shared, own = rng.normal(0, 0.7, (2, 2, SCORED))
    quality = np.array([[TRUTH + APART], [TRUTH]]) + hard + np.sqrt(telling) * shared + np.sqrt(1 - telling) * own
    rated = np.full(quality.shape, np.nan)
    rated[:, :n] = quality[:, :n] + rng.normal(0, 0.8, (3, 2, n)).mean(axis=0)
    found = regression_difference(*rated, *(shared + 0.5 * hard))
    return held([found.interval.low], APART, [found.interval.high]) if found else np.array([np.nan])


def alone(rng: np.random.Generator, *, n: int) -> Hits:
    ends = estimated(rng, n, telling=0.5, curved=False).mean_interval
    return held([ends.low], TRUTH, [ends.high])


def as_good_as_a_rater(rng: np.random.Generator, *, n: int) -> Hits:
    """Test a judge who is one of the raters in all but name: without a margin its share is the rater's."""
    quality = rng.normal(3, 1, n)
    everyone = np.clip(np.rint(quality + rng.normal(0, 0.8, (RATERS + 1, n))), 1, 5)
    return rejected(alternative_annotator_test(everyone[1:], everyone[0], epsilon=0.0).p_values[:1])


def even(rng: np.random.Generator, *, systems: int, n: int) -> Hits:
    """Judge outputs with an error of any system alike, on whole points; items differ in how far off the judge is."""
    quality = rng.normal(3, 1, (systems, n))
    rated, judged = (np.clip(np.rint(quality + rng.normal(0, 0.8, quality.shape)), 1, 5) for _ in range(2))
    offsets = judged - rated + rng.normal(0, 0.5, n)
    return rejected(np.array([same_offset_p(offsets, rng=rng, n_shuffles=199)]))


SETTINGS = ((10, 0.5), (30, 0.5), (100, 0.8), (30, 0.0))
CASES = (
    Case(
        "Mean rating with the help of a metric",
        "correlations.stats.worth.regression_estimate",
        ("RegressionEstimate.interval", "RegressionEstimate.standard_error"),
        (
            *(
                Setting(
                    f"{n} of {SCORED} outputs rated, the metric tells {telling:.0%} of the spread",
                    partial(interval, n=n, telling=telling),
                    TRIALS,
                )
                for n, telling in SETTINGS
            ),
            Setting(
                f"100 of {SCORED} outputs rated, scores on an exponential scale",
                partial(interval, n=100, telling=0.5, curved=True),
                TRIALS,
            ),
        ),
    ),
    Case(
        "Difference of two systems with the help of a metric",
        "correlations.stats.helped.regression_difference",
        ("RegressionEstimate.interval",),
        tuple(
            Setting(
                f"{n} of {SCORED} items rated, the metric tells {telling:.0%} of what is not shared",
                partial(difference, n=n, telling=telling),
                TRIALS,
            )
            for n, telling in ((10, 0.5), (50, 0.8))
        ),
    ),
    Case(
        "Mean rating without a metric, beside it",
        "correlations.stats.worth.regression_estimate",
        ("RegressionEstimate.mean_interval",),
        tuple(Setting(f"{n} outputs rated", partial(alone, n=n), TRIALS) for n in (10, 100)),
    ),
    Case(
        "In place of a rater, p of one rater",
        "correlations.stats.worth.alternative_annotator_test",
        ("AlternativeAnnotatorTest.p_values",),
        tuple(
            Setting(f"{n} items, {RATERS} raters, ε = 0", partial(as_good_as_a_rater, n=n), 4000)
            for n in (ENOUGH_ITEMS, 100)
        ),
        "p-value",
    ),
    Case(
        "That the system that a judge favours most is so by chance",
        "correlations.stats.offsets.same_offset_p",
        (),
        tuple(
            Setting(f"{systems} systems, {n} items", partial(even, systems=systems, n=n), 4000)
            for systems, n in ((4, 30), (2, 200))
        ),
        "p-value",
    ),
)
