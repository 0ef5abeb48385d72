"""Ratings spent where they decide, against as many for every item, simulated from the demo's ratings.

A further rating of an output is one of its three in the demo, or, with the probability that keeps the variances between
and within outputs what the demo's are, one of all its system's. So the truth is known: the mean over the demo's items.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import ttest_1samp

from annotation.allocation.topping_up import RatedMeans, further_ratings, narrowing
from annotation.ranking.forecast import SURE, Separation, pooled_spread
from annotation.ranking.holm import holm_adjusted
from annotation.ranking.means import system_means
from annotation.weighting.agreement import icc

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FILE = Path(__file__).resolve().parent.parent / "demo" / "dstc7" / "dstc7-task2-human-eval-per-judge.tsv.gz"
CRITERION = "Relevance"
SYSTEMS = ("Human", "TeamA", "TeamB", "TeamCE", "TeamD", "TeamF", "TeamG", "Baseline")
SHOWN, ITEMS, RATERS = 5, 100, 30  # of one simulated campaign
BEFORE, MORE, MOST = 3, 3, 24  # ratings of each output: before, added by the even way, and drawn at most
TRIALS = 1000
FORECAST = SHOWN * ITEMS * MORE  # ratings that a forecast looks ahead here


@cache
def demo() -> tuple[Floats, Floats]:
    """Return (S, items, 3) ratings of the systems, and (S,) the probability that a further one is the output's own."""
    with gzip.open(FILE, "rt", encoding="utf-8-sig") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["SystemID"] in SYSTEMS]
    items = {name: code for code, name in enumerate(sorted({row["InstanceID"] for row in rows}))}
    given: list[list[list[float]]] = [[[] for _ in items] for _ in SYSTEMS]
    for row in rows:
        given[SYSTEMS.index(row["SystemID"])][items[row["InstanceID"]]].append(float(row[CRITERION]))
    ratings = np.array(given)
    reliability = np.array([icc(of_system).icc_k for of_system in ratings])
    # The variance between outputs is then reliability times that of their means of three, as it should be.
    return ratings, np.sqrt(np.clip(reliability, 0, 1))


@dataclass
class World:
    """A campaign: all ratings that could be drawn, (T, n, MOST), their raters, and the true means of the systems."""

    ratings: Floats
    raters: Ints
    truth: Floats

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> World:
        ratings, own = demo()
        chosen = rng.choice(len(SYSTEMS), SHOWN, replace=False)
        items = rng.choice(ratings.shape[1], ITEMS, replace=True)  # of endlessly many like these
        values = np.empty((SHOWN, ITEMS, MOST))
        for code, system in enumerate(chosen):
            mine = ratings[system]
            of_output = mine[items[:, None], rng.integers(0, 3, (ITEMS, MOST))]
            of_any = rng.choice(mine.ravel(), (ITEMS, MOST))
            values[code] = np.where(rng.random((ITEMS, MOST)) < own[system], of_output, of_any)
        raters = np.argsort(rng.random((SHOWN, ITEMS, RATERS)), axis=2)[:, :, :MOST]
        return cls(values, raters, ratings[chosen].mean(axis=(1, 2)))

    def rows(self, k: Ints) -> tuple[Ints, Ints, Ints, Floats]:
        """Return system, item, rater and value of the first k ratings of each output, k of shape (T, n)."""
        system, item, number = np.nonzero(np.arange(MOST) < k[:, :, None])
        return system, item, self.raters[system, item, number], self.ratings[system, item, number]

    def differences(self, k: Ints, pair: tuple[int, int]) -> Floats:
        """Return the difference of two systems for each item."""
        means = (self.ratings * (np.arange(MOST) < k[:, :, None])).sum(axis=2) / k
        apart: Floats = means[pair[0]] - means[pair[1]]
        return apart


@dataclass
class Open:
    """The open differences of a world, closest to certainty first, with the p that makes each certain."""

    pairs: list[tuple[int, int]]
    alphas: list[float]
    means: list[RatedMeans] = field(default_factory=list)
    separations: list[Separation] = field(default_factory=list)


