"""The progress of a quality estimator's training: passes, and how well each predicts the development part."""

import math
import time
from collections.abc import Sequence
from typing import Any

from annotation.core.jobs import Claim
from annotation.core.numbers import finite_or_none
from annotation.core.progress import Throttle
from metrics.models import TrainedModel
from metrics.scoring.qe.steps import CurvePoint, Step
from metrics.selectors.predictions import WHOLE

MOST_POINTS = 200  # of a stored curve
CURVE_SECONDS = 5  # between two times that curves are stored: they are larger than a line of progress
PARTS = 1000  # of the progress of a training or a cross-validation


class LearningCurves:
    """Report progress, and keep a curve for each training. Each report can raise, which ends the training.

    ``stages`` is 2 if a cross-validation follows the training.
    """

    def __init__(self, model: TrainedModel, claim: Claim, *, stages: int) -> None:
        self.model, self.claim, self.stages = model, claim, stages
        self.throttle = Throttle()
        self.stored = float("-inf")  # when the curves were, last
        # What a worker that died had stored.
        self.curves: dict[str, list[dict[str, Any]]] = dict(model.report.get("curves", {}))

    def trained(self, step: Step) -> None:
        words = _pass_words(step)
        self._report(step, WHOLE, 0, words[:1].upper() + words[1:])

    def validated(self, step: Step) -> None:
        note = f"Fold {step.run} of {step.runs}: {_pass_words(step)}"
        self._report(step, f"fold {step.fold + 1}", self.stages - 1, note)

    def keep_whole(self, points: Sequence[Sequence[Any]]) -> None:
        """Keep the whole curve as the trained model has it: a worker that went on has not seen all of it."""
        if points:
            self.curves[WHOLE] = [_rounded(*point) for point in points]

    def copy_whole(self, earlier: TrainedModel) -> None:
        """Keep the curve of a model of the same training."""
        if WHOLE in earlier.report.get("curves", {}):
            self.curves[WHOLE] = earlier.report["curves"][WHOLE]

    def _report(self, step: Step, name: str, stage: int, note: str) -> None:
        if step.point is not None:
            points = self.curves.setdefault(name, [])
            if not points or points[-1]["number"] < step.point.number:
                points.append(_plain(step.point))
        if self.throttle.due():
            if time.monotonic() - self.stored >= CURVE_SECONDS:
                self.stored = time.monotonic()
                self.claim.record(report=self.model.report | {"curves": self.as_json()})
            self.claim.progress(int(PARTS * (stage + step.share)), PARTS * self.stages, note)

    def as_json(self) -> dict[str, list[dict[str, Any]]]:
        return {name: thinned(points) for name, points in self.curves.items()}


def _pass_words(step: Step) -> str:
    if step.point is None:
        return "trained" if step.done else f"pass 1 of {step.of:,}"
    words = f"pass {step.done:,} of {step.of:,}"
    if step.best is not None and not math.isnan(step.best.pearson):
        words += f", the best so far {step.best.number:,} (Pearson’s r {step.best.pearson:.2f})"
    return words


def _plain(point: CurvePoint) -> dict[str, Any]:
    return _rounded(point.number, point.stage, point.loss, point.pearson, point.spearman)


def _rounded(
    number: int, stage: str, loss: float | None, pearson: float | None, spearman: float | None
) -> dict[str, Any]:
    values = {"loss": loss, "pearson": pearson, "spearman": spearman}
    rounded = {name: None if value is None else finite_or_none(round(value, 5)) for name, value in values.items()}
    return {"number": number, "stage": stage, **rounded}


def thinned(points: Sequence[dict[str, Any]], most: int = MOST_POINTS) -> list[dict[str, Any]]:
    """Return at most so many points, evenly spaced, with the first and the last.

    Examples
    --------
    >>> [point["number"] for point in thinned([{"number": n} for n in range(1, 11)], most=4)]
    [1, 4, 7, 10]
    """
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(index * step)] for index in range(most)]
