"""The settings of a dry run: what the form shows, what is accepted, and what is stored."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from annotation.core.errors import AnnotationError
from annotation.dry_runs.simulation.raters import PopulationTraits


class Bounds(NamedTuple):
    low: float
    high: float
    accepted: str


class Setting(NamedTuple):
    """A number that a manager chooses. Percentages are stored as shares, from 0 to 1."""

    label: str
    help: str
    bounds: Bounds
    is_percentage: bool = False
    is_whole: bool = False
    is_main: bool = False  # shown before the others

    def text(self, value: float | None) -> str:
        if value is None:
            return "–"
        if self.is_percentage:
            return f"{100 * value:g} %"
        return str(value) if self.is_whole else f"{value:g}"


SHARE = Bounds(0, 1, "a share from 0 to 1")
OF_SCALE = Bounds(0, 1, "a number from 0 to 1, as a share of the scale")
SETTINGS: dict[str, Setting] = {
    "raters": Setting(
        "Raters, at most",
        "They arrive at random times.",
        Bounds(1, 500, "a whole number from 1 to 500"),
        is_whole=True,
        is_main=True,
    ),
    "arrivals_per_hour": Setting(
        "Arrivals an hour", "On average.", Bounds(0.1, 10_000, "a number from 0.1 to 10,000"), is_main=True
    ),
    "spam_share": Setting(
        "Spammers", "Half of them answer at random, half always the same.", SHARE, is_percentage=True, is_main=True
    ),
    "bias_sd": Setting(
        "Bias between raters",
        "How far raters differ in strictness, as a standard deviation in percent of the scale.",
        OF_SCALE,
        is_percentage=True,
    ),
    "noise": Setting(
        "Noise of answers",
        "How far the answers of one rater scatter, as a standard deviation in percent of the scale.",
        OF_SCALE,
        is_percentage=True,
    ),
    "lapse": Setting("Lapses of attention", "How often an honest rater answers at random.", SHARE, is_percentage=True),
    "dropout": Setting(
        "Raters who leave at an item",
        "How often a rater closes the window for good instead of answering.",
        Bounds(0, 0.5, "a probability from 0 to 0.5"),
        is_percentage=True,
    ),
    "median_seconds": Setting(
        "Seconds per item",
        "The median of honest raters; spammers take 0.4 of an honest rater's time.",
        Bounds(1, 3600, "a number of seconds from 1 to 3,600"),
        is_main=True,
    ),
    "speed_sd": Setting(
        "Spread of speed",
        "Standard deviation of log time between raters; at 0.4 slow raters take twice as long.",
        Bounds(0, 2, "a number from 0 to 2"),
    ),
    "target": Setting(
        "Target margin of error",
        "Of a weight's 95% interval, on weights from −1 to +1: the certainty you need.",
        Bounds(0.01, 1, "a margin of error from 0.01 to 1"),
    ),
    "seed": Setting(
        "Seed of the random numbers",
        "The same settings and seed give the same dry run.",
        Bounds(0, 2**31 - 1, "a whole number from 0 to 2,147,483,647"),
        is_whole=True,
    ),
}


@dataclass(frozen=True)
class DryRunSpecification(PopulationTraits):
    """A value for each of ``SETTINGS``."""

    raters: int = 30
    arrivals_per_hour: float = 10.0
    target: float = 0.2
    seed: int = 1

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "DryRunSpecification":
        """Return the specification; the ``AnnotationError`` for invalid data ties each mistake to its field."""
        problems = {name: [f"Unknown; accepted: {', '.join(SETTINGS)}."] for name in data if name not in SETTINGS}
        for name, setting in SETTINGS.items():
            value = data.get(name, getattr(cls, name))
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            in_range = is_number and setting.bounds.low <= value <= setting.bounds.high
            if not in_range or (setting.is_whole and value != int(value)):
                problems[name] = [f"Found {value!r}; accepted: {setting.bounds.accepted}."]
        if problems:
            message = " ".join(f"{name}: {messages[0]}" for name, messages in problems.items())
            raise AnnotationError(message, fields=problems)
        values: dict[str, Any] = {
            name: int(value) if SETTINGS[name].is_whole else float(value) for name, value in data.items()
        }
        return cls(**values)
