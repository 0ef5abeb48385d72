"""How fast a quality estimator learns, at the sizes and settings of Dušek, Novikova and Rieser (2017).

python -m benchmarks.bench_qe
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

from metrics.scoring.qe.cross_validation import cross_validated, fold_splits
from metrics.scoring.qe.forward import SIDES
from metrics.scoring.qe.instances import Instance, ratings_of
from metrics.scoring.qe.learner import Learner
from metrics.scoring.qe.memory import freed_memory_kept
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.pair import PairedLearner
from metrics.scoring.qe.plans import training_data
from metrics.scoring.qe.scale import RatingScale
from metrics.scoring.qe.training import train
from metrics.scoring.qe.vocabulary import Vocabulary

# Of the paper's data: outputs, words that are not placeholders, and lengths as in its acts and outputs.
OUTPUTS, WORDS, SLOTS = 2460, 280, ("name", "area", "near", "food", "price_range", "kids_allowed", "phone", "type")
PAPER = QualityOptions(folds="texts")
PASSES = PAPER.passes
REPEATS = 5


def made_outputs() -> list[Instance]:
    """Return as many outputs as the paper has, about as long: 9 tokens of a source and 11 of an output in the mean."""
    rng = np.random.default_rng(2017)
    chances = 1 / np.arange(1, WORDS + 1)
    instances = []
    for number in range(OUTPUTS):
        slots = rng.choice(SLOTS, int(rng.integers(1, 6)), replace=False)
        act = ",".join(f"{slot}='v {number} {slot}'" for slot in slots)
        words = rng.choice(WORDS, int(rng.integers(4, 15)), p=chances / chances.sum())
        text = " ".join([*(f"w{word}" for word in words), *(f"v {number} {slot}" for slot in slots[:2])])
        rating = min(max(round(2 * (6 - len(words) / 6 + rng.normal())) / 2, 1.0), 6.0)
        instances.append(Instance(f"inform({act})", text, rating))
    return instances


def learner_of(instances: list[Instance], options: QualityOptions, kind: type[Learner] = Learner) -> Learner:
    split = fold_splits(instances, options, 5)[0]
    scale = RatingScale.of(ratings_of(instances))
    data = training_data([instances[at] for at in split.training], options, scale)
    development = training_data([instances[at] for at in split.development], options, scale).rated
    return kind(data, development, Vocabulary.of(data.all, shared=False), options)


def products(learner: Learner, options: QualityOptions) -> float:
    """Return the floating point operations of a pass's matrix products, a multiplication and an addition each."""
    gates, size = 3 * options.embedding, options.embedding
    tokens = sum(len(each) for side in SIDES for each in learner.ids[side])
    encoders = 2 * tokens * 2 * gates * size  # the inputs' and the states' part
    layers = 2 * len(learner.ratings) * options.tanh_layers * (2 * size) ** 2
    return float(3 * (encoders + layers))  # forwards, and backwards to the inputs and to the weights


class Plain(nn.Module):  # type: ignore[misc] # mypy does not read PyTorch
    """The same network from PyTorch's own layers."""

    def __init__(self, learner: Learner, options: QualityOptions) -> None:
        super().__init__()
        size = options.embedding
        counts = [max(int(each.max()) for each in learner.ids[side]) + 1 for side in SIDES]
        self.embeddings = nn.ModuleList(nn.Embedding(count, size, padding_idx=0) for count in counts)
        self.encoders = nn.ModuleList(nn.GRU(size, size) for _ in counts)
        self.head = nn.Sequential(
            nn.Linear(2 * size, 2 * size), nn.Tanh(), nn.Linear(2 * size, 2 * size), nn.Tanh(), nn.Linear(2 * size, 1)
        )
        self.drop = nn.Dropout(options.dropout)

    def forward(self, *sides: list[torch.Tensor]) -> torch.Tensor:
        states = []
        for embedding, encoder, side in zip(self.embeddings, self.encoders, sides, strict=True):
            packed = pack_sequence([self.drop(embedding(ids)) for ids in side], enforce_sorted=False)
            states.append(encoder(packed)[1][0])
        return self.head(torch.cat(states, dim=1))[:, 0]


