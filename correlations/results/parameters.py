"""The result of a study of one metric's parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from correlations.results.codec import spread
from correlations.results.common import Counts, Ends, Items, StudyReport, Versions
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS


@dataclass(frozen=True)
class LevelEstimate:
    value: float | None
    interval: Ends | None


@dataclass(frozen=True)
class Level:
    """Coefficients over n systems or over n outputs; ``p`` is that of Pearson's r."""

    n: int
    reason: str  # why they are undefined, or empty
    p: float | None
    coefficients: dict[str, LevelEstimate] = field(metadata=spread({key: key for key in COEFFICIENTS}))


@dataclass(frozen=True)
class Influential:
    """The system whose absence moves Pearson's r most, and r without it."""

    system: str
    pearson: float | None


@dataclass(frozen=True)
class Ngrams:
    """N-grams of a language model: of that order, and of all orders up to it."""

    of_order: int
    up_to: int


@dataclass(frozen=True)
class ParameterPoint:
    """The metric at one value of the parameter."""

    value: Any
    shown: str
    system: Level
    segment: Level
    influential: Influential | None
    scores: tuple[float | None, ...]  # of the systems
    ngrams: Ngrams | None


@dataclass(frozen=True)
class SystemRating:
    system: str
    rating: float | None
    rated: int


@dataclass(frozen=True)
class Without:
    """One system left out: the coefficient at the value in use, at the best one, and which would be best then."""

    system: str
    chosen: float | None
    best: float | None
    best_then: int | None
    best_then_value: float | None


@dataclass(frozen=True)
class Halves:
    """The best value of one random half of the items, judged on the other; means over n halvings."""

    n: int
    chosen_on: float
    judged_on: float
    own: float
    shares: tuple[float, ...]

    @property
    def loss(self) -> float:
        return self.chosen_on - self.judged_on


@dataclass(frozen=True)
class CrossValidation:
    """The best value of all folds of the items but one, judged on that one; means over the folds of all repeats.

    ``inside`` is over folds that the value was chosen on, ``outside`` over those that it was not; ``own`` is of the
    value in use over the latter, ``gain`` what choosing gains there. ``gain_range`` holds the middle 95% of folds.
    """

    folds: int
    repeats: int
    judged: int
    shares: tuple[float, ...]  # of the judged folds in which each value was chosen
    on_training: float
    inside: float | None
    outside: float
    own: float
    gain: float
    gain_range: Ends

    @property
    def loss(self) -> float | None:
        return None if self.inside is None else self.inside - self.outside


@dataclass(frozen=True)
class Splits:
    """The best value on one split of the data set, judged on another."""

    choose_on: str
    judge_on: str
    items: tuple[int, int]
    best: int | None
    chosen_on: float | None
    judged_on: float | None
    own: float | None
    curves: tuple[tuple[float | None, ...], tuple[float | None, ...]]


@dataclass(frozen=True)
class ParameterSweep:
    """One parameter along its values; ``chosen`` is the index of the value in use, ``best`` that of the best one."""

    parameter: str
    label: str
    key: str
    kind: str
    points: tuple[ParameterPoint, ...]
    chosen: int
    best: int | None
    items: int
    systems: tuple[SystemRating, ...]
    without: tuple[Without, ...]
    halves: Halves | None
    cross: CrossValidation | None
    splits: Splits | None
    no_interval: str

    @property
    def in_use(self) -> ParameterPoint:
        return self.points[self.chosen]

    @property
    def best_point(self) -> ParameterPoint | None:
        return None if self.best is None else self.points[self.best]

    def shown(self, index: int | None) -> str | None:
        return None if index is None else self.points[index].shown


@dataclass(frozen=True)
class ModelUsed:
    label: str
    reference: str
    pruned: bool
    name: str
    pk: int | None


@dataclass(frozen=True)
class ParameterResult(StudyReport):
    """Everything that the report of a parameter study shows."""

    VERSION: ClassVar[int] = 3

    coefficient: str  # the key of the one whose highest value is the best
    coefficients: tuple[str, ...]
    sweeps: tuple[ParameterSweep, ...]
    models: tuple[ModelUsed, ...]
    items: Items
    counts: Counts
    negated: bool
    versions: Versions
    seconds: float

    @property
    def deciding(self) -> Coefficient:
        return COEFFICIENTS[self.coefficient]
