"""Resample studies in the shards that workers take, by one worker and by two: systems and items, and sampled units."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from time import perf_counter, process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bench_scoring import SEGMENTS, SYSTEMS
from benchmarks.bench_study import PAIRS, SAMPLING, paper_scale, table_metrics
from correlations.stats.draws import Drawn, shard_draws, shard_sizes
from correlations.stats.parameters import ParameterValue
from correlations.stats.resampling import BootstrapShards, bootstrap_sizes
from metrics.scoring.ngrams import build_match_table

Floats = npt.NDArray[np.float64]
Shard = tuple[int, int]  # its number and size
METRICS, N_SYSTEMS, ITEMS, DRAWS, SEED = 20, 20, 2000, 10_000, 1
REPLICATES = 1000


@cache
def outputs() -> tuple[list[Drawn], Floats]:
    rng = np.random.default_rng(3)
    human = rng.normal(size=(N_SYSTEMS, ITEMS)) + np.linspace(-0.5, 0.5, N_SYSTEMS)[:, None]
    counted = np.ones(human.shape, dtype=bool)
    scores = (human + rng.normal(size=human.shape) for _ in range(METRICS))
    return [Drawn(ParameterValue(each[..., None], mean, each), counted) for each in scores], human


def mean(sums: Floats) -> Floats:
    return sums[..., 0] / ITEMS


@cache
def units() -> BootstrapShards:
    data = paper_scale()
    table = build_match_table(data.systems, data.references, max_order=2)
    return BootstrapShards(table_metrics(table, data), data.human, PAIRS, SAMPLING)


def draw_outputs(number: int, size: int) -> Floats:
    entries, human = outputs()
    return shard_draws(entries, human, seed=SEED, number=number, size=size)


def draw_units(number: int, size: int) -> Floats:
    return units().draw(number, size)


@dataclass(frozen=True)
class Stage:
    """What is drawn in shards, by functions that a new process can name."""

    name: str
    prepare: Callable[[], Any]
    draw: Callable[[int, int], Floats]
    sizes: Sequence[int]
    axis: int  # of the draws


STAGES = (
    Stage(
        f"{METRICS} metrics, {N_SYSTEMS} systems, {ITEMS:,} items, {DRAWS:,} draws of items and systems",
        outputs,
        draw_outputs,
        shard_sizes(DRAWS),
        2,
    ),
    Stage(
        f"9 rows over sampled units, {len(PAIRS)} pairs of {SYSTEMS} systems, {SEGMENTS:,} items, {REPLICATES:,} draws",
        units,
        draw_units,
        bootstrap_sizes(REPLICATES),
        2,
    ),
)


@dataclass(frozen=True)
class Timed:
    seconds: float  # until the last shard is there, without the start of processes
    cpu_seconds: float  # of all shards: on a machine with other work the wall clock says little
    draws: Floats


def shard(draw: Callable[[int, int], Floats], number_and_size: Shard) -> tuple[float, Floats]:
    began = process_time()
    drawn = draw(*number_and_size)
    return process_time() - began, drawn


def timed(stage: Stage, workers: int) -> Timed:
    """Measure how long so many workers take for all shards of a stage."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in the product's workers
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=stage.prepare) as pool:
        list(pool.map(shard, [stage.draw] * 4 * workers, [(0, 1)] * 4 * workers))  # processes have begun
        began = perf_counter()
        drawn = list(pool.map(shard, [stage.draw] * len(stage.sizes), enumerate(stage.sizes)))
        seconds = perf_counter() - began
    return Timed(seconds, sum(cpu for cpu, _ in drawn), np.concatenate([each for _, each in drawn], axis=stage.axis))


def rows_of(stage: Stage) -> list[dict[str, Any]]:
    load = os.getloadavg()[0]
    one, two = timed(stage, 1), timed(stage, 2)
    if not np.array_equal(one.draws, two.draws, equal_nan=True):
        raise ArithmeticError("two workers drew another result than one: no time is worth printing")
    cpu = f"of CPU {one.cpu_seconds:.2f} s by one, {two.cpu_seconds:.2f} s by two"
    return [
        {
            "name": f"{stage.name}, one worker",
            "value": one.seconds,
            "unit": "s",
            "against": f"load before: {load:.1f}; {len(stage.sizes)} shards, {cpu}",
        },
        {
            "name": "… two workers, the same result",
            "value": two.seconds,
            "unit": "s",
            "against": f"one worker: {one.seconds:.1f} s",
            "ratio": one.seconds / two.seconds,
            "target": "at least 1.8 times, on two free cores",
        },
    ]


def run() -> list[dict[str, Any]]:
    return [row for stage in STAGES for row in rows_of(stage)]
