"""Metric against metric: differences of two metrics over systems and over outputs, by every test of the page."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.coverage.case import CAUTIOUS, P_VALUE, WIDER, Case, Hits, Setting, held, rejected
from benchmarks.coverage.worlds import Floats
from correlations.stats.draws import Drawn, Draws, joined, shard_draws
from correlations.stats.nested import Over, output_permutation_tests, system_permutation_tests
from correlations.stats.parameters import ParameterValue
from correlations.stats.resampling import BootstrapDifference, bootstrap_difference
from correlations.stats.significance import williams_test

SPREAD, OWN = 0.4, 0.3  # of systems' qualities, and of what a metric thinks of a system
DIFFICULTY, NOISE = 0.5, 0.8  # of items, and of single outputs' scores and ratings
REPLICATES, PERMUTATIONS, TRIALS, OF_OUTPUTS = 150, 99, 800, 6000


def world(
    rng: np.random.Generator, systems: int, items: int, *, own: float = OWN, alike: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return two metrics of equal worth (2, T, S), mean ratings (T, S), and the true r over these systems (2,).

    Metrics have opinions of systems of their own; ``alike``, the true r of both over these very systems is the same.
    """
    quality = rng.normal(0, SPREAD, systems)
    opinion = rng.normal(0, own, (2, systems))
    if alike:
        line = np.polynomial.Polynomial.fit(quality, opinion[0], 1)(quality)
        opinion = np.stack([opinion[0] - line, line - opinion[0]])
    thought = quality + opinion
    outputs = rng.normal(0, DIFFICULTY, items) + rng.normal(0, 0.5, (systems, items))
    metrics = thought[..., None] + outputs + rng.normal(0, NOISE, (2, systems, items))
    human = quality[:, None] + outputs + rng.normal(0, NOISE, (systems, items))
    return metrics, human, np.array([np.corrcoef(each, quality)[0, 1] for each in thought])


def drawn(rng: np.random.Generator, metrics: Floats, human: Floats) -> Draws:
    everything = np.ones(human.shape, dtype=bool)
    entries = [Drawn(ParameterValue(each[..., None], lambda sums: sums[..., 0], each), everything) for each in metrics]
    return joined([shard_draws(entries, human, seed=int(rng.integers(2**31)), number=0, size=REPLICATES)])


def over_systems(metrics: Floats, human: Floats) -> Floats:
    means = human.mean(axis=1)
    return np.array([np.corrcoef(each.mean(axis=1), means)[0, 1] for each in metrics])


def system_difference(
    rng: np.random.Generator, systems: int, items: int, *, with_systems: bool
) -> tuple[BootstrapDifference, float]:
    """Return the test, and the true difference: over these systems, or over endless ones."""
    metrics, human, true = world(rng, systems, items)
    draws = drawn(rng, metrics, human)
    values = (draws.over_items_and_systems if with_systems else draws.over_items)["pearson"][..., None]
    observed = over_systems(metrics, human)
    truth = 0.0 if with_systems else float(true[0] - true[1])
    return bootstrap_difference(float(observed[0] - observed[1]), *values), truth


def system_interval(rng: np.random.Generator, *, systems: int, items: int, with_systems: bool) -> Hits:
    test, truth = system_difference(rng, systems, items, with_systems=with_systems)
    return held([test.interval.low], truth, [test.interval.high])


def system_null(
    rng: np.random.Generator, *, systems: int, items: int, with_systems: bool = False, own: float = OWN
) -> Hits:
    """Compare metrics of the same r over these systems, or, if systems are drawn, too, over endless ones."""
    metrics, human, _ = world(rng, systems, items, own=own, alike=not with_systems)
    draws = drawn(rng, metrics, human)
    values = (draws.over_items_and_systems if with_systems else draws.over_items)["pearson"][..., None]
    observed = over_systems(metrics, human)
    return rejected([bootstrap_difference(float(observed[0] - observed[1]), *values).p_value])


def system_swaps(rng: np.random.Generator, *, systems: int, items: int, over: Over, own: float) -> Hits:
    metrics, human, _ = world(rng, systems, items, own=own)
    (test,) = system_permutation_tests(metrics, human, [(0, 1)], rng=rng, over=over, n_permutations=PERMUTATIONS)
    return rejected([test.pvalue])


def output_difference(rng: np.random.Generator, items: int) -> BootstrapDifference:
    metrics, human, _ = world(rng, 8, items, own=0.0)
    observed = [float(np.corrcoef(each.ravel(), human.ravel())[0, 1]) for each in metrics]
    return bootstrap_difference(observed[0] - observed[1], *drawn(rng, metrics, human).outputs[..., None])


def output_interval(rng: np.random.Generator, *, items: int) -> Hits:
    interval = output_difference(rng, items).interval
    return held([interval.low], 0.0, [interval.high])


def output_null(rng: np.random.Generator, *, items: int) -> Hits:
    return rejected([output_difference(rng, items).p_value])


