"""How far a study's conclusion hangs on its items, on its raters, and on how many ratings and references there were."""

from __future__ import annotations

from dataclasses import dataclass

from correlations.results.common import Ends

ITEMS, OUTPUTS, REFERENCES = "items", "outputs", "references"  # sources of uncertainty: what is drawn anew
ALL = "all"
# What is drawn together, by name; in the order of pages.
COMBINED: dict[str, tuple[str, ...]] = {
    ITEMS: (ITEMS,),
    OUTPUTS: (OUTPUTS,),
    REFERENCES: (REFERENCES,),
    "items+outputs": (ITEMS, OUTPUTS),
    "items+references": (ITEMS, REFERENCES),
    ALL: (ITEMS, OUTPUTS, REFERENCES),
}
MOST_REPLICATES = 200  # of what is drawn anew
MOST_DRAWS = 100  # at each point of a curve
MIDDLE = (0.025, 0.975)  # of the draws
RATINGS_OF_OUTPUTS, RATINGS_OF_REFERENCES, N_REFERENCES = "outputs", "references", "number"  # curves


@dataclass(frozen=True)
class Draws:
    """A coefficient, or a difference of two, over draws: the middle 95% of them and their standard deviation."""

    ends: Ends | None
    spread: float | None
    reason: str


@dataclass(frozen=True)
class RowSources:
    """A row of the study, by its index, and its draws by what was drawn."""

    row: int
    value: float | None
    sources: dict[str, Draws]


@dataclass(frozen=True)
class PairSources:
    """Two rows, the first of which is ahead by ``difference`` on the items that both can use.

    ``ahead`` is the share of draws in which it stays ahead, by what was drawn.
    """

    first: int
    second: int
    difference: float
    ahead: dict[str, float]
    sources: dict[str, Draws]


@dataclass(frozen=True)
class CurveValue:
    """A row's coefficient over draws at one point: mean, standard deviation, and the middle 95%; how many items."""

    mean: float | None
    spread: float | None
    ends: Ends | None
    items: float


@dataclass(frozen=True)
class CurvePoint:
    """What each draw keeps of every output or reference, or of every item; ``reached`` is the share that has as many.

    ``ahead`` holds, for each pair, the share of draws in which its first row is ahead.
    """

    count: int
    reached: float
    rows: tuple[CurveValue, ...]
    ahead: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """``reason`` says why there is no curve, or is empty."""

    reason: str
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True)
class SchemeValue:
    """A row under other weights: the coefficient, and its difference from the row under the release's own weights."""

    value: float | None
    interval: Ends | None
    difference: float | None
    difference_interval: Ends | None
    items: int
    reason: str


@dataclass(frozen=True)
class SchemeLine:
    """One set of weights and what it makes of each row that reads weights."""

    key: str
    label: str
    is_own: bool
    reason: str  # why there are no such weights, or empty
    rows: tuple[SchemeValue, ...]


@dataclass(frozen=True)
class Schemes:
    """``rows`` are the rows of the study that read weights, by their index."""

    reason: str
    rows: tuple[int, ...]
    lines: tuple[SchemeLine, ...]


@dataclass(frozen=True)
class Sensitivity:
    """The best row of each metric, or all rows of a lone metric, the best first, by the leading coefficient.

    ``reason`` says why nothing was drawn, or is empty; ``missing`` says of a source why it could not be drawn.
    """

    reason: str
    shown: tuple[int, ...]
    replicates: int  # of the sources
    draws: int  # at each point of a curve
    missing: dict[str, str]
    rows: tuple[RowSources, ...]
    pairs: tuple[PairSources, ...]
    curves: dict[str, Curve]
    schemes: Schemes
    seconds: float

    @classmethod
    def nothing(cls, reason: str) -> Sensitivity:
        return cls(reason, (), 0, 0, {}, (), (), {}, Schemes(reason, (), ()), 0.0)
