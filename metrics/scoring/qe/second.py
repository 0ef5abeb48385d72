"""The second process of a training, which `metrics.scoring.qe.pair` starts with the number of its open connection."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from metrics.scoring.arrays import Floats
from metrics.scoring.qe.forward import SIDES
from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.learner import Arrays, Learner
from metrics.scoring.qe.memory import freed_memory_kept
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.pair import received, send
from metrics.scoring.qe.plans import TrainingData
from metrics.scoring.qe.vocabulary import Vocabulary


class SecondLearner:
    """Learns the other side of the network, and the layers over both."""

    def __init__(
        self,
        connection: Connection,
        data: TrainingData,
        development: Sequence[Example],
        vocabulary: Vocabulary,
        options: QualityOptions,
        side: str,
    ) -> None:
        self.connection, self.side = connection, side
        [self.other] = set(SIDES) - {side}
        self.learner = Learner(data, development, vocabulary, options)
        self.of_side = self.learner.network.side_parameters(side)
        self.of_head = self.learner.network.head_parameters()
        self._renew_optimizers()

    def arrays(self) -> Arrays:
        arrays: Arrays = self.learner.network.parameter_arrays([*self.of_side, *self.of_head])
        return arrays

    def optimizer_arrays(self) -> Arrays:
        arrays: Arrays = self.side_optimizer.arrays() | self.head_optimizer.arrays()
        return arrays

    def take_up(self, arrays: Arrays, optimizer_arrays: Arrays | None) -> None:
        self.learner.network.set_arrays(arrays)
        self._renew_optimizers()
        if optimizer_arrays is not None:
            self.side_optimizer.set_arrays(optimizer_arrays)
            self.head_optimizer.set_arrays(optimizer_arrays)

    def _renew_optimizers(self) -> None:
        of = self.learner.torch.Optimizer
        self.side_optimizer = of(self.learner.network, self.of_side)
        self.head_optimizer = of(self.learner.network, self.of_head)

    def made_pass(self, number: int, stage: str) -> tuple[list[float], Floats]:
        """Return the loss of each batch, and the predictions of the development part."""
        learner, torch = self.learner, self.learner.torch.torch
        losses: list[float] = []
        with learner.torch.in_one_thread(learner.options.precision):
            for inputs in learner.inputs(number, stage, self.side):
                values = learner.network.side(*inputs.of_side)
                if losses:  # the layers learn from the batch before, while the longer side is still at work
                    self._learn_head()
                leaves = [each.requires_grad_() for each in self._both(values.detach())]
                loss = learner.loss(learner.network.from_sides(leaves), inputs.batch)
                gradients = dict(zip(SIDES, torch.autograd.grad(loss, leaves), strict=True))
                send(self.connection, gradients[self.other])
                self.side_optimizer.step(values, gradients[self.side])
                losses.append(float(loss.detach()))
            self._learn_head()
            predictions = learner.predictions(self._both(learner.development_side(self.side)))
        return losses, predictions

    def _learn_head(self) -> None:
        self.learner.network.finish_head()
        self.head_optimizer.apply()

    def _both(self, values: Any) -> list[Any]:
        """Return what sources and outputs come to, one of which the first process sends."""
        other = self.learner.torch.torch.from_numpy(received(self.connection, values.shape))
        return [values if side == self.side else other for side in SIDES]


def main() -> None:
    connection = Connection(int(sys.argv[1]))
    try:
        with freed_memory_kept():
            learner = SecondLearner(connection, *connection.recv())
            while True:
                name, *arguments = connection.recv()
                connection.send(getattr(learner, name)(*arguments))
    except (EOFError, ConnectionError):
        return  # the first process has ended


if __name__ == "__main__":
    main()
