"""What results of both kinds of studies hold."""

from __future__ import annotations

from dataclasses import dataclass

from correlations.results.codec import Result
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS

Ends = tuple[float, float]  # of an interval


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
