"""How fast word embedding metrics are scored, against the steps of nlg-eval, and leaner ones, in the same run.

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
    """The steps of nlg-eval, its tokeniser apart; no word is unknown here.

    Of averages and extrema it has scikit-learn compare all segments with all and keeps the diagonal; in greedy matching
    it asks scikit-learn pair by pair.
    """
    ours, theirs = vectors_of(hypotheses, table), [vectors_of(own, table) for own in zip(*references, strict=True)]
    if name == "greedy_matching":
        found = [[matched(*pair) for pair in zip(ours, others, strict=True)] for others in theirs]
    else:
        one = plain_average if name == "embedding_average" else plain_extrema
        own = [one(text) for text in ours]
        found = [cosine_similarity([one(text) for text in others], own).diagonal() for others in theirs]
    best: list[float] = np.max(found, axis=0).tolist()
    return best


def matched(own: list[Vector], other: list[Vector]) -> float:
    similarity = cosine_similarity(other, own)
    return float(similarity.max(axis=0).mean() + similarity.max(axis=1).mean()) / 2


def plain_scores(
    name: str, hypotheses: list[str], references: list[list[str]], table: dict[str, Vector]
) -> list[float]:
    """The same numbers with less work than nlg-eval's: pair by pair, the cosine alone."""
    ours, theirs = vectors_of(hypotheses, table), [vectors_of(own, table) for own in references]
    if name == "greedy_matching":
        return [max(plain_greedy(own, other) for other in others) for own, others in zip(ours, theirs, strict=True)]
    one = plain_average if name == "embedding_average" else plain_extrema
    vectors = [[one(text) for text in others] for others in theirs]
    return [
        max(cosine(found, other) for other in others) for found, others in zip(map(one, ours), vectors, strict=True)
    ]


def vectors_of(texts: Iterable[str], table: dict[str, Vector]) -> list[list[Vector]]:
    return [[table[word] for word in text.split()] for text in texts]


def plain_average(words: list[Vector]) -> Vector:
    total: Vector = np.sum(words, axis=0) / np.linalg.norm(np.sum(words, axis=0))
    return total


def plain_extrema(words: list[Vector]) -> list[float]:
    largest, smallest = np.max(words, axis=0), np.min(words, axis=0)
    return [high if high > -low else low for high, low in zip(largest, smallest, strict=True)]


def cosine(one: Any, other: Any) -> float:
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


def plain_greedy(own: list[Vector], other: list[Vector]) -> float:
    first = np.array(own) / np.linalg.norm(own, axis=1, keepdims=True)
    second = np.array(other) / np.linalg.norm(other, axis=1, keepdims=True)
    similarity = first @ second.T
    return float(similarity.max(axis=0).mean() + similarity.max(axis=1).mean()) / 2


def metric_rows(
    name: str, systems: list[list[str]], references: list[list[str]], store: ModelStore, model: str
) -> list[dict[str, Any]]:
    """One system, then all: those share the references, where the public programs take one system at a time."""
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

    found = [array_way(some)[0] for some in (systems[:1], systems)]
    difference = max(np.abs(ours - way()).max() for ours in found for way in (their_way, plain_way))
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
    """A file of vectors, converted, and opened again."""
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