def open_differences(world: World, k: Ints) -> Open:
    pairs = list(combinations(range(SHOWN), 2))
    p = np.array([ttest_1samp(world.differences(k, pair), 0).pvalue for pair in pairs])
    adjusted = holm_adjusted(p)
    order = [index for index in np.argsort(p) if adjusted[index] > 0.05]
    found = Open([pairs[index] for index in order], [0.05 / (len(order) - place) for place in range(len(order))])
    system, item, _, value = world.rows(k)
    cell = system * ITEMS + item
    spread = pooled_spread(value, cell, np.repeat(np.arange(SHOWN), ITEMS)) / ITEMS**2
    for pair in found.pairs:
        units = np.concatenate([np.arange(ITEMS) + each * ITEMS for each in pair])
        means = RatedMeans(units, np.arange(units.size), k.ravel()[units].astype(float), spread[units])
        apart = world.differences(k, pair)
        found.means.append(means)
        variance = float(apart.var(ddof=1)) / ITEMS
        found.separations.append(Separation.of(float(apart.mean()), variance, means.variance, ITEMS))
    return found


def together(every: list[RatedMeans]) -> RatedMeans:
    sizes = np.cumsum([0, *(means.ratings.size for means in every)])
    return RatedMeans(
        np.concatenate([means.unit for means in every]),
        np.concatenate([means.mean + start for means, start in zip(every, sizes, strict=False)]),
        np.concatenate([means.ratings for means in every]),
        np.concatenate([means.spread / means.variance for means in every]),
    )


def topped_up(means: RatedMeans, k: Ints, budget: int, seed: int) -> Ints:
    further = further_ratings(means, budget, wanted=k.ravel(), floor=BEFORE, most=MOST, seed=seed)
    return k + further.reshape(k.shape)


def half_widths(world: World, k: Ints, pairs: list[tuple[int, int]]) -> float:
    """Return the mean half-width of the pairs' intervals over items."""
    ends = [ttest_1samp(world.differences(k, pair), 0).confidence_interval() for pair in pairs]
    return float(np.mean([(each.high - each.low) / 2 for each in ends]))


def fewest(world: World, k: Ints, means: RatedMeans, pairs: list[tuple[int, int]], target: float, seed: int) -> int:
    """Return the fewest ratings, in steps of ten, with which the measured half-width is at most the target."""
    low, high = 0, FORECAST
    while high - low > 10:
        middle = (low + high) // 2
        reached = half_widths(world, topped_up(means, k, middle, seed), pairs) <= target
        low, high = (low, middle) if reached else (middle, high)
    return high


@dataclass
class Results:
    nearest: list[float] = field(default_factory=list)  # ratings, as a share of the even way's
    every: list[float] = field(default_factory=list)
    held_question: list[bool] = field(default_factory=list)
    held_all: list[bool] = field(default_factory=list)
    held_means: list[bool] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)  # of the difference in question, in standard errors
    forecast: list[float] = field(default_factory=list)  # chances
    came_true: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)  # measured half-width over the forecast


