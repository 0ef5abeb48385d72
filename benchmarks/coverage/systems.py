"""Intervals of systems' mean ratings, with other items and other raters in every trial."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from annotation.weighting.systems import system_means
from annotation.weighting.table import RatingTable
from benchmarks.coverage.case import Case, Hits, Setting, held, rejected
from benchmarks.coverage.worlds import Floats, qualities, raters
from metrics.scoring.comparisons import compare_by_permutation

OFFSETS = np.array([-0.5, 0.0, 0.4])  # of the systems
POPULATION = 400_000
TRIALS = 200


@cache
def truth() -> Floats:
    """Return the mean points of each system over very many items and raters."""
    rng = np.random.default_rng(1)
    people, quality = raters(POPULATION, rng), qualities(POPULATION, rng)
    means: Floats = np.array([people.answers(quality + o, np.arange(POPULATION), rng).mean() for o in OFFSETS])
    return means


def trial(rng: np.random.Generator, *, n_items: int, n_raters: int, k: int) -> Hits:
    """Let k of the raters rate every system's output of each item."""
    people, quality = raters(n_raters, rng), qualities(n_items, rng)
    chosen = rng.random((n_items, n_raters)).argsort(axis=1)[:, :k]
    shape = (len(OFFSETS), n_items, k)
    rater = np.broadcast_to(chosen, shape)
    values = people.answers(np.broadcast_to((quality + OFFSETS[:, None])[:, :, None], shape), rater, rng)
    system, item, _ = np.indices(shape)
    table = RatingTable(item.ravel(), rater.ravel(), values.ravel(), n_items, n_raters)
    means = system_means(table, system.ravel(), n_systems=len(OFFSETS), replicates=500, seed=int(rng.integers(2**31)))
    return held(means.low, truth(), means.high)


def equal(rng: np.random.Generator, *, n_items: int) -> Hits:
    """Compare two systems that are equally good, by three raters' ratings of each item."""
    people, quality = raters(10, rng), qualities(n_items, rng)
    rater = np.tile(np.arange(3), (2, n_items, 1))
    values = people.answers(np.broadcast_to(quality[:, None], rater.shape), rater, rng)
    return rejected([pair.p_value for pair in compare_by_permutation(values.mean(axis=2))])


CASES = (
    Case(
        "Mean rating of a system",
        "annotation.weighting.systems.system_means",
        ("SystemMeans.low",),
        tuple(
            Setting(
                f"{n_items} items, {k} of {n_raters} raters each, {len(OFFSETS)} systems",
                partial(trial, n_items=n_items, n_raters=n_raters, k=k),
                TRIALS,
            )
            for n_items, n_raters, k in ((50, 5, 5), (50, 30, 3), (300, 10, 3), (300, 30, 3))
        ),
    ),
    Case(
        "Difference of two systems' mean ratings, p",
        "metrics.scoring.comparisons.compare_by_permutation",
        ("PairOfSystems.p_value",),
        tuple(Setting(f"{n_items} items, 3 raters", partial(equal, n_items=n_items), 500) for n_items in (20, 100)),
        "p-value",
    ),
)
