"""How fast the BLEU family is scored, compared with sacrebleu on the same data in the same run.

python -m benchmarks.bench_scoring
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from itertools import product
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from metrics.scoring.delta_bleu import corpus_delta_bleu
from metrics.scoring.metric import MetricStatistics, Workspace
from metrics.scoring.ngrams import build_match_table
from metrics.scoring.registry import get_metric
from metrics.scoring.segments import Segments

SEGMENTS, REFERENCES, SYSTEMS = 2114, 16, 7
VOCABULARY, ZIPF = 20_000, 1.05
REPEATS = 5
THRESHOLDS = [round(step / 10, 1) for step in range(-10, 11)]


def zipf_texts(rng: np.random.Generator, count: int, mean_length: float = 11.0) -> list[str]:
    """Return texts of about ``mean_length`` words, with word frequencies as in natural text."""
    frequency = 1.0 / np.arange(1, VOCABULARY + 1) ** ZIPF
    lengths = 1 + rng.poisson(mean_length - 1, size=count)
    words = [f"w{i}" for i in rng.choice(VOCABULARY, size=int(lengths.sum()), p=frequency / frequency.sum()).tolist()]
    ends = np.cumsum(lengths)
    return [" ".join(words[end - length : end]) for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]


def corpus(seed: int = 2015) -> tuple[list[list[str]], list[list[str]], list[list[float]]]:
    """Return seven systems, 16 references per segment, and weights in tenths, of which the first is positive."""
    rng = np.random.default_rng(seed)
    systems = [zipf_texts(rng, SEGMENTS) for _ in range(SYSTEMS)]
    flat = zipf_texts(rng, SEGMENTS * REFERENCES)
    references = [flat[start : start + REFERENCES] for start in range(0, len(flat), REFERENCES)]
    tenths = rng.integers(-10, 11, size=(SEGMENTS, REFERENCES))
    tenths[:, 0] = rng.integers(1, 11, size=SEGMENTS)
    return systems, references, (tenths / 10).tolist()


def all_seconds(*tasks: Callable[[], Any], repeats: int) -> list[list[float]]:
    """Time cold runs of each task in turn, so that a busy machine affects all of them."""
    seconds: list[list[float]] = [[] for _ in tasks]
    for _ in range(repeats):
        for task, times in zip(tasks, seconds, strict=True):
            gc.collect()
            start = perf_counter()
            task()
            times.append(perf_counter() - start)
    return seconds


def best_seconds(*tasks: Callable[[], Any]) -> list[float]:
    """Return the time of the fastest of a few runs of each task."""
    return list(map(min, all_seconds(*tasks, repeats=REPEATS)))


def usual_seconds(*tasks: Callable[[], Any]) -> list[float]:
    """Return the median of several runs of each task, for times that are close together."""
    return list(map(median, all_seconds(*tasks, repeats=5 * REPEATS)))


def sacrebleu_corpus(hypotheses: Sequence[str], references: Sequence[Sequence[str]], max_order: int) -> float:
    scorer = BLEU(tokenize="none", smooth_method="none", max_ngram_order=max_order, force=True)
    return float(scorer.corpus_score(hypotheses, list(zip(*references, strict=True))).score) / 100


def read(statistics: MetricStatistics) -> tuple[Any, Any]:
    """Read what studies use; some of it is computed lazily."""
    return statistics.packed, statistics.valid


def table_rows(systems: list[list[str]], references: list[list[str]], weights: list[list[float]], rows: int) -> None:
    """Compute statistics for the first ``rows`` of the nine rows of Galley et al. (2015), Table 2, from text."""
    table = build_match_table(systems, references, max_order=2, tokenize="whitespace")
    flat = np.concatenate(weights)
    single = np.zeros(flat.size, dtype=bool)
    single[table.reference_offsets[:-1]] = True
    for name, mask in list(product(("delta_bleu", "bleu", "sbleu"), (None, flat >= 0.6, single)))[:rows]:
        statistics = get_metric(name, tokenize="whitespace").statistics(table, weights=flat, reference_mask=mask)
        read(statistics)


def table_and_sweeps(systems: list[list[str]], references: list[list[str]], weights: list[list[float]]) -> None:
    """Compute the nine rows and every point of Figure 2's sweeps over thresholds and orders, from text."""
    flat = np.concatenate(weights)
    family = ("delta_bleu", "bleu", "sbleu")
    at_order = [get_metric(name, tokenize="whitespace", max_order=order) for name in family for order in range(1, 5)]
    workspace = Workspace(Segments(systems, references), at_order)
    single = np.zeros(flat.size, dtype=bool)
    single[workspace.segments.reference_offsets[:-1]] = True
    usual = [get_metric(name, tokenize="whitespace") for name in family]
    rows = [
        workspace.statistics(metric, weights=flat, reference_mask=mask)
        for metric, mask in product(usual, (None, flat >= 0.6, single))
    ]
    for metric in usual:
        rows += workspace.threshold_sweep(metric, weights=flat, thresholds=THRESHOLDS)
    rows += [workspace.statistics(metric, weights=flat) for metric in at_order]
    for row in rows:
        read(row)


