"""What results of both kinds of studies hold."""

from __future__ import annotations

from dataclasses import dataclass

Ends = tuple[float, float]  # of an interval


@dataclass(frozen=True)
class Versions:
    assay: str
    numpy: str
