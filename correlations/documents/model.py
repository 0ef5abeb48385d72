"""The parts of a document, without any format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.core.charts import Spec

UNDEFINED = "–"


@dataclass(frozen=True)
class Paragraph:
    text: str
    kind: str = "paragraph"


@dataclass(frozen=True)
class Bullets:
    """``is_small``: what is there to be looked up alone, such as signatures."""

    texts: tuple[str, ...]
    is_small: bool = False
    kind: str = "bullets"


@dataclass(frozen=True)
class Column:
    label: str
    is_number: bool = False


@dataclass(frozen=True)
class Grid:
    """A table. ``best`` is the index of the row that stands out, if one does; ``notes`` are below it."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    best: int | None = None
    kind: str = "grid"


@dataclass(frozen=True)
class Chart:
    """A chart in light colours and in dark ones; ``description`` says in words what it shows."""

    name: str
    caption: str
    description: str
    light: Spec
    dark: Spec
    kind: str = "chart"


@dataclass(frozen=True)
class Facts:
    """Names with values, such as hashes."""

    entries: tuple[tuple[str, str], ...]
    kind: str = "facts"


@dataclass(frozen=True)
class Code:
    """Text as a machine reads it. What is there to be looked up alone is small, in ``columns`` side by side."""

    text: str
    columns: int = 1
    kind: str = "code"


Block = Paragraph | Bullets | Grid | Chart | Facts | Code


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """``about`` is below the title, ``numbers`` are what the answer rests on.

    ``lead`` is the answer: a line, and what it is over; ``notes`` are what it has to be read with, each by itself.
    """

    title: str
    about: str
    lead: tuple[str, ...]
    numbers: tuple[tuple[str, str, str], ...]  # label, value, hint
    sections: tuple[Section, ...]
    foot: str
    notes: tuple[str, ...] = ()

    def blocks(self) -> Iterator[Block]:
        for section in self.sections:
            yield from section.blocks

    def grids(self) -> list[Grid]:
        return [block for block in self.blocks() if isinstance(block, Grid)]

    def charts(self) -> list[Chart]:
        return [block for block in self.blocks() if isinstance(block, Chart)]
