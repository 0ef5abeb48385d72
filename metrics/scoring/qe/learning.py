"""The passes of a network's training, and the choice of the best.

First passes over all data with synthetic examples; then, from the best of them, passes over rated outputs alone. The
best pass of both stages is kept: by Pearson's plus Spearman's coefficient on the development part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from annotation.core.numbers import finite_or_none
from metrics.scoring.qe.checkpoints import read_checkpoint, write_checkpoint
from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.learner import Arrays, Beat, Learner
from metrics.scoring.qe.memory import freed_memory_kept
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.pair import PairedLearner, is_worth_two, processes_here
from metrics.scoring.qe.plans import TrainingData
from metrics.scoring.qe.steps import CurvePoint, Progress, Step
from metrics.scoring.qe.vocabulary import Vocabulary

WRITE_EVERY = 30.0  # seconds between two checkpoints
BEAT = 5.0  # seconds between two reports within a pass

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

    def add(self, point: CurvePoint, arrays: Callable[[], Arrays]) -> None:
        best = self.best_point
        self.curve.append(point)
        if best is None or point.chosen_by > best.chosen_by:
            self.best, self.best_at = arrays(), len(self.curve) - 1


def learnt(
    data: TrainingData,
    development: Sequence[Example],
    vocabulary: Vocabulary,
    options: QualityOptions,
    identity: str,
    *,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    processes: int = 1,
) -> tuple[Arrays, dict[str, Any]]:
    """Return the parameters of the best pass, and the learning curve.

    Everything random in a pass is drawn from the seed and the number of the pass, so that a training that goes on from
    a checkpoint is the one that was never stopped. One process and two give the same parameters; a training that is
    over in seconds takes one.
    """
    kind = PairedLearner if min(processes, processes_here()) > 1 and is_worth_two(data, options) else Learner
    with freed_memory_kept(), closing(kind(data, development, vocabulary, options)) as learner:
        return _learnt(learner, identity, progress, checkpoint)


def _learnt(
    learner: Learner, identity: str, progress: Progress | None, checkpoint: Path | None
) -> tuple[Arrays, dict[str, Any]]:
    progression = Progression()
    stored = read_checkpoint(checkpoint, identity) if checkpoint else None
    if stored is not None:
        progression = _restored(learner, *stored)
    written_at = monotonic()
    while (stage := _next_stage(learner, progression)) is not None:
        if len(progression.curve) == learner.n_first and progression.best:
            learner.take_up(progression.best)
        point = learner.made_pass(len(progression.curve) + 1, stage, _beat(progress, progression, learner))
        progression.add(point, learner.arrays)
        if checkpoint is not None and monotonic() - written_at > WRITE_EVERY:
            write_checkpoint(checkpoint, *_stored(learner, progression, identity))
            written_at = monotonic()
        if progress is not None:
            _report(progress, progression, learner, checkpoint, identity)
    if checkpoint is not None:
        write_checkpoint(checkpoint, *_stored(learner, progression, identity))
    best = progression.best_point
    return progression.best or learner.arrays(), {
        "best_pass": best.number if best else 0,
        "pearson": finite_or_none(best.pearson) if best else None,
        "spearman": finite_or_none(best.spearman) if best else None,
        "passes": len(progression.curve),
        "curve": [
            [each.number, each.stage, each.loss, finite_or_none(each.pearson), finite_or_none(each.spearman)]
            for each in progression.curve
        ],
    }


def _beat(progress: Progress | None, progression: Progression, learner: Learner) -> Beat:
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
            write_checkpoint(checkpoint, *_stored(learner, progression, identity))
        raise


def _next_stage(learner: Learner, progression: Progression) -> str | None:
    """Return what the next pass is over; None if there is no further one."""
    done, patience = len(progression.curve), learner.options.patience
    if done < learner.n_first:
        return "synthetic"
    since_best = done - max(progression.best_at + 1, learner.n_first)
    is_patient = not patience or since_best < patience
    return "rated" if done < learner.n_passes and is_patient else None


def _stored(learner: Learner, progression: Progression, identity: str) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a checkpoint."""
    header = {
        "identity": identity,
        "best_at": progression.best_at,
        "curve": [each.as_dict() for each in progression.curve],
    }
    parts = ((_BEST, progression.best), (_NOW, learner.arrays()), (_ADAM, learner.optimizer_arrays()))
    return header, {f"{part}/{name}": each for part, arrays in parts for name, each in arrays.items()}


def _restored(learner: Learner, header: dict[str, Any], arrays: Arrays) -> Progression:
    """Take up the state of a checkpoint."""
    learner.take_up(_part(arrays, _NOW), _part(arrays, _ADAM))
    return Progression([CurvePoint(**each) for each in header["curve"]], _part(arrays, _BEST), header["best_at"])


def _part(arrays: Arrays, name: str) -> Arrays:
    return {key.removeprefix(f"{name}/"): each for key, each in arrays.items() if key.startswith(f"{name}/")}
