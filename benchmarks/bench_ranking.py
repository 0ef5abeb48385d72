"""Tie calibration, soft pairwise accuracy, permutation and bootstrap against loops, on a shared task's numbers.

The loop of tie calibration keeps, of every pair and item, the counts that mt_metrics_eval's tau_optimization.py keeps;
others take one pair of systems, or one permutation with scipy's coefficient, after another. System-level tests and
intervals are compared with nlpstats, which publishes its loops.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from itertools import combinations
from operator import attrgetter
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from nlpstats.correlations.bootstrap import bootstrap
from nlpstats.correlations.permutation import permutation_test
from scipy import stats

from correlations.stats.nested import Over, nested_bootstrap, system_permutation_test
from correlations.stats.ranking import soft_pairwise_accuracy, tie_calibrated_accuracy
from correlations.stats.significance import paired_permutation_test

Floats = npt.NDArray[np.float64]
ITEMS, SYSTEMS, DRAWS = 500, 20, 1000
OVER: dict[Over, str] = {"items": "inputs", "systems": "systems", "both": "both"}  # and what nlpstats calls it
REPEATS = 5


def outputs() -> tuple[Floats, Floats]:
    """Return scores and ratings (items, systems): ratings of whole points tie a quarter of the pairs."""
    rng = np.random.default_rng(1)
    quality = rng.normal(size=(ITEMS, SYSTEMS)) + np.linspace(-0.5, 0.5, SYSTEMS)
    return quality + rng.normal(size=quality.shape), np.clip(
        np.rint(3 + quality + rng.normal(size=quality.shape)), 1, 5
    )


class Counts:
    """Pairs of one item, by what raters and metric say of them."""

    def __init__(self, concordant: int, discordant: int, by_raters: int, by_metric: int, by_both: int) -> None:
        self.concordant, self.discordant = concordant, discordant
        self.by_raters, self.by_metric, self.by_both = by_raters, by_metric, by_both  # tied
        self.pairs = concordant + discordant + by_raters + by_metric + by_both

    def add(self, other: Counts, sign: int) -> None:
        self.concordant += sign * other.concordant
        self.discordant += sign * other.discordant
        self.by_raters += sign * other.by_raters
        self.by_metric += sign * other.by_metric
        self.by_both += sign * other.by_both
        self.pairs += sign * other.pairs

    def accuracy(self) -> float:
        return (self.concordant + self.by_both) / self.pairs


class Pair:
    """Two systems' outputs for one item: what they count, and what they count once the metric ties them."""

    def __init__(self, item: int, scores: tuple[float, float], ratings: tuple[float, float]) -> None:
        tied, same = ratings[0] == ratings[1], scores[0] == scores[1]
        right = (scores[0] > scores[1]) == (ratings[0] > ratings[1])
        self.item, self.difference = item, abs(scores[0] - scores[1])
        self.counts = Counts(
            not tied and not same and right,
            not tied and not same and not right,
            tied and not same,
            same and not tied,
            tied and same,
        )
        self.tied = Counts(0, 0, 0, not tied, tied)


def calibrated_by_a_loop(metric: Floats, human: Floats) -> tuple[float, float]:
    """Tie the pairs one after another, the nearest scores first, and keep the best mean over items."""
    pairs, items = [], []
    for item, (scores, ratings) in enumerate(zip(metric, human, strict=True)):
        items.append(Counts(0, 0, 0, 0, 0))
        for i, j in combinations(range(len(scores)), 2):
            pair = Pair(item, (scores[i], scores[j]), (ratings[i], ratings[j]))
            items[item].add(pair.counts, 1)
            pairs.append(pair)
    total = sum(counts.accuracy() for counts in items)
    thresholds, totals = [0.0], [total]
    pairs.sort(key=attrgetter("difference"))
    for pair in pairs:
        counts = items[pair.item]
        total -= counts.accuracy()
        counts.add(pair.counts, -1)
        counts.add(pair.tied, 1)
        total += counts.accuracy()
        if thresholds[-1] == pair.difference:
            totals[-1] = total
        else:
            thresholds.append(pair.difference)
            totals.append(total)
    highest = max(totals)
    best = next(place for place, each in enumerate(totals) if each > highest - 1e-9)
    return totals[best] / len(metric), float(thresholds[best])


