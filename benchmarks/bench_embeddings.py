"""How fast word embedding metrics are scored, compared with nlg-eval's and leaner steps in the same run.

python -m benchmarks.bench_embeddings
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import cosine_similarity

from benchmarks.bench_scoring import REFERENCES, SEGMENTS, SYSTEMS, VOCABULARY, best_seconds, zipf_texts
from metrics.scoring.metric import Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.models.word_vectors.conversion import convert
from metrics.scoring.registry import get_metric
from metrics.scoring.segments import Segments

DIMENSION = 300
METRICS = ("embedding_average", "vector_extrema", "greedy_matching")
CONVERTED = 20_000  # words of the file that is converted

Vector = NDArray[np.float32]


def nlg_eval_scores(
    name: str, hypotheses: list[str], references: list[list[str]], table: dict[str, Vector]
) -> list[float]:
    """Compute scores with nlg-eval's steps, without its tokeniser; no word is unknown.

    For averages and extrema it compares all segments with all in scikit-learn and keeps the diagonal; for greedy
    matching it calls scikit-learn for each pair.
    """
    hypothesis_vectors, reference_vectors = (
        vectors_of(hypotheses, table),
        [vectors_of(texts, table) for texts in zip(*references, strict=True)],
    )
    if name == "greedy_matching":
        scores = [
            [matched(*pair) for pair in zip(hypothesis_vectors, others, strict=True)] for others in reference_vectors
        ]
    else:
        average = plain_average if name == "embedding_average" else plain_extrema
        averages = [average(text) for text in hypothesis_vectors]
        scores = [
            cosine_similarity([average(text) for text in others], averages).diagonal() for others in reference_vectors
        ]
    best: list[float] = np.max(scores, axis=0).tolist()
    return best


def matched(first: list[Vector], second: list[Vector]) -> float:
    similarity = cosine_similarity(second, first)
    return float(similarity.max(axis=0).mean() + similarity.max(axis=1).mean()) / 2


def plain_scores(
    name: str, hypotheses: list[str], references: list[list[str]], table: dict[str, Vector]
) -> list[float]:
    """Compute the same scores with less work: one cosine per pair."""
    hypothesis_vectors, reference_vectors = (
        vectors_of(hypotheses, table),
        [vectors_of(texts, table) for texts in references],
    )
    if name == "greedy_matching":
        return [
            max(plain_greedy(hypothesis, reference) for reference in others)
            for hypothesis, others in zip(hypothesis_vectors, reference_vectors, strict=True)
        ]
    average = plain_average if name == "embedding_average" else plain_extrema
    vectors = [[average(text) for text in others] for others in reference_vectors]
    return [
        max(cosine(hypothesis, reference) for reference in others)
        for hypothesis, others in zip(map(average, hypothesis_vectors), vectors, strict=True)
    ]


def vectors_of(texts: Iterable[str], table: dict[str, Vector]) -> list[list[Vector]]:
    return [[table[word] for word in text.split()] for text in texts]


def plain_average(words: list[Vector]) -> Vector:
    total: Vector = np.sum(words, axis=0) / np.linalg.norm(np.sum(words, axis=0))
    return total


def plain_extrema(words: list[Vector]) -> list[float]:
    largest, smallest = np.max(words, axis=0), np.min(words, axis=0)
    return [high if high > -low else low for high, low in zip(largest, smallest, strict=True)]


def cosine(first: Any, second: Any) -> float:
    return float(np.dot(first, second) / (np.linalg.norm(first) * np.linalg.norm(second)))


def plain_greedy(words: list[Vector], other_words: list[Vector]) -> float:
    first = np.array(words) / np.linalg.norm(words, axis=1, keepdims=True)
    second = np.array(other_words) / np.linalg.norm(other_words, axis=1, keepdims=True)
    similarity = first @ second.T
    return float(similarity.max(axis=0).mean() + similarity.max(axis=1).mean()) / 2


def metric_rows(
    name: str, systems: list[list[str]], references: list[list[str]], store: ModelStore, model: str
) -> list[dict[str, Any]]:
    """Measure one system, then all, which share their references; the public programs take one system at a time."""
    metric = get_metric(name, model=model, tokenize="whitespace")
    vectors: WordVectors = store.load(WordVectors.kind, model)
    words = [vectors.words.word(row) for row in range(len(vectors))]
    table = dict(zip(words, np.array(vectors.matrix), strict=True))

    def array_way(systems: list[list[str]]) -> Any:
        return Workspace(Segments(systems, references), [metric], store).statistics(metric).sentence_scores

    def their_way() -> list[float]:
        return nlg_eval_scores(name, systems[0], references, table)

    def plain_way() -> list[float]:
        return plain_scores(name, systems[0], references, table)

    scores = [array_way(some)[0] for some in (systems[:1], systems)]
    difference = max(np.abs(ours - way()).max() for ours in scores for way in (their_way, plain_way))
    if difference > 1e-6:
        raise ArithmeticError(f"{name}: differs by {difference} from nlg-eval's way; no time is worth printing")
    fast, slow, plain, many = best_seconds(
        lambda: array_way(systems[:1]), their_way, plain_way, lambda: array_way(systems)
    )
    pairs = sum(map(len, references))
    texts = f"{len(references):,} segments x {REFERENCES} references, {DIMENSION} dimensions, cold"
    return [
        {
            "name": f"{metric.label}, {texts}, one system",
            "value": pairs / fast,
            "unit": "pairs/s",
            "against": f"the steps of nlg-eval but its tokeniser: {pairs / slow:,.0f} pairs/s",
            "ratio": slow / fast,
            "target": "at least 5 times",
        },
        {
            "name": f"{metric.label}, the same",
            "value": pairs / fast,
            "unit": "pairs/s",
            "against": f"a leaner program, pair by pair: {pairs / plain:,.0f} pairs/s",
            "ratio": plain / fast,
        },
        {
            "name": f"{metric.label}, {texts}, {len(systems)} systems at once",
            "value": pairs * len(systems) / many,
            "unit": "pairs/s",
            "against": "one after the other in nlg-eval's steps, by their time for one",
            "ratio": slow * len(systems) / many,
            "target": "at least 5 times",
        },
    ]


def conversion_row(folder: Path, vectors: WordVectors) -> dict[str, Any]:
    """Measure converting a file of vectors and opening the result."""
    path = folder / "vectors.txt"
    with path.open("w", encoding="utf-8") as file:
        for row in range(min(CONVERTED, len(vectors))):
            numbers = " ".join(f"{value:.5f}" for value in vectors.matrix[row].tolist())
            file.write(f"{vectors.words.word(row)} {numbers}\n")
    began = perf_counter()
    converted = convert(path, folder / "converted")
    reading = perf_counter() - began
    began = perf_counter()
    WordVectors.load(converted)
    return {
        "name": f"Converting a GloVe file, {DIMENSION} dimensions",
        "value": path.stat().st_size / 2**20 / reading,
        "unit": "MiB/s",
        "against": f"opening what was converted: {1000 * (perf_counter() - began):.1f} ms",
    }


def run() -> list[dict[str, Any]]:
    rng = np.random.default_rng(2016)
    systems = [zipf_texts(rng, SEGMENTS) for _ in range(SYSTEMS)]
    flat = zipf_texts(rng, SEGMENTS * REFERENCES)
    references = [flat[start : start + REFERENCES] for start in range(0, len(flat), REFERENCES)]
    with tempfile.TemporaryDirectory() as name:
        store = ModelStore([Path(name) / "models"])
        words = [f"w{number}" for number in range(VOCABULARY)]
        model = store.add(WordVectors.from_words(words, rng.normal(size=(VOCABULARY, DIMENSION))))
        rows = [row for metric in METRICS for row in metric_rows(metric, systems, references, store, model)]
        return [*rows, conversion_row(Path(name), store.load(WordVectors.kind, model))]


def main() -> None:
    print("| what | measured | against | ratio | target |\n| --- | ---: | --- | ---: | --- |")
    for row in run():
        ratio = f"{row['ratio']:.1f}" if "ratio" in row else ""
        value = f"{row['value']:,.0f} {row['unit']}"
        print(f"| {row['name']} | {value} | {row['against']} | {ratio} | {row.get('target', '')} |")


if __name__ == "__main__":
    main()