def plain_pass(learner: Learner, options: QualityOptions) -> Callable[[], None]:
    network = Plain(learner, options)
    optimizer = torch.optim.Adam(network.parameters(), lr=options.learning_rate)

    def make_pass() -> None:
        order = np.random.default_rng(1).permutation(len(learner.ratings))
        for start in range(0, len(order), options.batch):
            batch = order[start : start + options.batch]
            sides = [[torch.from_numpy(learner.ids[side][at]) for at in batch] for side in SIDES]
            loss = ((network(*sides) - torch.from_numpy(learner.ratings[batch]).float()) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return make_pass


def fastest(task: Callable[[], Any]) -> float:
    """Return the time of the fastest of a few runs after one that is not counted."""
    task()
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        task()
        times.append(perf_counter() - start)
    return min(times)


def seconds_of_a_pass(seed: int) -> float:
    """Return the time of the fastest of some passes in this process, while another process makes its own."""
    torch.set_num_threads(1)
    learner = learner_of(made_outputs(), replace(PAPER, seed=seed))
    times = []
    for number in range(1, 2 * REPEATS + 2):
        start = perf_counter()
        learner.made_pass(number, "rated")
        times.append(perf_counter() - start)
    return min(times[1:])


def run() -> list[dict[str, Any]]:
    instances = made_outputs()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        learner = learner_of(instances, PAPER)
        numbers = iter(range(1, 1000))
        own = fastest(lambda: learner.made_pass(next(numbers), "rated"))
        plain = fastest(plain_pass(learner, PAPER))
        low_options = replace(PAPER, precision="bfloat16")
        low_learner = learner_of(instances, low_options)
        low = fastest(lambda: low_learner.made_pass(next(numbers), "rated"))
    finally:
        torch.set_num_threads(threads)
    with freed_memory_kept(), closing(learner_of(instances, PAPER, PairedLearner)) as paired:
        shared = fastest(lambda: paired.made_pass(next(numbers), "rated"))
    with freed_memory_kept(), closing(learner_of(instances, low_options, PairedLearner)) as paired:
        shared_low = fastest(lambda: paired.made_pass(next(numbers), "rated"))
    with get_context("spawn").Pool(2) as pool:
        together = max(pool.map(seconds_of_a_pass, (1, 2), chunksize=1))
    speed = products(learner, PAPER) / own / 1e9
    small = replace(PAPER, passes=1)
    model = train(instances, small)
    sources, outputs = [each.source for each in instances], [each.output for each in instances]
    predicted = fastest(lambda: model.predict(sources, outputs))
    ridge = replace(PAPER, estimator="ridge")
    start = perf_counter()
    cross_validated(instances, ridge, seeds=(1,))
    ridge_seconds = perf_counter() - start
    size = f"{len(learner.ratings):,} outputs, GRU of {PAPER.embedding}"
    return [
        row(
            f"One pass and its test on the development part, {size}, one thread: {speed:.0f} GFLOPS",
            own,
            f"PyTorch's own layers, without the test: {plain:.2f} s",
            plain / own,
            "",
        ),
        row("The same with products of bfloat16", low, f"float32: {own:.2f} s", own / low, ""),
        row(
            f"One fold and seed, {PASSES} passes, by two processes on two cores (from its passes)",
            shared * PASSES,
            f"by one process: {own * PASSES:.0f} s",
            own / shared,
            "under 300 s",
        ),
        row(
            "The same with products of bfloat16",
            shared_low * PASSES,
            f"float32: {shared * PASSES:.0f} s",
            shared / shared_low,
            "under 300 s",
        ),
        row(
            "Of two trainings of float32 at once, each by one process: half of the time of both",
            together * PASSES / 2,
            f"by one process alone: {own * PASSES:.0f} s",
            own / (together / 2),
            "",
        ),
        row(f"Prediction of {OUTPUTS:,} outputs, NumPy", predicted, "", None, ""),
        row(f"Ridge regression on n-grams, 5 folds of {OUTPUTS:,} outputs", ridge_seconds, "", None, ""),
    ]


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
