"""How long the paper-scale study takes, from tokenised text to table, and what memory it needs.

python -m benchmarks.bench_study
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU
from scipy import stats

from benchmarks.bench_scoring import SEGMENTS, SYSTEMS, corpus
from correlations.stats.coefficients.kendall import KENDALL
from correlations.stats.coefficients.spearman import SPEARMAN
from correlations.stats.resampling import RaterRatings, study_bootstrap
from correlations.stats.sampled_units import StudyResult, sampled_unit_correlation
from correlations.stats.sources import Redraw, Sources, source_bootstrap
from correlations.stats.sweeps import reference_sweep, unit_size_sweep
from correlations.stats.units import StudyMetric, UnitSampling
from metrics.scoring.ngrams import MatchTable, build_match_table
from metrics.scoring.registry import get_metric

ASSIGNMENTS, UNIT_SIZE, RATERS = 1000, 100, 5
SAMPLING = UnitSampling(seed=1, n_assignments=ASSIGNMENTS)
LEADING = replace(SAMPLING, coefficients=("spearman",))
PAIRS = [(a, b) for a in range(SYSTEMS) for b in range(a + 1, SYSTEMS)][:12]
METRICS = ("bleu", "sbleu", "delta_bleu")
REDRAWN = 50  # draws that are timed
BASELINE_UNITS, BASELINE_COEFFICIENTS = 400, 40
REPEATS = 3


@dataclass(frozen=True)
class Data:
    systems: list[list[list[str]]]  # tokens
    references: list[list[list[str]]]
    weights: np.ndarray  # flat, one per reference
    human: np.ndarray  # (systems, segments): means of five ratings


def paper_scale() -> Data:
    systems, references, weights = corpus()
    rng = np.random.default_rng(15)
    ratings = np.clip(np.rint(3 + rng.normal(size=(RATERS, SYSTEMS, SEGMENTS))), 1, 5)
    return Data(
        [[text.split() for text in system] for system in systems],
        [[text.split() for text in texts] for texts in references],
        np.concatenate(weights),
        ratings.mean(axis=0),
    )


def study_metric(
    table: MatchTable,
    name: str,
    label: str,
    weights: npt.NDArray[np.float64],
    mask: npt.NDArray[np.bool_] | None,
    order: int = 2,
) -> StudyMetric:
    statistics = get_metric(name, max_order=order).statistics(table, weights=weights, reference_mask=mask)
    scored = np.asarray(statistics.valid.all(axis=0))
    return StudyMetric(label, statistics.packed, statistics.aggregate, scored, statistics.aggregate.clamped)


def table_metrics(table: MatchTable, data: Data) -> list[StudyMetric]:
    """The nine rows of Galley et al. (2015), Table 2."""
    single = np.zeros(data.weights.size, dtype=bool)
    single[table.reference_offsets[:-1]] = True
    subsets = {"single": single, "w >= 0.6": data.weights >= 0.6, "all": None}
    return [
        study_metric(table, name, f"{name}, {subset}", data.weights, mask)
        for name in METRICS
        for subset, mask in subsets.items()
    ]


def text_to_table(data: Data) -> StudyResult:
    table = build_match_table(data.systems, data.references, max_order=2)
    return sampled_unit_correlation(table_metrics(table, data), data.human, PAIRS, SAMPLING)


def redrawing(table: MatchTable, data: Data, rows: list[StudyMetric]) -> Redraw:
    """Return what weighs the references anew, and scores the rows again that read weights."""
    single = np.zeros(data.weights.size, dtype=bool)
    single[table.reference_offsets[:-1]] = True

    def redraw(rng: np.random.Generator, size: int) -> dict[int, list[StudyMetric]]:
        moved = data.weights + rng.integers(-2, 3, (size, data.weights.size)) / 10
        weights = np.clip(np.round(moved, 1), -1, 1)
        masks = {"single": np.broadcast_to(single, weights.shape), "w >= 0.6": weights >= 0.6}
        drawn = {}
        for index, row in enumerate(rows):
            name, subset = row.name.split(", ")
            if name == "delta_bleu" or subset == "w >= 0.6":
                mask = masks.get(subset, np.ones(weights.shape, dtype=bool))
                under = get_metric(name, max_order=2).redrawn(table, weights=weights, reference_masks=mask)
                drawn[index] = [StudyMetric(row.name, each.packed, each.aggregate, each.valid) for each in under]
        return drawn

    return redraw


def draws(table: MatchTable, data: Data, rows: list[StudyMetric]) -> tuple[float, float]:
    """Return the seconds of draws of items and raters of outputs, and of the same with raters of references."""
    rater, system, segment = (each.ravel() for each in np.indices((RATERS, *data.human.shape)))
    noise = np.random.default_rng(4).normal(size=rater.size)
    raters = RaterRatings(rater, system, segment, data.human[system, segment] + noise)

    def drawn(redraw: Redraw | None) -> float:
        sources = Sources(True, raters, redraw)
        return best_seconds(lambda: source_bootstrap(rows, data.human, PAIRS, LEADING, sources, n_replicates=REDRAWN))

    return drawn(None), drawn(redrawing(table, data, rows))


def orders_sweep(data: Data, table: MatchTable) -> None:
    metrics_at = {
        float(order): [study_metric(table, name, name, data.weights, None, order) for name in METRICS]
        for order in (1, 2, 3, 4)
    }
    reference_sweep(metrics_at, data.human, PAIRS, LEADING)


def thresholds_sweep(data: Data, table: MatchTable) -> None:
    metrics_at = {
        tenths / 10: [study_metric(table, name, name, data.weights, data.weights >= tenths / 10) for name in METRICS]
        for tenths in range(-10, 11)
    }
    reference_sweep(metrics_at, data.human, PAIRS, LEADING)


def best_seconds(task: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(REPEATS):
        gc.collect()
        start = perf_counter()
        task()
        seconds.append(perf_counter() - start)
    return min(seconds)


def peak_gigabytes() -> float:
    """Return the peak memory of this process (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e9


def measured_alone(_: int) -> tuple[float, float]:
    """Measure the study in a separate process: seconds, and peak memory including interpreter, libraries and texts."""
    data = paper_scale()
    return best_seconds(lambda: text_to_table(data)), peak_gigabytes()


def baseline_seconds(data: Data) -> float:
    """Estimate the time for the same table with sacrebleu's cached statistics and scipy from a sample.

    This favours the baseline: extraction of its statistics, shuffling and rating means are left out. Every row includes
    BLEU's aggregation, as sacrebleu has no ΔBLEU.
    """
    scorer = BLEU(
        tokenize="none",
        smooth_method="none",
        max_ngram_order=2,
        effective_order=False,
        references=[[" ".join(text) for text in stream] for stream in zip(*data.references, strict=True)],
    )
    cached = scorer._extract_corpus_statistics([" ".join(text) for text in data.systems[0]], None)  # noqa: SLF001  # the cache is the point
    rng = np.random.default_rng(2)
    units = [rng.permutation(SEGMENTS)[:UNIT_SIZE] for _ in range(BASELINE_UNITS)]
    aggregate = scorer._aggregate_and_compute  # noqa: SLF001
    check_same_scores(data, units[0], aggregate([cached[i] for i in units[0]]).score / 100)
    per_unit = best_seconds(lambda: [aggregate([cached[i] for i in unit]) for unit in units])
    observations = rng.normal(size=(2, 528))
    check_same_coefficients(*observations)

    def coefficients() -> None:
        for _ in range(BASELINE_COEFFICIENTS):
            stats.spearmanr(*observations)
            stats.kendalltau(*observations)

    units_in_all = ASSIGNMENTS * len(PAIRS) * -(-SEGMENTS // UNIT_SIZE) * 2 * 9
    per_coefficient = best_seconds(coefficients) / BASELINE_COEFFICIENTS
    return per_unit / BASELINE_UNITS * units_in_all + per_coefficient * ASSIGNMENTS * 9


def check_same_scores(data: Data, unit: np.ndarray, theirs: float) -> None:
    statistics = get_metric("bleu", max_order=2).statistics(
        build_match_table(data.systems[:1], data.references, max_order=2)
    )
    ours = float(statistics.aggregate(statistics.packed[0, unit].sum(axis=0)))
    if abs(ours - theirs) > 1e-9:
        raise ArithmeticError(f"BLEU of a unit is {ours}, sacrebleu says {theirs}: no time is worth printing")


def check_same_coefficients(x: np.ndarray, y: np.ndarray) -> None:
    for ours, theirs in ((SPEARMAN.batch, stats.spearmanr), (KENDALL.batch, stats.kendalltau)):
        if abs(float(ours(x, y)) - float(theirs(x, y)[0])) > 1e-12:
            raise ArithmeticError(f"{ours.__name__} differs from scipy: no time is worth printing")


def run() -> list[dict[str, Any]]:
    with multiprocessing.get_context("spawn").Pool(1) as alone:
        seconds, gigabytes = alone.map(measured_alone, [0])[0]
    data = paper_scale()
    baseline = baseline_seconds(data)
    table = build_match_table(data.systems, data.references, max_order=4)
    nine = table_metrics(table, data)
    orders, thresholds, sizes, honest = (
        best_seconds(task)
        for task in (
            lambda: orders_sweep(data, table),
            lambda: thresholds_sweep(data, table),
            lambda: unit_size_sweep(nine[2::3], data.human, PAIRS, LEADING),
            lambda: study_bootstrap(nine, data.human, PAIRS, SAMPLING),
        )
    )

    every = draws(table, data, nine)
    best = draws(table, data, nine[2::3])

    def row(name: str, value: float, unit: str, against: str, ratio: float, target: str) -> dict[str, Any]:
        return {"name": name, "value": value, "unit": unit, "against": against, "ratio": ratio, "target": target}

    ours = f"the table: {seconds:.2f} s"
    scale = f"{ASSIGNMENTS:,} assignments, {len(PAIRS)} pairs, {SEGMENTS:,} segments"
    return [
        row(
            f"Paper-scale table from tokens: 9 rows, ρ and τ, {scale}",
            seconds,
            "s",
            f"sacrebleu's cached statistics per unit and scipy, from a sample: {baseline:,.0f} s",
            baseline / seconds,
            "at least 30 times",
        ),
        row("Its peak memory, whole process", gigabytes, "GB", "0.6 GB", gigabytes / 0.6, "under 1"),
        row("Sweep over orders 1 to 4, three metrics, ρ", orders, "s", ours, orders / seconds, "under 1"),
        row("Sweep over 21 thresholds, three metrics, ρ", thresholds, "s", ours, thresholds / seconds, "under 4"),
        row("Sweep over 7 unit sizes, three metrics, ρ", sizes, "s", ours, sizes / seconds, "none set"),
        row(
            "Bootstrap over items: 500 replicates of 4 assignments, 9 rows, ρ and τ",
            honest,
            "s",
            ours,
            honest / seconds,
            "none set",
        ),
        *(
            row(
                f"A draw that weighs references anew, {what}, ρ",
                1000 * again / REDRAWN,
                "ms",
                f"without: {1000 * without / REDRAWN:.1f} ms",
                again / without,
                "at most 2",
            )
            for what, (without, again) in (
                ("three rows, of which one reads weights", best),
                ("nine rows, of which five do", every),
            )
        ),
    ]


def main() -> None:
    print("| what | measured | against | ratio | target |\n| --- | ---: | --- | ---: | --- |")
    for entry in run():
        measured = f"{entry['value']:.2f} {entry['unit']}"
        print(f"| {entry['name']} | {measured} | {entry['against']} | {entry['ratio']:.2f} | {entry['target']} |")


if __name__ == "__main__":
    main()
