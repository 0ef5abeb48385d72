"""What a training reports, pass by pass."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class CurvePoint:
    """A pass over the data.

    Attributes
    ----------
    number : int
        From 1, over both stages.
    stage : {"synthetic", "rated"}
        What the pass was over.
    loss : float
        Mean over the pass's batches, with dropout.
    pearson, spearman : float
        On the development part; NaN where undefined.
    """

    number: int
    stage: str
    loss: float
    pearson: float
    spearman: float

    @property
    def chosen_by(self) -> float:
        """Return the sum of both coefficients; an undefined one counts as 0."""
        return sum(value for value in (self.pearson, self.spearman) if not math.isnan(value))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Step:
    """How far a training is.

    Attributes
    ----------
    done, of : int
        Passes of this training.
    best : CurvePoint or None
        The best pass so far.
    point : CurvePoint or None
        The last pass that was made. None within the first (``done`` is 0), for ridge regression, and for a run that was
        finished before.
    run, runs : int
        Which training of a cross-validation this is, from 1, and how many there are.
    fold, seed : int
        Of this training; fold -1 outside of a cross-validation.
    """

    done: int
    of: int
    point: CurvePoint | None = None
    best: CurvePoint | None = None
    run: int = 1
    runs: int = 1
    fold: int = -1
    seed: int = 0

    @property
    def share(self) -> float:
        """Return the share of the whole that is done, if every pass is made."""
        return (self.run - 1 + self.done / max(self.of, 1)) / self.runs


Progress: TypeAlias = Callable[[Step], None]
