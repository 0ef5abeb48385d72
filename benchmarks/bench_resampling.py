"""Resample 20 metrics x 20 systems x 2,000 items 10,000 times, in the shards that workers take, by one and by two."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from correlations.stats.draws import Drawn, joined, shard_draws, shard_sizes
from correlations.stats.parameters import ParameterValue

Floats = npt.NDArray[np.float64]
METRICS, SYSTEMS, ITEMS, DRAWS, SEED = 20, 20, 2000, 10_000, 1


@cache
def world() -> tuple[list[Drawn], Floats]:
    rng = np.random.default_rng(3)
    human = rng.normal(size=(SYSTEMS, ITEMS)) + np.linspace(-0.5, 0.5, SYSTEMS)[:, None]
    outputs = np.ones(human.shape, dtype=bool)
    scores = (human + rng.normal(size=human.shape) for _ in range(METRICS))
    return [Drawn(ParameterValue(each[..., None], mean, each), outputs) for each in scores], human


def mean(sums: Floats) -> Floats:
    return sums[..., 0] / ITEMS


def shard(number_and_size: tuple[int, int]) -> Floats:
    number, size = number_and_size
    entries, human = world()
    return shard_draws(entries, human, seed=SEED, number=number, size=size)


def timed(workers: int) -> tuple[float, Floats]:
    """Return the seconds that so many workers take for all shards, without their start, and Kendall's tau."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in the product's workers
    shards = list(enumerate(shard_sizes(DRAWS)))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=world) as pool:
        list(pool.map(shard, [(0, 1)] * 4 * workers))  # processes have begun
        began = perf_counter()
        drawn = list(pool.map(shard, shards))
        return perf_counter() - began, joined(drawn).over_items_and_systems["kendall"]


def run() -> list[dict[str, Any]]:
    load = os.getloadavg()[0]
    one, of_one = timed(1)
    two, of_two = timed(2)
    if not np.array_equal(of_one, of_two):
        raise ArithmeticError("two workers drew another result than one: no time is worth printing")
    size = f"{METRICS} metrics, {SYSTEMS} systems, {ITEMS:,} items, {DRAWS:,} draws of items and systems"
    return [
        {"name": f"{size}, one worker", "value": one, "unit": "s", "against": f"load before: {load:.1f}"},
        {
            "name": "… two workers, the same result",
            "value": two,
            "unit": "s",
            "against": f"one worker: {one:.1f} s",
            "ratio": one / two,
            "target": "at least 1.8 times, on two free cores",
        },
    ]