def output_swaps(rng: np.random.Generator, *, items: int) -> Hits:
    metrics, human, _ = world(rng, 8, items, own=0.0)
    (test,) = output_permutation_tests(metrics, human, [(0, 1)], rng=rng, n_permutations=PERMUTATIONS)
    return rejected([test.pvalue])


def output_williams(rng: np.random.Generator, *, items: int, easy: float) -> Hits:
    """Let both metrics err by item, too, each in its own way: outputs of an item are then not independent."""
    metrics, human, _ = world(rng, 8, items, own=0.0)
    by_item = rng.normal(0, easy, (2, 1, items))
    r = np.corrcoef(np.stack([human, *(metrics + by_item)]).reshape(3, -1))
    return rejected([williams_test(r[0, 1], r[0, 2], r[1, 2], human.size).pvalue])


def system_williams(rng: np.random.Generator, *, systems: int) -> Hits:
    metrics, human, _ = world(rng, systems, 200)
    r = np.corrcoef(np.stack([human.mean(axis=1), *metrics.mean(axis=2)]))
    return rejected([williams_test(r[0, 1], r[0, 2], r[1, 2], systems, dof="n-2").pvalue])


RESAMPLING, NESTED = "correlations.stats.resampling.bootstrap_difference", "correlations.stats.nested"
NAME = "Metric against metric over"
SIZES = ((10, 100), (20, 400))
THESE = "differs on these systems"


def named(systems: int, items: int) -> str:
    return f"{systems} systems, {items} items"


CASES = (
    Case(
        f"{NAME} systems, bootstrap over items",
        RESAMPLING,
        (),
        tuple(
            Setting(named(t, s), partial(system_interval, systems=t, items=s, with_systems=False), TRIALS)
            for t, s in SIZES
        ),
    ),
    Case(
        f"{NAME} systems, bootstrap over items, p",
        RESAMPLING,
        (),
        (
            *(
                Setting(f"{named(t, s)}, opinions of systems", partial(system_null, systems=t, items=s), TRIALS)
                for t, s in SIZES
            ),
            Setting(
                f"{named(10, 100)}, no opinion of systems",
                partial(system_null, systems=10, items=100, own=0.0),
                TRIALS,
                CAUTIOUS,
            ),
        ),
        P_VALUE,
    ),
    Case(
        f"{NAME} systems, bootstrap over items and systems",
        RESAMPLING,
        (),
        tuple(
            Setting(named(t, s), partial(system_interval, systems=t, items=s, with_systems=True), TRIALS)
            for t, s in SIZES
        ),
        WIDER,
    ),
    Case(
        f"{NAME} systems, bootstrap over items and systems, p",
        RESAMPLING,
        (),
        tuple(
            Setting(named(t, s), partial(system_null, systems=t, items=s, with_systems=True), TRIALS) for t, s in SIZES
        ),
        CAUTIOUS,
    ),
    Case(
        f"{NAME} systems, permutation",
        f"{NESTED}.system_permutation_tests",
        (),
        (
            *(
                Setting(
                    f"of {over}: {named(10, 100)}, no opinion of systems",
                    partial(system_swaps, systems=10, items=100, over=over, own=0.0),
                    TRIALS,
                )
                for over in ("both", "items")
            ),
            *(
                Setting(
                    f"of systems: {named(t, 100)}, opinions of systems",
                    partial(system_swaps, systems=t, items=100, over="systems", own=OWN),
                    TRIALS,
                )
                for t in (8, 20)
            ),
            Setting(
                f"of both: {named(10, 100)}, opinions of systems",
                partial(system_swaps, systems=10, items=100, over="both", own=OWN),
                TRIALS,
                THESE,
            ),
        ),
        P_VALUE,
    ),
    Case(
        f"{NAME} systems, Williams’ test with n − 2",
        "correlations.stats.significance.williams_test",
        (),
        tuple(Setting(f"{t} systems", partial(system_williams, systems=t), 2000) for t in (8, 20)),
        P_VALUE,
    ),
    Case(
        f"{NAME} outputs, bootstrap over items",
        RESAMPLING,
        (),
        tuple(Setting(named(8, s), partial(output_interval, items=s), OF_OUTPUTS) for s in (50, 200)),
    ),
    Case(
        f"{NAME} outputs, bootstrap over items, p",
        RESAMPLING,
        (),
        tuple(Setting(named(8, s), partial(output_null, items=s), OF_OUTPUTS) for s in (50, 200)),
        P_VALUE,
    ),
    Case(
        f"{NAME} outputs, permutation of items",
        f"{NESTED}.output_permutation_tests",
        (),
        tuple(Setting(named(8, s), partial(output_swaps, items=s), TRIALS) for s in (50, 200)),
        P_VALUE,
    ),
    Case(
        f"{NAME} outputs, Williams’ test",
        "correlations.stats.significance.williams_test",
        (),
        (
            Setting(f"{named(8, 100)}, errors by output", partial(output_williams, items=100, easy=0.0), TRIALS),
            Setting(f"{named(8, 100)}, errors by item, too", partial(output_williams, items=100, easy=0.5), TRIALS),
        ),
        "takes outputs for independent",
    ),
)