def soft_by_a_loop(metric: Floats, human: Floats, rng: np.random.Generator) -> float:
    """Permute every pair of systems by itself."""
    differences = []
    for a, b in combinations(range(len(metric)), 2):
        p_values = []
        for side in (metric, human):
            apart = side[a] - side[b]
            as_large = sum((apart * rng.choice((-1, 1), apart.size)).sum() >= apart.sum() for _ in range(DRAWS))
            p_values.append(as_large / DRAWS)
        differences.append(abs(p_values[0] - p_values[1]))
    return 1 - float(np.mean(differences))


def permuted_by_a_loop(first: Floats, second: Floats, human: Floats, rng: np.random.Generator) -> float:
    """Swap the labels of units and correlate anew, one permutation after another."""
    first, second = stats.zscore(first), stats.zscore(second)
    observed = stats.pearsonr(first, human).statistic - stats.pearsonr(second, human).statistic
    as_extreme = 0
    for _ in range(DRAWS):
        swap = rng.random(first.size) < 0.5
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        difference = stats.pearsonr(a, human).statistic - stats.pearsonr(b, human).statistic
        as_extreme += int(abs(difference) >= abs(observed))
    return float((as_extreme + 1) / (DRAWS + 1))


def best_seconds(task: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return seconds of the processor, which other work on the machine changes least; all of this is one thread's."""
    seconds = []
    for _ in range(repeats):
        gc.collect()
        start = process_time()
        task()
        seconds.append(process_time() - start)
    return min(seconds)


def check_same(metric: Floats, human: Floats) -> None:
    ours, theirs = tie_calibrated_accuracy(metric, human), calibrated_by_a_loop(metric, human)
    if abs(ours.accuracy - theirs[0]) > 1e-9 or ours.epsilon != theirs[1]:
        raise ArithmeticError(f"tie calibration is {ours}, the loop says {theirs}: no time is worth printing")


def run() -> list[dict[str, Any]]:
    metric, human = outputs()
    check_same(metric, human)
    rng = np.random.default_rng(2)
    of_units = metric[:, 0], metric[:, 1], human[:, 0]
    other = metric[:, ::-1] + rng.normal(size=metric.shape)
    two, three = (metric.T, human.T), (metric.T, other.T, human.T)
    size = f"{SYSTEMS} systems, {ITEMS} items"
    rows: tuple[tuple[str, Callable[[], Any], Callable[[], Any], str, str], ...] = (
        (
            f"Tie calibration, {size}",
            lambda: tie_calibrated_accuracy(metric, human),
            lambda: calibrated_by_a_loop(metric, human),
            "a loop over items",
            "at least 100 times",
        ),
        (
            f"Soft pairwise accuracy, {size}, {DRAWS:,} permutations",
            lambda: soft_pairwise_accuracy(metric.T, human.T, rng=rng, n_resamples=DRAWS),
            lambda: soft_by_a_loop(metric.T[:4], human.T[:4], rng),
            "a loop over pairs of systems, from 6 of 190",
            "none set",
        ),
        (
            f"Paired permutation of Pearson's r, {ITEMS} units, {DRAWS:,} permutations",
            lambda: paired_permutation_test(*of_units, rng=rng, coefficient="pearson", n_permutations=DRAWS),
            lambda: permuted_by_a_loop(*of_units, rng),
            "a loop over permutations with scipy",
            "none set",
        ),
        *(
            (
                f"Paired permutation of system-level Pearson over {over}, {size}, {DRAWS:,} permutations",
                partial(system_permutation_test, *three, rng=rng, over=over, n_permutations=DRAWS),
                partial(permutation_test, *three, "system", "pearson", theirs, n_resamples=DRAWS),
                "nlpstats",
                "at least 100 times",
            )
            for over, theirs in OVER.items()
        ),
        *(
            (
                f"Nested bootstrap of system-level {coefficient}, {size}, {DRAWS:,} draws",
                partial(nested_bootstrap, *two, rng=rng, coefficient=coefficient, n_replicates=DRAWS),
                partial(bootstrap, *two, "system", coefficient, "both", n_resamples=DRAWS),
                "nlpstats",
                "at least 20 times",
            )
            for coefficient in ("pearson", "kendall")
        ),
    )
    shares = {rows[1][0]: SYSTEMS * (SYSTEMS - 1) / 12}
    table = []
    for name, ours, theirs, against, target in rows:
        seconds, loop = best_seconds(ours), best_seconds(theirs, 2) * shares.get(name, 1)
        table.append(
            {
                "name": name,
                "value": seconds,
                "unit": "s of CPU",
                "against": f"{against}: {loop:.2f} s",
                "ratio": loop / seconds,
                "target": target,
            }
        )
    return table