def trial(rng: np.random.Generator, results: Results, seed: int) -> None:
    world = World.drawn(rng)
    k = np.full((SHOWN, ITEMS), BEFORE)
    known = open_differences(world, k)
    if not known.pairs:
        return
    even, budget = k + MORE, k.size * MORE
    first, pair = known.means[0], known.pairs[0]
    results.nearest.append(fewest(world, k, first, [pair], half_widths(world, even, [pair]), seed) / budget)
    combined = together(known.means)
    results.every.append(fewest(world, k, combined, known.pairs, half_widths(world, even, known.pairs), seed) / budget)
    _coverage(world, topped_up(first, k, budget // 3, seed), pair, results)
    _forecast(world, k, known, results, seed)


def _coverage(world: World, k: Ints, pair: tuple[int, int], results: Results) -> None:
    system, item, rater, value = world.rows(k)
    rng = np.random.default_rng(1)
    means = system_means(system, item, rater, value, rng=rng, n_systems=SHOWN, ends=(1, 5), permutations=1)
    low, high, truth = means.differences.low, means.differences.high, world.truth
    for i, j in combinations(range(SHOWN), 2):
        is_held = bool(low[i, j] <= truth[i] - truth[j] <= high[i, j])
        results.held_all.append(is_held)
        if (i, j) == pair:
            results.held_question.append(is_held)
            error = means.differences.mean[i, j] - (truth[i] - truth[j])
            ahead = np.sign(world.differences(np.full_like(k, BEFORE), pair).mean()) or 1.0
            results.errors.append(float(ahead * error / ((high[i, j] - low[i, j]) / 2 / 1.984)))
    results.held_means += (means.low <= truth).__and__(truth <= means.high).tolist()


def _forecast(world: World, k: Ints, known: Open, results: Results, seed: int) -> None:
    room = np.full(k.size, MOST - BEFORE)
    more = k.size // 2
    for means, apart, pair in zip(known.means, known.separations, known.pairs, strict=True):
        noise = means.variance - sum(gain for _, gain in islice(narrowing(means, room, seed=seed), more))
        measured = half_widths(world, topped_up(means, k, more, seed), [pair])
        results.widths.append(measured / apart.half_width(noise=noise))
    for means, apart, alpha, pair in zip(known.means, known.separations, known.alphas, known.pairs, strict=True):
        gains = [gain for _, gain in islice(narrowing(means, room, seed=seed), FORECAST)]
        needed, chance = apart.ratings_needed(gains, planned=means.variance, alpha=alpha)
        if not needed:
            continue
        then = topped_up(means, k, needed, seed)
        results.forecast.append(chance)
        results.came_true.append(bool(ttest_1samp(world.differences(then, pair), 0).pvalue <= alpha))


def run(trials: int = TRIALS) -> list[dict[str, Any]]:
    results, rng = Results(), np.random.default_rng(20)
    for seed in range(trials):
        trial(rng, results, seed)
    even = SHOWN * ITEMS * MORE
    campaign = f"{SHOWN} of the demo's systems, {ITEMS} items, {BEFORE} ratings, {trials:,} times"
    return [
        _saved(
            f"Ratings that narrow the nearest open difference as {MORE} more of every output do", results.nearest, even
        ),
        _saved(f"Ratings that narrow every open difference as {MORE} more of every output do", results.every, even),
        _share(
            "Interval of the difference topped up for holds the truth", results.held_question, campaign, "93 to 97 %"
        ),
        _share("Intervals of all differences, then", results.held_all, campaign, "93 to 97 %"),
        _share("Intervals of systems' means, then", results.held_means, campaign, "93 to 97 %"),
        {
            "name": "Error of the difference topped up for, in standard errors, towards the system that was ahead",
            "value": float(np.mean(results.errors)),
            "unit": "",
            "against": f"± {1.96 * np.std(results.errors) / np.sqrt(len(results.errors)):.2f}; {campaign}",
            "target": "at most 0.25 away from 0",
        },
        {
            "name": "Half-width measured after topping up, over the forecast one",
            "value": float(np.mean(results.widths)),
            "unit": "",
            "against": f"{len(results.widths):,} open differences",
            "target": "0.97 to 1.03",
        },
        _share(
            "Differences certain after the forecast number of ratings",
            results.came_true,
            f"forecast {100 * np.mean(results.forecast):.0f} %, at least {100 * SURE:.0f} %",
            "",
        ),
    ]


def _saved(name: str, shares: list[float], even: int) -> dict[str, Any]:
    mean, error = np.mean(shares), 1.96 * np.std(shares, ddof=1) / np.sqrt(len(shares))
    saved = f"{100 * (1 - mean):.0f} % ± {100 * error:.1f} fewer"
    return {
        "name": name,
        "value": mean * even,
        "unit": "ratings",
        "against": f"{even:,} ratings, {MORE} more of every output: {saved}",
        "ratio": float(mean),
        "target": "under 1",
    }


def _share(name: str, hits: list[bool], against: str, target: str) -> dict[str, Any]:
    share = np.mean(hits)
    error = 196 * np.sqrt(share * (1 - share) / len(hits))
    return {
        "name": name,
        "value": 100 * float(share),
        "unit": "%",
        "against": f"± {error:.1f}; {against}",
        "target": target,
    }
