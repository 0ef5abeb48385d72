"""A training by two processes: one side learns here; the other, and the layers over both, in a second process.

Batch by batch they exchange what a side comes to and the gradient of it. Each parameter is learnt in one of the two, as
it would be in a single process, so the result is the same, bit by bit.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from metrics.scoring.qe.forward import GATES, SIDES
from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.learner import Arrays, Beat, Learner
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.plans import TrainingData
from metrics.scoring.qe.steps import CurvePoint
from metrics.scoring.qe.vocabulary import Vocabulary

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
WORTH = 2e12  # multiplications of encoders: some 40 seconds of a core. The second process takes 2 to start.

_SECOND = "metrics.scoring.qe.second"
_ROOT = Path(__file__).resolve().parents[3]


def processes_here() -> int:
    """Return how many processes can share a training on this machine: two, if it has the cores."""
    if os.name != "posix":  # where a process cannot hand on an open connection
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 2)


def is_worth_two(data: TrainingData, options: QualityOptions) -> bool:
    """Return whether two processes can train a network, and are faster than one in spite of their start."""
    if options.encoders == "shared":
        return False
    tokens = sum(len(example.source) + len(example.output) for example in data.rated)
    of_a_token = 6 * GATES[options.cell] * options.layers * options.embedding**2
    return tokens * of_a_token * options.passes > WORTH


class PairedLearner(Learner):
    """Learns one side of the network, and has a `SecondLearner` that learns all else.

    Raises
    ------
    ChildProcessError
        From any method: the second process has ended.
    """

    def __init__(
        self, data: TrainingData, development: Sequence[Example], vocabulary: Vocabulary, options: QualityOptions
    ) -> None:
        super().__init__(data, development, vocabulary, options)
        # The longer side stays here: the layers over both take time, too.
        there, self.side = sorted(SIDES, key=lambda side: sum(map(len, self.ids[side])))
        self.own = self.network.side_parameters(self.side)
        self.optimizer = self.torch.Optimizer(self.network, self.own)
        self._connection, self._process = _started()
        with self._connected():
            self._connection.send((data, development, vocabulary, options, there))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def arrays(self) -> Arrays:
        self.network.set_arrays(self._result_of("arrays"))
        return super().arrays()

    def optimizer_arrays(self) -> Arrays:
        others: Arrays = self._result_of("optimizer_arrays")
        return super().optimizer_arrays() | others

    def take_up(self, arrays: Arrays, optimizer_arrays: Arrays | None = None) -> None:
        self.network.set_arrays(arrays)
        self.optimizer = self.torch.Optimizer(self.network, self.own)
        if optimizer_arrays is not None:
            self.optimizer.set_arrays(optimizer_arrays)
        self._result_of("take_up", arrays, optimizer_arrays)

    def made_pass(self, number: int, stage: str, beat: Beat = lambda: None) -> CurvePoint:
        with self._connected():
            self._connection.send(("made_pass", number, stage))
        with self.torch.in_one_thread(self.options.precision):
            inputs = self.inputs(number, stage, self.side)
            following = next(inputs, None)
            while following is not None:
                values = self.network.side(*following.of_side)
                with self._connected():
                    send(self._connection, values)
                following = next(inputs, None)  # drawn while the second process is at work
                with self._connected():
                    gradient = received(self._connection, values.shape)
                self.optimizer.step(values, self.torch.torch.from_numpy(gradient))
                beat()
            values = self.development_side(self.side)
        with self._connected():
            send(self._connection, values)
            losses, predictions = self._connection.recv()
        return self.point(number, stage, losses, predictions)

    def _result_of(self, name: str, *arguments: Any) -> Any:
        """Return what a method of the second learner returns."""
        with self._connected():
            self._connection.send((name, *arguments))
            return self._connection.recv()

    @contextmanager
    def _connected(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError) as error:
            message = "The second process of the training has ended; started again, the training goes on."
            raise ChildProcessError(message) from error


def send(connection: Connection, values: Any) -> None:
    """Send the values of a tensor."""
    connection.send_bytes(np.ascontiguousarray(values.detach().numpy()).data)


def received(connection: Connection, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """Receive single-precision values of this shape."""
    values = np.empty(shape, dtype=np.float32)
    connection.recv_bytes_into(values.reshape(-1))
    return values


def _started() -> tuple[Connection, subprocess.Popen[bytes]]:
    # Not by `multiprocessing`, which would import the main module of a worker or a script again.
    here, there = Pipe()
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    with there:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _SECOND, str(there.fileno())],
            env=os.environ | ONE_THREAD | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            pass_fds=[there.fileno()],
            start_new_session=True,  # Ctrl+C is for the first process, which ends this one
        )
    return here, process
