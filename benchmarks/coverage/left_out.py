"""Intervals of how far a rater, and a metric in the rater's place, agree with the other raters.

The truth is that of the same raters on endless items.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.case import Case, Hits, Setting, held
from benchmarks.coverage.worlds import HIGH, LOW, Floats, Raters, raters
from correlations.stats.ceiling import leave_one_rater_out
from correlations.stats.closeness import GivenRatings
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.left_out_ends import left_out_ends
from correlations.stats.ranks import Ints

ENDLESS = 20_000  # items
CROWDS = 20
OUTPUTS = 2  # of each item: what makes it hard is hard for both
DIFFICULTY, OWN, NOISE = 0.7, 0.7, 0.7  # spread of items and of single outputs, and of a metric's scores of these


class Design(NamedTuple):
    items: int
    raters: int
    k: int  # ratings of each output
    samples: int = 25  # of each crowd's ratings
    crowds: int = CROWDS

    def __str__(self) -> str:
        rated = f"a panel of {self.k}" if self.k == self.raters else f"{self.k} of {self.raters} raters each"
        return f"{self.items} items, {OUTPUTS} outputs each, {rated}"


class Rated(NamedTuple):
    given: GivenRatings
    scores: Floats  # (1, N)
    items: Ints  # (N,)


def rated(rng: np.random.Generator, crowd: Raters, n_items: int, k: int) -> Rated:
    items = np.repeat(np.arange(n_items), OUTPUTS)
    middle, n_raters = (LOW + HIGH) / 2, len(crowd.bias)
    quality = middle + rng.normal(0, DIFFICULTY, n_items)[items] + rng.normal(0, OWN, items.size)
    rater = rng.random((items.size, n_raters)).argsort(axis=1)[:, :k]
    value = crowd.answers(np.repeat(quality[:, None], k, axis=1), rater, rng)
    output = np.repeat(np.arange(items.size), k)
    order = np.lexsort((output, rater.ravel()))
    given = GivenRatings(n_raters, items.size, rater.ravel()[order], output[order], value.ravel()[order])
    return Rated(given, (quality + rng.normal(0, NOISE, items.size))[None], items)


def trial(rng: np.random.Generator, *, design: Design, key: str) -> Hits:
    """Return whether the intervals hold: those of a rater, then of the metric, then of their difference."""
    crowd = raters(design.raters, rng)
    endless = rated(rng, crowd, ENDLESS, design.k)
    (means,) = leave_one_rater_out(endless.given, endless.scores, coefficients=(key,))
    truth = (means.rater[key], means.metric[key], means.metric[key] - means.rater[key])
    samples = (rated(rng, crowd, design.items, design.k) for _ in range(design.samples))
    found = [left_out_ends(*sample, coefficient=key)[0] for sample in samples]
    ends = np.array([[each.rater, each.metric, each.difference] for each in found])
    return held(ends[..., 0], truth, ends[..., 1]).T.ravel()


CASES = (
    Case(
        "Agreement of a rater and of a metric with the other raters, and their difference",
        "correlations.stats.left_out_ends.left_out_ends",
        (),
        tuple(
            Setting(f"{COEFFICIENTS[key].symbol}, {design}", partial(trial, design=design, key=key), design.crowds)
            for design in (
                Design(20, 3, 3),
                Design(60, 3, 3),
                Design(100, 10, 3),
                Design(400, 40, 3, samples=5, crowds=70),
            )
            for key in ("spearman", "pearson", "kendall")
        ),
        "95% interval, these raters",
    ),
)