def corpus_row(
    hypotheses: list[str], references: list[list[str]], weights: list[list[float]], max_order: int
) -> dict[str, Any]:
    """Compare ΔBLEU of one system with sacrebleu's BLEU, after checking that they agree with unit weights."""
    options: dict[str, Any] = {"max_order": max_order, "tokenize": "whitespace"}
    ours = corpus_delta_bleu(
        hypotheses, references, [[1.0] * len(segment_weights) for segment_weights in weights], **options
    ).score
    theirs = sacrebleu_corpus(hypotheses, references, max_order)
    if abs(ours - theirs) > 1e-9:
        raise ArithmeticError(f"order {max_order}: {ours} differs from sacrebleu's {theirs}; no time is worth printing")
    fast, slow = best_seconds(
        lambda: corpus_delta_bleu(hypotheses, references, weights, **options),
        lambda: sacrebleu_corpus(hypotheses, references, max_order),
    )
    return {
        "name": f"ΔBLEU-{max_order}, {SEGMENTS} segments x {REFERENCES} references, cold, one system",
        "value": SEGMENTS / fast,
        "unit": "segments/s",
        "against": f"sacrebleu corpus BLEU-{max_order}: {SEGMENTS / slow:,.0f} segments/s",
        "ratio": slow / fast,
        "target": "at least 6 times",
    }


def run() -> list[dict[str, Any]]:
    systems, references, weights = corpus()
    single_row, nine_rows, rows_and_sweeps = usual_seconds(
        lambda: table_rows(systems, references, weights, 1),
        lambda: table_rows(systems, references, weights, 9),
        lambda: table_and_sweeps(systems, references, weights),
    )
    return [
        corpus_row(systems[0], references, weights, 2),
        corpus_row(systems[0], references, weights, 4),
        {
            "name": f"Statistics of all 9 rows of the table, {SYSTEMS} systems, from text",
            "value": nine_rows,
            "unit": "s",
            "against": f"one row (ΔBLEU, all references): {single_row:.3f} s",
            "ratio": nine_rows / single_row,
            "target": "at most 1.5 times",
        },
        {
            "name": f"... and {len(THRESHOLDS)} thresholds and 4 orders of all three, {SYSTEMS} systems, from text",
            "value": rows_and_sweeps,
            "unit": "s",
            "against": f"one row: {single_row:.3f} s",
            "ratio": rows_and_sweeps / single_row,
            "target": "at most 1.5 times",
        },
    ]


def main() -> None:
    print("| what | measured | against | ratio | target |\n| --- | ---: | --- | ---: | --- |")
    for row in run():
        value = f"{row['value']:,.0f}" if row["value"] >= 100 else f"{row['value']:.3f}"
        print(f"| {row['name']} | {value} {row['unit']} | {row['against']} | {row['ratio']:.2f} | {row['target']} |")


if __name__ == "__main__":
    main()
