"""How fast AM and FM are trained and scored, against scikit-learn and python-arpa on the same texts in the same run.

python -m benchmarks.bench_am_fm
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import arpa
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.bench_overlap import demo_lines
from metrics.scoring.adequacy_fluency_text import EMPTY, cleaned, words_of
from metrics.scoring.am import Am
from metrics.scoring.am_fm import AmFm
from metrics.scoring.metric import Metric, Workspace
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments

# Sizes of D'Haro et al. (2019): sentences to train on; systems, segments and references of DSTC6.
SENTENCES, SYSTEMS, SEGMENTS, REFERENCES = 18_692, 20, 2000, 11
COMPONENTS = 100
SWEEP = (1, 2, 5, 10, 20, 30, 40, 50, 75, 100)
PLAIN_PAIRS = 300
TOLERANCE = 1e-6


def corpus() -> tuple[list[str], Segments]:
    """Return training sentences, and the demo's outputs and references, repeated until there are enough."""
    gold = {item: [text for text in texts if text.strip()] for item, *texts in demo_lines("gold_responses")}
    outputs: dict[str, dict[str, str]] = {}
    for system, item, text in demo_lines("system_responses"):
        outputs.setdefault(system, {})[item] = text
    items = [
        item for item, texts in gold.items() if len(texts) >= REFERENCES and all(item in o for o in outputs.values())
    ]
    rng = np.random.default_rng(2019)
    repeated_items = [items[at % len(items)] for at in range(SEGMENTS)]
    references = [rng.choice(gold[item], REFERENCES, replace=False).tolist() for item in repeated_items]
    named = sorted(outputs)
    # When systems repeat, they answer the item before, so that no two systems are equal.
    systems = [
        [outputs[named[system % len(named)]][repeated_items[at - system // len(named)]] for at in range(SEGMENTS)]
        for system in range(SYSTEMS)
    ]
    sentences = list(islice((text for texts in gold.values() for text in texts), SENTENCES))
    return sentences, Segments(systems, references)


def seconds(task: Callable[[], Any], repeats: int = 2) -> tuple[float, Any]:
    """Return the time of the fastest of a few cold runs, and the result."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        result = task()
        times.append(perf_counter() - start)
    return min(times), result


def scored(segments: Segments, store: ModelStore, metrics: list[Metric]) -> np.ndarray:
    fresh = Segments(segments.systems, segments.references)
    workspace = Workspace(fresh, metrics, store)
    return np.array([workspace.statistics(metric).system_scores() for metric in metrics])


def sklearn_space(sentences: list[str]) -> tuple[CountVectorizer, TruncatedSVD]:
    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b", preprocessor=lambda text: cleaned(text) or EMPTY.lower())
    space = TruncatedSVD(n_components=COMPONENTS, algorithm="arpack", random_state=0)
    space.fit(counter.fit_transform(sentences).astype(float))
    return counter, space


def plain_pair(text: str, reference: str, counter: CountVectorizer, space: TruncatedSVD, model: Any) -> float:
    """Compute AM-FM of one pair as the authors' scripts do."""
    text_vector, reference_vector = space.transform(counter.transform([text, reference]).astype(float))[:, :10]
    norms = np.linalg.norm(text_vector) * np.linalg.norm(reference_vector)
    am = max(0.0, float(text_vector @ reference_vector / norms)) if norms > TOLERANCE else 0.0
    [words, others] = words_of([text, reference])
    p, q = (math.exp(model.log_s(" ".join(tokens)) * math.log(10) / len(tokens)) for tokens in (words, others))
    return 0.8 * am + 0.2 * min(p, q) / max(p, q)


def run() -> list[dict[str, Any]]:
    sentences, segments = corpus()
    lsa_seconds, lsa = seconds(lambda: LsaModel.train(sentences, components=COMPONENTS))
    lm_seconds, language_model = seconds(lambda: LanguageModel.train(sentences, order=2))
    sklearn_seconds, (counter, space) = seconds(lambda: sklearn_space(sentences))
    with tempfile.TemporaryDirectory() as folder:
        store = ModelStore([folder])
        am, fm = store.add(lsa), store.add(language_model)
        language_model.write_arpa(Path(folder) / "model.arpa")
        [oracle] = arpa.loadf(Path(folder) / "model.arpa")
        plain_seconds = checked_plain_seconds(
            segments, store, am, fm, lambda a, b: plain_pair(a, b, counter, space, oracle)
        )

        def scoring(*metrics: Metric) -> float:
            return seconds(lambda: scored(segments, store, list(metrics)))[0]

        score_seconds = scoring(AmFm(am_model=am, fm_model=fm))
        wide_seconds = scoring(Am(k=COMPONENTS, model=am))
        sweep_seconds = scoring(*(Am(k=k, model=am) for k in SWEEP))
        shares_seconds = scoring(*(AmFm(balance=at / 10, am_model=am, fm_model=fm) for at in range(11)))
    size = f"{SYSTEMS} systems x {SEGMENTS:,} segments x {REFERENCES} references"
    all_plain = SYSTEMS * SEGMENTS * REFERENCES / (PLAIN_PAIRS / plain_seconds)
    return [
        row(
            f"LSA with {COMPONENTS} components from {SENTENCES:,} sentences",
            lsa_seconds,
            f"scikit-learn, CountVectorizer and TruncatedSVD (arpack): {sklearn_seconds:.1f} s",
            sklearn_seconds / lsa_seconds,
            "with the language model, under 30 s",
        ),
        row(f"Bigram model from {SENTENCES:,} sentences", lm_seconds, "", None, "with LSA, under 30 s"),
        row(
            f"AM-FM, {size}, from text",
            score_seconds,
            f"pair by pair, scikit-learn and python-arpa: {all_plain:,.0f} s, from a sample",
            all_plain / score_seconds,
            "under 30 s",
        ),
        row(
            f"AM at {len(SWEEP)} dimensions up to {COMPONENTS}, the same texts",
            sweep_seconds,
            f"at {COMPONENTS} alone: {wide_seconds:.1f} s",
            sweep_seconds / wide_seconds,
            "at most 1.5 times",
        ),
        row(
            "AM-FM at 11 λ, the same texts",
            shares_seconds,
            f"at one: {score_seconds:.1f} s",
            shares_seconds / score_seconds,
            "at most 1.5 times",
        ),
    ]


def checked_plain_seconds(
    segments: Segments, store: ModelStore, am: str, fm: str, plain: Callable[[str, str], float]
) -> float:
    """Return the time of scoring a sample pair by pair; refuse to time scores that differ."""
    pairs = segments.pairs
    metric = AmFm(am_model=am, fm_model=fm, references="mean")
    prepared = metric.preparation()(segments, store)
    chosen = np.linspace(0, len(pairs) - 1, PLAIN_PAIRS).astype(int)
    texts = [(segments.row_texts[pairs.row[at]], segments.reference_texts[pairs.reference[at]]) for at in chosen]
    taken, scores = seconds(lambda: [plain(*each) for each in texts])
    values = metric.combined(prepared.cosines(am, 10), prepared.ratios(fm, 2))[chosen]
    if np.abs(values - scores).max() > TOLERANCE:
        raise ArithmeticError("scores differ from scikit-learn's and python-arpa's; no time is worth printing")
    return taken


def row(name: str, value: float, against: str, ratio: float | None, target: str) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": "s", "against": against, "ratio": ratio, "target": target}


def main() -> None:
    for each in run():
        ratio = "" if each["ratio"] is None else f"{each['ratio']:.2f}"
        print(
            f"| {each['name']} | {each['value']:.2f} {each['unit']} | {each['against']} | {ratio} | {each['target']} |"
        )


if __name__ == "__main__":
    main()
