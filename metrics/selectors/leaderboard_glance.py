"""The leaderboard at a glance, for screens without room for its numbers: each column's order of the systems."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from annotation.rating.selectors.duplicates import joined
from annotation.results.selectors.leading import BEST, TIED
from annotation.results.selectors.verdicts import CriterionVerdict
from metrics.selectors.leaderboard_table import ON_PHONES, Cell, Column, Leaderboard, Row

MOST_LINES = 24  # before those of long blocks are folded away


@dataclass(frozen=True)
class Place:
    """A system's place by one column; systems of the same score share one. Without a score there is none, but why."""

    number: int | None
    standing: str = ""  # "best", or "tied" with it
    reason: str = ""


@dataclass(frozen=True)
class Line:
    """The places that the raters or a metric give the systems.

    Of the pairs that the raters tell apart for certain, ``told``, the metric orders ``agreed`` as they do.
    ``settings`` tell it from another line of the same name.
    """

    column: Column
    places: list[Place]
    agreed: int = 0
    told: int = 0
    settings: str = ""


@dataclass(frozen=True)
class Head:
    name: str
    may_be_best: bool  # by the raters


@dataclass(frozen=True)
class Glance:
    """Systems in the order of the first column, the raters' if there are any, and the lines of each block."""

    heads: list[Head]
    blocks: list[list[Line]]

    @property
    def first(self) -> Column:
        return self.blocks[0][0].column

    @property
    def compares(self) -> bool:
        """Return whether the raters tell some systems apart, so that metrics can agree with them."""
        return any(line.told for lines in self.blocks for line in lines)

    @property
    def has_open(self) -> bool:
        """Return whether by some line no system is shown to be worse, so that none is marked."""
        return any(line.column.is_open for lines in self.blocks for line in lines)

    @property
    def lines(self) -> int:
        return sum(map(len, self.blocks))

    @property
    def is_long(self) -> bool:
        """Return whether a page shows the first lines of each block only, the others on request."""
        return self.lines > MOST_LINES

    @property
    def width(self) -> int:
        """Return how many columns the table has."""
        return len(self.heads) + 1 + self.compares


def glance(board: Leaderboard) -> Glance | None:
    """Return the orders of all columns that judge quality; None if the table of numbers shows as much."""
    kept = [index for index, column in enumerate(board.columns) if column.judges_quality]
    systems = _systems(board.rows)
    if len(kept) <= ON_PHONES or len(systems) < 2:
        return None
    columns = [board.columns[index] for index in kept]
    cells = [[_cell(rows, index) for rows in systems] for index in kept]
    places = [_places(column, of_column) for column, of_column in zip(columns, cells, strict=True)]
    order = sorted(range(len(systems)), key=lambda place: places[0][place].number or len(systems) + 1)
    names = Counter((column.label, column.block) for column in columns)
    lines = []
    for column, of_column, placed in zip(columns, cells, places, strict=True):
        scores = {row.system.name: cell.score for rows, cell in zip(systems, of_column, strict=True) for row in rows}
        agreed, told = _agreed(columns[0].verdict, column, scores)
        settings = column.settings if names[column.label, column.block] > 1 else ""
        lines.append(Line(column, [placed[index] for index in order], agreed, told, settings))
    heads = [
        Head(joined([row.system.name for row in systems[index]]), columns[0].is_human and bool(placed.standing))
        for index in order
        for placed in [places[0][index]]
    ]
    return Glance(heads, [list(block) for _, block in groupby(lines, lambda line: line.column.block)])


def _systems(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows of the systems that gave the same outputs throughout together."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(min([row.system.name, *row.same]), []).append(row)
    return [sorted(group, key=lambda row: row.system.name) for group in groups.values()]


def _cell(rows: Sequence[Row], index: int) -> Cell:
    """Return the cell of systems that are one: the first with a score."""
    cells = [row.cells[index] for row in rows]
    return next((cell for cell in cells if cell.score is not None), cells[0])


def _places(column: Column, cells: Sequence[Cell]) -> list[Place]:
    """Return the place of each cell: one more than the better scores."""
    sign = 1 if column.higher_is_better else -1
    scores = [sign * cell.score for cell in cells if cell.score is not None]
    return [
        Place(
            None if cell.score is None else 1 + sum(score > sign * cell.score for score in scores),
            cell.standing if cell.standing in (BEST, TIED) and not column.is_open else "",
            cell.reason,
        )
        for cell in cells
    ]


def _agreed(verdict: CriterionVerdict | None, column: Column, scores: Mapping[str, float | None]) -> tuple[int, int]:
    """Return how many pairs a metric orders as the raters, of those that the raters tell apart for certain."""
    if verdict is None or column.is_human:
        return 0, 0
    sign = 1 if column.higher_is_better else -1
    of = {each.name: next((scores[name] for name in each.names if name in scores), None) for each in verdict.systems}
    differences = [
        sign * (better - worse)
        for pair in verdict.pairs
        if pair.is_certain
        for better, worse in [(of.get(pair.first), of.get(pair.second))]
        if better is not None and worse is not None
    ]
    return sum(difference > 0 for difference in differences), len(differences)
