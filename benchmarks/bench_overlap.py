"""How fast ROUGE-L, CIDEr and METEOR are scored, against pycocoevalcap on the same tokens in the same run.

python -m benchmarks.bench_overlap
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from pycocoevalcap.cider.cider import Cider as CocoCider
from pycocoevalcap.meteor.meteor import Meteor as CocoMeteor
from pycocoevalcap.rouge.rouge import Rouge as CocoRouge

from benchmarks.bench_scoring import best_seconds
from metrics.scoring.cider import Cider
from metrics.scoring.meteor import Meteor
from metrics.scoring.meteor_jar import find_java
from metrics.scoring.metric import Metric, Workspace
from metrics.scoring.rouge_l import RougeL
from metrics.scoring.segments import Segments

DEMO = Path(__file__).resolve().parent.parent / "demo" / "dstc7"
REFERENCES = 16
SYSTEM = "TeamB"  # the system that is scored alone: its outputs have medium length
LONG = 10_000
TOLERANCE = 1e-6

Corpus = tuple[list[list[str]], list[list[str]]]


def demo_lines(name: str) -> Iterator[list[str]]:
    with gzip.open(DEMO / f"dstc7-task2-{name}.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        next(file)
        for line in file:
            yield line.rstrip("\n").split("\t")


def corpus() -> Corpus:
    """Return outputs of all systems, `SYSTEM` first, and 16 references, for the demo's items with as many."""
    gold = {
        item: [" ".join(text.split()) for text in texts if text.strip()]
        for item, *texts in demo_lines("gold_responses")
    }
    outputs: dict[str, dict[str, str]] = {}
    for system, item, text in demo_lines("system_responses"):
        outputs.setdefault(system, {})[item] = " ".join(text.split())
    items = [
        item
        for item, texts in gold.items()
        if len(texts) >= REFERENCES and all(item in answered for answered in outputs.values())
    ]
    names = sorted(outputs, key=lambda name: (name != SYSTEM, name))
    return [[outputs[name][item] for item in items] for name in names], [gold[item][:REFERENCES] for item in items]


def theirs(scorer: Any, hypotheses: list[str], references: list[list[str]]) -> float:
    texts = dict(enumerate(references)), {index: [text] for index, text in enumerate(hypotheses)}
    return float(scorer.compute_score(*texts)[0])


def ours(metric: Metric, systems: list[list[str]], references: list[list[str]]) -> list[float]:
    scores: list[float] = Workspace(Segments(systems, references)).statistics(metric).system_scores().tolist()
    return scores


def check(name: str, score: float, expected: float) -> None:
    if abs(score - expected) > TOLERANCE:
        raise ArithmeticError(f"{name}: {score} differs from pycocoevalcap's {expected}; no time is worth printing")


def rows_of(
    metric: Metric, coco: Callable[[], Any], systems: list[list[str]], references: list[list[str]]
) -> Iterator[dict[str, Any]]:
    """Measure one system, then all, which share their references."""
    size = f"{len(references)} segments x {REFERENCES} references"
    check(metric.label, ours(metric, systems[:1], references)[0], theirs(coco(), systems[0], references))
    fast, slow, many = best_seconds(
        lambda: ours(metric, systems[:1], references),
        lambda: theirs(coco(), systems[0], references),
        lambda: ours(metric, systems, references),
    )
    yield {
        "name": f"{metric.label}, {size}, cold, {SYSTEM}",
        "value": len(references) / fast,
        "unit": "segments/s",
        "against": f"pycocoevalcap: {len(references) / slow:,.0f} segments/s",
        "ratio": slow / fast,
        "target": "at least 5 times",
    }
    yield {
        "name": f"{metric.label}, {size}, cold, {len(systems)} systems at once",
        "value": len(references) * len(systems) / many,
        "unit": "segments/s",
        "against": "one after the other in pycocoevalcap, by its time for one",
        "ratio": slow * len(systems) / many,
    }


def long_row() -> dict[str, Any]:
    rng = np.random.default_rng(2004)
    first, second = (" ".join(map(str, rng.zipf(1.3, LONG).tolist())) for _ in range(2))
    (seconds,) = best_seconds(lambda: ours(RougeL(), [[first]], [[second]]))
    return {
        "name": f"ROUGE-L of two texts of {LONG:,} words",
        "value": seconds,
        "unit": "s",
        "against": f"{LONG**2:,} cells of the plain dynamic programme",
        "target": "not minutes",
    }


def meteor_rows(systems: list[list[str]], references: list[list[str]]) -> list[dict[str, Any]]:
    """Measure METEOR once each: both start the same program, which loads its paraphrases for some seconds."""
    os.environ["PATH"] = f"{Path(str(find_java())).parent}{os.pathsep}{os.environ['PATH']}"
    start = perf_counter()
    segments = Segments(systems[:1], references)
    workspace = Workspace(segments)
    score = float(workspace.statistics(Meteor()).system_scores()[0])
    fast = perf_counter() - start
    start = perf_counter()
    check("METEOR", score, theirs(CocoMeteor(), systems[0], references))
    slow = perf_counter() - start
    mask = np.arange(segments.n_references) % 2 == 0
    (repeated,) = best_seconds(lambda: workspace.statistics(Meteor(), reference_mask=mask).system_scores())
    size = f"{len(references)} segments x {REFERENCES} references"
    return [
        {
            "name": f"METEOR, {size}, {SYSTEM}, start of Java included",
            "value": len(references) / fast,
            "unit": "segments/s",
            "against": f"pycocoevalcap, the same program: {len(references) / slow:,.0f} segments/s",
            "ratio": slow / fast,
        },
        {
            "name": "METEOR of half of the references, after that",
            "value": repeated,
            "unit": "s",
            "against": "the program once more, by its time above",
            "ratio": slow / repeated,
        },
    ]


def run() -> list[dict[str, Any]]:
    systems, references = corpus()
    return [
        *rows_of(RougeL(), CocoRouge, systems, references),
        *rows_of(Cider(), CocoCider, systems, references),
        long_row(),
        *meteor_rows(systems, references),
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
