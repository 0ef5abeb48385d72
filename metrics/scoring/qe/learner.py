"""A network that learns: its parameters, its optimiser, and the data of its passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.qe.coefficients import pearson, spearman
from metrics.scoring.qe.forward import SIDES
from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.network import torch_network
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.plans import TrainingData
from metrics.scoring.qe.steps import CurvePoint
from metrics.scoring.qe.vocabulary import Vocabulary

Arrays = dict[str, NDArray[Any]]
Beat = Callable[[], None]

POOL = 8  # batches: instances of about the same length in a batch, drawn from so many at a time


@dataclass(frozen=True, eq=False)
class Batch:
    """Examples that are learnt from at once: first ``n_rated`` with their ratings, then, in their order, pairs'
    better outputs and pairs' worse ones."""

    examples: Ints
    n_rated: int


@dataclass(frozen=True, eq=False)
class Inputs:
    """A batch, and what `Network.side` takes of it: a side, the places of tokens, and the mask of dropout."""

    batch: Batch
    of_side: tuple[str, Any, Any]


class Learner:
    """Learns in this process alone."""

    def __init__(
        self, data: TrainingData, development: Sequence[Example], vocabulary: Vocabulary, options: QualityOptions
    ) -> None:
        self.torch = torch_network()
        self.options = options
        examples = data.all
        self.n_rated = len(data.rated)
        self.ids = dict(zip(SIDES, _ids(examples, vocabulary), strict=True))
        self.ratings = np.array([each.rating for each in examples])
        self.pairs = np.array(data.pairs, dtype=np.int64).reshape(-1, 2)
        sides = zip(SIDES, _ids(development, vocabulary), strict=True)
        self.development = {side: _distinct(self.torch, sequences) for side, sequences in sides}
        self.development_ratings = np.array([each.rating for each in development])
        # Synthetic examples that were made for the rank loss alone are in no pass of their own.
        self.n_first = options.synthetic_passes if data.synthetic and options.plan != "S1" else 0
        self.n_passes = self.n_first + options.passes
        mean = float(self.ratings[: self.n_rated].mean())
        self.network = self.torch.Network(options, vocabulary, mean, _seed(options.seed))
        self.optimizer = self.torch.Optimizer(self.network)

    def close(self) -> None:
        """Give back what the learner holds."""

    def arrays(self) -> Arrays:
        """Return a copy of the network's parameters."""
        arrays: Arrays = self.network.arrays()
        return arrays

    def optimizer_arrays(self) -> Arrays:
        """Return a copy of the optimiser's state."""
        arrays: Arrays = self.optimizer.arrays()
        return arrays

    def take_up(self, arrays: Arrays, optimizer_arrays: Arrays | None = None) -> None:
        """Go on from these parameters, and with this state of the optimiser or a new one."""
        self.network.set_arrays(arrays)
        self.optimizer = self.torch.Optimizer(self.network)
        if optimizer_arrays is not None:
            self.optimizer.set_arrays(optimizer_arrays)

    def made_pass(self, number: int, stage: str, beat: Beat = lambda: None) -> CurvePoint:
        """Make one pass over the data of a stage, calling ``beat`` in between; test it on the development part."""
        losses = []
        with self.torch.in_one_thread(self.options.precision):
            for both in zip(*(self.inputs(number, stage, side) for side in SIDES), strict=True):
                sides = [self.network.side(*each.of_side) for each in both]
                loss = self.loss(self.network.from_sides(sides), both[0].batch)
                self.optimizer.step(loss)
                losses.append(float(loss.detach()))
                beat()
            predictions = self.predictions([self.development_side(side) for side in SIDES])
        return self.point(number, stage, losses, predictions)

    def batches(self, number: int, stage: str) -> Iterator[Batch]:
        """Cut a random order into batches; within a few batches at a time, instances of about the same length."""
        count = len(self.ratings) if stage == "synthetic" else self.n_rated
        rng = np.random.default_rng([self.options.seed, 4, number])
        order, size = rng.permutation(count), self.options.batch
        lengths = np.array([sum(len(self.ids[side][at]) for side in SIDES) for at in order])
        batches = []
        for start in range(0, count, POOL * size):
            pool = order[start : start + POOL * size]
            pool = pool[np.argsort(lengths[start : start + POOL * size], kind="stable")]
            batches += [pool[at : at + size] for at in range(0, len(pool), size)]
        for at in rng.permutation(len(batches)):
            batch = batches[at]
            if not self.options.rank_weight or not len(self.pairs):
                yield Batch(batch, len(batch))
                continue
            pairs = self.pairs[rng.integers(len(self.pairs), size=len(batch))]
            yield Batch(np.concatenate([batch, pairs[:, 0], pairs[:, 1]]), len(batch))

    def inputs(self, number: int, stage: str, side: str) -> Iterator[Inputs]:
        """Yield what a side reads of each batch."""
        rng, ids = np.random.default_rng([self.options.seed, 6 + SIDES.index(side), number]), self.ids[side]
        for batch in self.batches(number, stage):
            places = self.torch.Places([ids[at] for at in batch.examples])
            yield Inputs(batch, (side, places, self.network.mask(places, rng)))

    def loss(self, predicted: Any, batch: Batch) -> Any:
        n = batch.n_rated
        loss = self.torch.squared_error(predicted[:, :n], self.ratings[batch.examples[:n]])
        if len(batch.examples) > n:
            ranks = self.torch.rank_loss(predicted[:, n : 2 * n], predicted[:, 2 * n :])
            loss = loss + self.options.rank_weight * ranks
        return loss

    def development_side(self, side: str) -> Any:
        """Return what a side comes to in the development part; equal sequences are encoded once."""
        places, index = self.development[side]
        with self.torch.torch.no_grad():
            return self.network.side(side, places)[self.torch.torch.from_numpy(index)]

    def predictions(self, sides: Sequence[Any]) -> Floats:
        with self.torch.torch.no_grad():
            return np.asarray(self.network.from_sides(sides).mean(dim=0).numpy(), dtype=np.float64)

    def point(self, number: int, stage: str, losses: Sequence[float], predictions: Floats) -> CurvePoint:
        rated = self.development_ratings
        coefficients = pearson(predictions, rated), spearman(predictions, rated)
        return CurvePoint(number, stage, float(np.mean(losses)), *coefficients)


def _ids(examples: Sequence[Example], vocabulary: Vocabulary) -> tuple[list[Ints], list[Ints]]:
    return (
        [vocabulary.source_ids(each.source) for each in examples],
        [vocabulary.output_ids(each.output) for each in examples],
    )


def _distinct(torch: Any, sequences: Sequence[Ints]) -> tuple[Any, Ints]:
    """Return the distinct sequences, packed, and which of them each is."""
    numbers: dict[bytes, int] = {}
    index = np.array([numbers.setdefault(each.tobytes(), len(numbers)) for each in sequences], dtype=np.int64)
    return torch.Places([np.frombuffer(each, dtype=np.int64) for each in numbers]), index


def _seed(seed: int) -> int:
    """Return a seed of PyTorch's generator."""
    return int(np.random.SeedSequence([seed, 5]).generate_state(1)[0])
