"""How each row of a study agrees with the raters over systems, and over single outputs."""

from __future__ import annotations

from dataclasses import dataclass

from correlations.results.common import Ends

BY_RANGE, ROUNDED_DOWN, BY_LINE = "range", "range, rounded down", "line"  # how scores come onto the raters' scale


@dataclass(frozen=True)
class SystemPoint:
    """A system's corpus score and mean rating over the same outputs; ``spread`` is the deviation of their ratings."""

    system: str
    outputs: int
    score: float | None
    rating: float | None
    spread: float | None


@dataclass(frozen=True)
class WithoutSystem:
    """The coefficients without the system whose absence moves Pearson's most."""

    system: str
    values: dict[str, float | None]


@dataclass(frozen=True)
class LevelEstimate:
    """A coefficient with the middle 95% of resamples of items, and of items and systems, where these are computed."""

    value: float | None
    over_items: Ends | None
    over_items_and_systems: Ends | None
    p: float | None


@dataclass(frozen=True)
class SystemEstimate(LevelEstimate):
    """A coefficient over systems, with 95% intervals over items, systems, raters (at least 95%), and all three."""

    over_systems: Ends | None = None
    over_raters: Ends | None = None
    over_items_systems_and_raters: Ends | None = None


@dataclass(frozen=True)
class SystemLevel:
    """Coefficients over systems, by key; ``reason`` says why they are undefined, or is empty.

    ``raters`` counts those whose ratings count, and ``raters_reason`` says why none are drawn anew, or is empty.
    """

    systems: tuple[SystemPoint, ...]
    coefficients: dict[str, SystemEstimate]
    without: WithoutSystem | None
    reason: str
    raters: int = 0
    raters_reason: str = ""


@dataclass(frozen=True)
class OutputLevel:
    """Coefficients over outputs: all together, or the mean within items or systems; ``groups`` counts these."""

    grouping: str
    outputs: int
    coefficients: dict[str, LevelEstimate]
    groups: dict[str, int]
    reason: str


@dataclass(frozen=True)
class ScaledErrors:
    """How far scores on the raters' scale lie from the ratings, in points; ``scaled`` says how they came onto it.

    ``step`` is what they were rounded to: the precision of the ratings. None if they were not rounded.
    """

    scaled: str
    step: float | None
    outputs: int
    mae: float | None
    rmse: float | None
    constant_mae: float | None
    constant_rmse: float | None
    reason: str


@dataclass(frozen=True)
class RowLevels:
    system: SystemLevel
    outputs: tuple[OutputLevel, ...]  # over all, within items, within systems
    errors: tuple[ScaledErrors, ...]  # by range, by range and rounded down, by line
