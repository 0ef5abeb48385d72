"""The leaderboard at a glance, for screens without room for its numbers: each column's order of the systems."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from annotation.rating.selectors.duplicates import joined
from annotation.results.selectors.leading import BEST, TIED
from metrics.selectors.leaderboard_table import ON_PHONES, Cell, Column, Leaderboard, Row

MOST_LINES = 24  # before those of long blocks are folded away


@dataclass(frozen=True)
class Place:
    """A system's best place by one column, which several may share. Without a score there is none, but why."""

    number: int | None
    standing: str = ""  # "best", or "tied" with it
    reason: str = ""


@dataclass(frozen=True)
class Line:
    """The places that the raters or a metric give the systems.

    ``settings`` tell it from another line of the same name.
    """

    column: Column
    places: list[Place]
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
        return any(line.column.certain_pairs for lines in self.blocks for line in lines)

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
    order = _order(columns[0], cells[0])
    names = Counter((column.label, column.block) for column in columns)
    lines = [
        Line(
            column,
            [placed[index] for index in order],
            column.settings if names[column.label, column.block] > 1 else "",
        )
        for column, placed in zip(columns, places, strict=True)
    ]
    heads = [
        Head(
            joined([row.system.name for row in systems[index]]),
            columns[0].is_human and not columns[0].is_open and bool(placed.standing),
        )
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


def _order(column: Column, cells: Sequence[Cell]) -> list[int]:
    """Return the cells from the best score to the worst, those without one last."""
    sign = 1 if column.higher_is_better else -1
    return sorted(
        range(len(cells)), key=lambda index: (cells[index].score is None, -sign * (cells[index].score or 0.0))
    )


def _places(column: Column, cells: Sequence[Cell]) -> list[Place]:
    """Return the best place of each cell: one more than the systems that are better for certain.

    Without tests it is one more than the scores that are better as they are printed.
    """
    sign = 1 if column.higher_is_better else -1
    printed = [None if cell.score is None else sign * round(cell.score, column.digits) for cell in cells]
    better = [
        1 if score is None else 1 + sum(other is not None and other > score for other in printed) for score in printed
    ]
    return [
        Place(
            None if cell.score is None else (column.is_tested and cell.first_place) or by_score,
            cell.standing if cell.standing in (BEST, TIED) else "",
            cell.reason,
        )
        for cell, by_score in zip(cells, better, strict=True)
    ]
