"""Read files of systems' outputs for items that a data set has, without reading the database. All errors are reported.

Three layouts: item, system and text in each row; item and text, of one system that the file does not name; item and a
column for each system.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from annotation.core import rows as tables
from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.file_limits import TableLimits
from annotation.core.near_names import nearest
from annotation.core.problems import Problems, listed
from annotation.datasets.mapping.meanings import SYNONYMS
from annotation.datasets.services.content import LENGTHS, check_response, check_text

ITEM_NAMES = ("item_id", "item", "id")
LONG = ("system", "text")
# Columns of data set files: in a table with a column for each system they are no systems.
NO_SYSTEMS = {
    *ITEM_NAMES,
    *LONG,
    *("context", "message", "meaning_representation", "split", "kind", "references", "outputs"),
    *("rank", "score", "source_context", "source_message", "raw_text"),
}
ITEM_SYNONYMS = {**SYNONYMS, "item_id": ITEM_NAMES}
EXAMPLE = '{"item_id": "1", "system": "SystemA", "text": "Yes!"}'
LAYOUTS = (
    "item_id, system and text; or item_id and text, of one system; or item_id and a column named after each system"
)
A_TEXT = "a text; a file with a row for each output can leave out what a system did not answer"

Rows = Iterator[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class OutputDraft:
    """An output as the file gives it."""

    line: int
    item: str
    item_field: str
    system: str
    text: str
    text_field: str
    turns: list[dict[str, str]] | None = None


def read_outputs(
    content: bytes, *, file_format: str, system: str, limits: TableLimits, problems: Problems
) -> list[OutputDraft]:
    """Return the outputs of a file; ``system`` names their system if the file does not. Row errors are added."""
    header, header_line, rows = _rows(content, file_format, limits, problems)
    item = _item_name(header, header_line, problems)
    if not any(name in header for name in LONG):
        reader = _Reader(problems, item)
        return reader.wide(rows, _systems(header, header_line, system, item, problems))
    for name in header:
        if name not in (item, *LONG):
            meant = partial(tables.unknown_name, name, (item, *LONG), ITEM_SYNONYMS, among="only")
            problems.add(header_line, name, "an unknown column", meant)
    if "text" not in header:
        problems.add(header_line, "columns", listed(header), LAYOUTS)
    problems.refuse()
    if "system" in header:
        _refuse_name(system, "its column system")
        return _Reader(problems, item).long(rows, None)
    if not system:
        accepted = "the name of the system whose outputs these are: the file does not name it"
        raise AnnotationError.at("system", f"Found none; accepted: {accepted}.")
    return _Reader(problems, item).long(rows, system)


def system_name(given: str) -> str:
    """Return the name of a system as it is stored; refuse one that cannot be."""
    name, problems = given.strip(), Problems("system")
    check_text(name, 1, "system", problems)
    if problems.total:
        row = problems.rows[0]
        raise AnnotationError.at("system", f"Found {row['found']}; accepted: {row['accepted']}.")
    return name


def _refuse_name(system: str, where: str) -> None:
    if system:
        raise AnnotationError.at(
            "system", f"Found {system!r}; accepted: none, because the file names systems in {where}."
        )


# --- Rows and columns -------------------------------------------------------------------------------------------------


def _rows(content: bytes, file_format: str, limits: TableLimits, problems: Problems) -> tuple[list[str], int, Rows]:
    """Return the names of the columns, their line, and each further line by column; of JSON Lines, all names."""
    if file_format != "jsonl":
        table = tables.read_table(content, file_format, problems, accepted=limits)
        tables.check_header(table, problems, required=(), known=None)
        tables.square(table, problems)
        problems.refuse()
        by_name = ((line, dict(zip(table.header, cells, strict=True))) for line, cells in table.rows)
        return table.header, table.header_line, by_name
    records = []
    n_cells = 0
    header: dict[str, None] = {}
    lines = tables.read_jsonl(content, problems, tables.Oddities(), example=EXAMPLE, rows=limits.rows)
    for line, record in lines:
        records.append((line, record))
        header |= dict.fromkeys(record)
        n_cells += len(record)
        problems.check_limit(line, "cells", n_cells, limits.cells)
    problems.refuse()
    if not records:
        _refuse(problems, 1, "line", "", f"a JSON object on each line, such as {EXAMPLE}")
    return list(header), records[0][0], iter(records)


def _item_name(header: Sequence[str], line: int, problems: Problems) -> str:
    names = [name for name in ITEM_NAMES if name in header]
    if len(names) != 1:
        meant = [] if names else [name for name in header if nearest(name, ["item_id"], ITEM_SYNONYMS)]
        hint = f" (did you mean the column {meant[0]}?)" if meant else ""
        _refuse(problems, line, "columns", listed(header), f"one column item_id with the items' ids{hint}; {LAYOUTS}")
    return names[0]


def _systems(header: Sequence[str], line: int, system: str, item: str, problems: Problems) -> dict[str, str]:
    """Return the systems that columns are named after, by the column."""
    systems: dict[str, str] = {}
    columns = [name for name in header if name != item]
    if not columns:
        _refuse(problems, line, "columns", listed(header), LAYOUTS)
    _refuse_name(system, "its columns")
    for column in columns:
        name = check_text(column, line, column[:40], problems, limit="system").strip()
        if not name or name in NO_SYSTEMS:
            problems.add(line, column or "columns", column, "a column named after a system; leave out all others")
        elif name in systems.values():
            problems.add(line, column, name, "each system once")
        systems[column] = name
    problems.refuse()
    return systems


def _refuse(problems: Problems, line: int | None, field: str, found: object, accepted: str) -> NoReturn:
    """Refuse at once: the rest of the file could not be read."""
    problems.add(line, field, found, accepted)
    problems.refuse()
    raise ImportRefused(accepted)


class _Reader:
    """Collects outputs, one of each system for an item."""

    def __init__(self, problems: Problems, item: str) -> None:
        self.problems, self.item = problems, item
        self.drafts: dict[tuple[str, str], OutputDraft] = {}

    def long(self, rows: Rows, system: str | None) -> list[OutputDraft]:
        for line, row in rows:
            name = system if system is not None else self._system(line, row.get("system"))
            self._add(line, self._id(line, row.get(self.item)), name, row.get("text"), "text")
        return self._found()

    def wide(self, rows: Rows, systems: Mapping[str, str]) -> list[OutputDraft]:
        """Read a column for each system; in JSON Lines a system that an object does not name gave no output."""
        for line, row in rows:
            external_id = self._id(line, row.get(self.item))
            for column, system in systems.items():
                if row.get(column) is not None:
                    self._add(line, external_id, system, row[column], column)
        return self._found()

    def _id(self, line: int, value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        before = self.problems.total
        external_id = check_text(value, line, self.item, self.problems, limit="item_id")
        if not external_id.strip() and self.problems.total == before:
            self.problems.add(line, self.item, "", "the id of an item of the data set")
        return external_id if self.problems.total == before else ""

    def _system(self, line: int, value: object) -> str:
        before = self.problems.total
        name = check_text(value, line, "system", self.problems).strip()
        if not name and self.problems.total == before:
            self.problems.add(line, "system", "", f"the name of a system, in up to {LENGTHS['system']} characters")
        return name if self.problems.total == before else ""

    def _add(self, line: int, external_id: str, system: str, value: object, field: str) -> None:
        before = self.problems.total
        text, turns = check_response(value, line, field, self.problems)
        if not text.strip() and self.problems.total == before:
            self.problems.add(line, field, "", A_TEXT)
        if not external_id or not system:
            return
        first = self.drafts.get((external_id, system))
        if first is not None:
            accepted = f"one output of a system for an item; the first is on line {first.line}"
            self.problems.add(line, field, f"a second output of {system} for {external_id}", accepted)
            return
        self.drafts[external_id, system] = OutputDraft(line, external_id, self.item, system, text, field, turns)

    def _found(self) -> list[OutputDraft]:
        if not self.drafts and not self.problems.total:
            self.problems.add(None, "outputs", "none", "at least one output of a system")
        return list(self.drafts.values())
