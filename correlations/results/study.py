"""The result of a study of metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from correlations.results import common
from correlations.results.ceiling import RowCeiling
from correlations.results.codec import spread_by_short
from correlations.results.common import Ends, Versions
from correlations.results.levels import RowLevels
from correlations.results.sensitivity import Sensitivity
from correlations.results.significance import Significance
from correlations.results.worth import RowWorth
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS

NO_REFERENCES = "none"  # the subset of a metric that reads none


@dataclass(frozen=True)
class PairUnits:
    """Two systems, the items on which both are rated and any metric is defined, and how many units those make."""

    a: str
    b: str
    items: int
    units: int


@dataclass(frozen=True)
class Estimate:
    """A coefficient, the mean over assignments."""

    value: float | None
    reason: str  # why it is undefined, or empty
    paper: Ends | None  # the coefficient's own interval, mirrored observations counted
    assignment_spread: float | None
    assignments_defined: int


@dataclass(frozen=True)
class RowEstimate(Estimate):
    """A coefficient of a row, with its bootstrap intervals or why there are none."""

    over_items: Ends | None
    over_items_reason: str
    over_items_and_raters: Ends | None
    over_items_and_raters_reason: str


@dataclass(frozen=True)
class Dropped(common.Dropped):
    """Items left out for one reason, by their external ids."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class SystemShare:
    system: str
    share: float


@dataclass(frozen=True)
class Clamped:
    """Unit scores whose numerator was 0 or below: how many in each assignment, and the share of all."""

    cells: float
    share: float
    systems: tuple[SystemShare, ...]


@dataclass(frozen=True)
class RowSystem:
    """A system's corpus score and mean rating, both over its items that count in the row."""

    system: str
    score: float | None
    rating: float | None
    rated_items: int
    clamped_share: float | None


@dataclass(frozen=True)
class RowPair:
    """A pair's differences in corpus score and in mean rating, over the items on which the row compares it."""

    items: int
    units: int
    score: float | None
    rating: float | None


@dataclass(frozen=True)
class StudyRow:
    """A metric under one choice of references.

    ``run`` is the number of the score run behind it; None if there is none, because not every system answers every
    item. ``few_units`` says why its units are too few for a conclusion, or is empty. ``pairs`` are in the order of the
    table's.
    """

    metric: str
    label: str
    negated: bool
    subset: str
    subset_label: str
    signature: str
    run: int | None
    coefficients: dict[str, RowEstimate] = field(metadata=spread_by_short())
    n_observations: int
    undefined_units: dict[str, float]
    items: int
    few_units: str
    dropped: Dropped
    clamped: Clamped
    systems: tuple[RowSystem, ...]
    pairs: tuple[RowPair, ...]

    @property
    def smoothed(self) -> bool:
        """Return whether an order without a match has a small precision, so that a clamped score is seldom 0."""
        return any(part.startswith("smooth:") and part != "smooth:none" for part in self.signature.split("|"))


@dataclass(frozen=True)
class Comparison:
    """Two rows by the leading coefficient, over the items that both can use; each with its choice of references."""

    first: str
    first_references: str
    second: str
    second_references: str
    items: int
    of: int
    first_value: dict[str, float | None] = field(metadata=spread_by_short("first_"))
    second_value: dict[str, float | None] = field(metadata=spread_by_short("second_"))
    difference: float | None
    interval: Ends | None
    p: float | None
    p_holm: float | None
    reason: str

    @property
    def subset_label(self) -> str:
        """Return the references that both rows read, a row without any read along; empty if they differ."""
        read = {self.first_references, self.second_references} - {NO_REFERENCES}
        return NO_REFERENCES if not read else read.pop() if len(read) == 1 else ""

    def sides(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return metric and references of both rows."""
        return (self.first, self.first_references), (self.second, self.second_references)


@dataclass(frozen=True)
class Observations:
    """A row's first assignment: each unit's pair, and its rating and metric differences."""

    pair: tuple[int, ...]
    human: tuple[float | None, ...]
    metric: tuple[float | None, ...]


@dataclass(frozen=True)
class SweepPoint:
    coefficients: dict[str, Estimate] = field(metadata=spread_by_short())
    n_observations: int
    items: int
    clamped_share: float | None


@dataclass(frozen=True)
class SweepSeries:
    label: str
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True)
class Sweep:
    points: tuple[float, ...]
    references: str
    series: tuple[SweepSeries, ...]


@dataclass(frozen=True)
class Items(common.Items):
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True)
class SameText:
    """A system whose outputs, but for case, spaces and punctuation, are references of ``items`` of its items."""

    system: str
    items: int


@dataclass(frozen=True)
class Circularity:
    """How often one text, or one rater, is on both sides of the correlation."""

    same_text: tuple[SameText, ...]
    same_text_items: int
    raters: int
    reference_raters: int
    reference_raters_known: bool
    raters_on_both_sides: int
    rater_items: int
    rater_items_on_both_sides: int


@dataclass(frozen=True)
class Counts(common.Counts):
    systems: int
    pairs: int
    references_negative: int
    judgements_incomplete: int


@dataclass(frozen=True)
class Seconds:
    scores: float
    table: float
    sweeps: float


@dataclass(frozen=True)
class Table:
    """The rows, what they are computed over, and how they compare."""

    coefficients: tuple[str, ...]  # keys; the first leads: comparisons and sweeps are of it
    assignments: int
    pairs: tuple[PairUnits, ...]
    rows: tuple[StudyRow, ...]
    comparisons: tuple[Comparison, ...]
    observations: tuple[Observations, ...]  # of each row


@dataclass(frozen=True)
class StudyResult(Table, common.StudyReport):
    """Everything that the report of a study shows."""

    VERSION: ClassVar[int] = 14

    ceilings: tuple[RowCeiling, ...]  # of each row
    worth: tuple[RowWorth, ...]  # of each row
    levels: tuple[RowLevels, ...]  # of each row
    significance: Significance
    sweeps: dict[str, Sweep]
    sensitivity: Sensitivity | None  # None if it was not requested
    items: Items
    circularity: Circularity
    counts: Counts
    versions: Versions
    seed: int
    seconds: Seconds

    @property
    def lead(self) -> Coefficient:
        return COEFFICIENTS[self.coefficients[0]]

    def lead_value(self, row: StudyRow | SweepPoint) -> float | None:
        return row.coefficients[self.lead.key].value
