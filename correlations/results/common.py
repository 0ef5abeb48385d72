"""What results of both kinds of studies hold."""

from __future__ import annotations

import math
from dataclasses import dataclass

from correlations.results.codec import Result
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.intervals import Interval

Ends = tuple[float, float]  # of an interval


def ends(interval: Interval) -> Ends | None:
    """Return the ends as a result stores them; None where the interval is undefined."""
    return (
        None if math.isnan(interval.low) or math.isnan(interval.high) else (float(interval.low), float(interval.high))
    )


class StudyReport(Result):
    """A result with coefficients, by their keys."""

    coefficients: tuple[str, ...]

    @property
    def entries(self) -> list[Coefficient]:
        return [COEFFICIENTS[key] for key in self.coefficients]


@dataclass(frozen=True)
class Dropped:
    """Items left out for one reason."""

    reason: str
    count: int


@dataclass(frozen=True)
class Items:
    used: int
    dropped: tuple[Dropped, ...]

    @property
    def left_out(self) -> int:
        return sum(entry.count for entry in self.dropped)


@dataclass(frozen=True)
class Counts:
    references: int
    judgements: int
    raters: int
    raters_excluded: int


@dataclass(frozen=True)
class Versions:
    assay: str
    numpy: str
