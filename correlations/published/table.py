"""What a published table is, whatever it is of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "demo" / "published"


@dataclass(frozen=True)
class Cell:
    """A printed number, with what is computed here; both as the paper rounds."""

    printed: float
    computed: float
    decimals: int
    exponent: bool = False  # printed as 1.41e-7

    @property
    def agrees(self) -> bool:
        """Return whether the computed number rounds to the printed one."""
        return self.shown(self.computed) == self.shown(self.printed)

    @property
    def difference(self) -> float:
        return abs(self.computed - self.printed)

    def shown(self, value: float) -> str:
        text = f"{value:.{self.decimals}{'e' if self.exponent else 'f'}}"
        return text.replace("e-0", "e-").replace("-", "−")

    @property
    def printed_text(self) -> str:
        return self.shown(self.printed)

    @property
    def computed_text(self) -> str:
        return self.shown(self.computed)


@dataclass(frozen=True)
class Line:
    name: str
    cells: tuple[Cell | None, ...]  # None where the paper has none
    note: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper.

    Parameters
    ----------
    key : str
        Its anchor on the page.
    title, paper : str
        What it shows; where it is printed.
    data, licence : str
        What is computed from, and on which terms.
    differs : str
        Where paper and product differ, and why.
    columns : sequence of str
        Of each line's cells.
    compute : callable
        Gives the lines.
    """

    key: str
    title: str
    paper: str
    data: str
    licence: str
    differs: str
    columns: Sequence[str]
    compute: Callable[[], Sequence[Line]]

    @cached_property
    def lines(self) -> Sequence[Line]:
        return self.compute()

    @property
    def rows(self) -> list[tuple[Line, list[tuple[str, Cell | None]]]]:
        """Return each line with its cells, and the column of each."""
        return [(line, list(zip(self.columns, line.cells, strict=True))) for line in self.lines]

    @property
    def cells(self) -> list[Cell]:
        return [cell for line in self.lines for cell in line.cells if cell]

    @property
    def agreement(self) -> str:
        """Return in a sentence how far computed numbers lie from the printed ones at most."""
        n, equal = len(self.cells), sum(cell.agrees for cell in self.cells)
        if equal == n:
            return f"All {n} numbers are the printed ones."
        largest, where = max((cell.difference, line.name) for line in self.lines for cell in line.cells if cell)
        return (
            f"All {n} numbers lie within {largest:.2g} of the printed ones (farthest: {where}); "
            f"{equal} are the same to the last digit."
        )
