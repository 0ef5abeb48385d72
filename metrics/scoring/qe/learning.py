"""The passes of a network's training, and the choice of the best.

First passes over all data with synthetic examples; then, from the best of them, passes over rated outputs alone. The
best pass of both stages is kept: by Pearson's plus Spearman's coefficient on the development part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.core.numbers import finite_or_none
from metrics.scoring.arrays import Floats, Ints
from metrics.scoring.qe.checkpoints import read_checkpoint, write_checkpoint
from metrics.scoring.qe.coefficients import pearson, spearman
from metrics.scoring.qe.forward import SIDES
from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.network import torch_network
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.plans import TrainingData
from metrics.scoring.qe.steps import CurvePoint, Progress, Step
from metrics.scoring.qe.vocabulary import Vocabulary

Arrays = dict[str, NDArray[Any]]

WRITE_EVERY = 30.0  # seconds between two checkpoints
BEAT = 5.0  # seconds between two reports within a pass
POOL = 8  # batches: instances of about the same length in a batch, drawn from so many at a time

_BEST, _NOW, _ADAM = "best", "now", "adam"


@dataclass(eq=False)
class Progression:
    """How far a training is: the curve so far, and the best parameters of all."""

    curve: list[CurvePoint] = field(default_factory=list)
    best: Arrays = field(default_factory=dict)
    best_at: int = -1

    @property
    def best_point(self) -> CurvePoint | None:
        return self.curve[self.best_at] if self.curve else None

    def add(self, point: CurvePoint, arrays: Arrays) -> None:
        best = self.best_point
        self.curve.append(point)
        if best is None or point.chosen_by > best.chosen_by:
            self.best, self.best_at = arrays, len(self.curve) - 1


def learnt(
    data: TrainingData,
    development: Sequence[Example],
    vocabulary: Vocabulary,
    options: QualityOptions,
    identity: str,
    *,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> tuple[Arrays, dict[str, Any]]:
    """Return the parameters of the best pass, and the learning curve.

    Everything random in a pass is drawn from the seed and the number of the pass, so that a training that goes on from
    a checkpoint is the one that was never stopped.
    """
    learner = Learner(data, development, vocabulary, options)
    progression = Progression()
    stored = read_checkpoint(checkpoint, identity) if checkpoint else None
    if stored is not None:
        progression = learner.restored(*stored)
    written_at = monotonic()
    while (stage := learner.next_stage(progression)) is not None:
        if len(progression.curve) == learner.n_first and progression.best:
            learner.start_from(progression.best)
        point = learner.made_pass(len(progression.curve) + 1, stage, _beat(progress, progression, learner))
        progression.add(point, learner.network.arrays())
        if checkpoint is not None and monotonic() - written_at > WRITE_EVERY:
            write_checkpoint(checkpoint, *learner.stored(progression, identity))
            written_at = monotonic()
        if progress is not None:
            _report(progress, progression, learner, checkpoint, identity)
    if checkpoint is not None:
        write_checkpoint(checkpoint, *learner.stored(progression, identity))
    best = progression.best_point
    return progression.best or learner.network.arrays(), {
        "best_pass": best.number if best else 0,
        "pearson": finite_or_none(best.pearson) if best else None,
        "spearman": finite_or_none(best.spearman) if best else None,
        "passes": len(progression.curve),
        "curve": [
            [each.number, each.stage, each.loss, finite_or_none(each.pearson), finite_or_none(each.spearman)]
            for each in progression.curve
        ],
    }


def _beat(progress: Progress | None, progression: Progression, learner: Learner) -> Callable[[], None]:
    """Return a function that reports within a pass, but not too often; what it raises loses this pass alone."""
    if progress is None:
        return lambda: None
    last = monotonic()

    def beat() -> None:
        nonlocal last
        if monotonic() - last > BEAT:
            progress(_step(progression, learner))
            last = monotonic()

    return beat


def _step(progression: Progression, learner: Learner) -> Step:
    done, best = len(progression.curve), progression.best_point
    last = progression.curve[-1] if progression.curve else None
    return Step(done, learner.n_passes, last, best, seed=learner.options.seed)


def _report(
    progress: Progress, progression: Progression, learner: Learner, checkpoint: Path | None, identity: str
) -> None:
    try:
        progress(_step(progression, learner))
    except BaseException:
        # Stopped from outside: what was reached is kept.
        if checkpoint is not None:
            write_checkpoint(checkpoint, *learner.stored(progression, identity))
        raise


class Learner:
    """A network, its optimiser, and the data of its passes."""

    def __init__(
        self, data: TrainingData, development: Sequence[Example], vocabulary: Vocabulary, options: QualityOptions
    ) -> None:
        self.torch = torch_network()
        self.options = options
        examples = data.all
        self.n_rated = len(data.rated)
        self.sources, self.outputs = _ids(examples, vocabulary)
        self.ratings = np.array([each.rating for each in examples])
        self.pairs = np.array(data.pairs, dtype=np.int64).reshape(-1, 2)
        self.development = [_distinct(self.torch, each) for each in _ids(development, vocabulary)]
        self.development_ratings = np.array([each.rating for each in development])
        # Synthetic examples that were made for the rank loss alone are in no pass of their own.
        self.n_first = options.synthetic_passes if data.synthetic and options.plan != "S1" else 0
        self.n_passes = self.n_first + options.passes
        mean = float(self.ratings[: self.n_rated].mean())
        self.network = self.torch.Network(options, vocabulary, mean, _seed(options.seed))
        self.optimizer = self.torch.Optimizer(self.network)

    def next_stage(self, progression: Progression) -> str | None:
        """Return what the next pass is over; None if there is no further one."""
        done = len(progression.curve)
        if done < self.n_first:
            return "synthetic"
        since_best = done - max(progression.best_at + 1, self.n_first)
        is_patient = not self.options.patience or since_best < self.options.patience
        return "rated" if done < self.n_passes and is_patient else None

    def start_from(self, arrays: Arrays) -> None:
        """Go on from these parameters, with a new optimiser."""
        self.network.set_arrays(arrays)
        self.optimizer = self.torch.Optimizer(self.network)

    def made_pass(self, number: int, stage: str, beat: Callable[[], None] = lambda: None) -> CurvePoint:
        """Make one pass over the data of a stage, calling ``beat`` in between; test it on the development part."""
        count = len(self.ratings) if stage == "synthetic" else self.n_rated
        rng = np.random.default_rng([self.options.seed, 4, number])
        losses = []
        with self.torch.in_one_thread(self.options.precision):
            for batch in self._batches(count, rng):
                loss = self._loss(batch, rng)
                self.optimizer.step(loss)
                losses.append(float(loss.detach()))
                beat()
            predicted, rated = self._predicted(), self.development_ratings
        return CurvePoint(number, stage, float(np.mean(losses)), pearson(predicted, rated), spearman(predicted, rated))

    def _predicted(self) -> Floats:
        """Return predictions of the development part; equal sequences are encoded once."""
        torch = self.torch.torch
        with torch.no_grad():
            states = [
                self.network.final_states(side, places)[torch.from_numpy(index)]
                for side, (places, index) in zip(SIDES, self.development, strict=True)
            ]
            return np.asarray(self.network.from_states(states).mean(dim=0).numpy(), dtype=np.float64)

    def _batches(self, count: int, rng: np.random.Generator) -> Iterator[Ints]:
        """Cut a random order into batches; within a few batches at a time, instances of about the same length."""
        order, size = rng.permutation(count), self.options.batch
        lengths = np.array([len(self.outputs[at]) + len(self.sources[at]) for at in order])
        batches = []
        for start in range(0, count, POOL * size):
            pool = order[start : start + POOL * size]
            pool = pool[np.argsort(lengths[start : start + POOL * size], kind="stable")]
            batches += [pool[at : at + size] for at in range(0, len(pool), size)]
        for at in rng.permutation(len(batches)):
            yield batches[at]

    def _loss(self, batch: Ints, rng: np.random.Generator) -> Any:
        weight, n = self.options.rank_weight, len(batch)
        if weight and len(self.pairs):
            pairs = self.pairs[rng.integers(len(self.pairs), size=n)]
            batch = np.concatenate([batch, pairs[:, 0], pairs[:, 1]])
        sides = [[ids[at] for at in batch] for ids in (self.sources, self.outputs)]
        predicted = self.network(*map(self.torch.Places, sides), rng)
        loss = self.torch.squared_error(predicted[:, :n], self.ratings[batch[:n]])
        if len(batch) > n:
            loss = loss + weight * self.torch.rank_loss(predicted[:, n : 2 * n], predicted[:, 2 * n :])
        return loss

    def stored(self, progression: Progression, identity: str) -> tuple[dict[str, Any], Arrays]:
        """Return header and arrays of a checkpoint."""
        header = {
            "identity": identity,
            "best_at": progression.best_at,
            "curve": [each.as_dict() for each in progression.curve],
        }
        parts = ((_BEST, progression.best), (_NOW, self.network.arrays()), (_ADAM, self.optimizer.arrays()))
        return header, {f"{part}/{name}": each for part, arrays in parts for name, each in arrays.items()}

    def restored(self, header: dict[str, Any], arrays: Arrays) -> Progression:
        """Take up the state of a checkpoint."""
        self.network.set_arrays(_part(arrays, _NOW))
        self.optimizer.set_arrays(_part(arrays, _ADAM))
        curve = [CurvePoint(**each) for each in header["curve"]]
        return Progression(curve, _part(arrays, _BEST), header["best_at"])


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


def _part(arrays: Arrays, name: str) -> Arrays:
    return {key.removeprefix(f"{name}/"): each for key, each in arrays.items() if key.startswith(f"{name}/")}


def _seed(seed: int) -> int:
    """Return a seed of PyTorch's generator."""
    return int(np.random.SeedSequence([seed, 5]).generate_state(1)[0])
