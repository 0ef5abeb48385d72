"""Read files of scores made elsewhere: tables, files of mt-metrics-eval, and archives of those.

All errors of a file are reported. Nothing here reads or writes the database.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from annotation.core import rows as tables
from annotation.core.errors import ImportRefused
from annotation.core.file_limits import TableLimits, TooLarge
from annotation.core.near_names import did_you_mean, nearest
from annotation.core.problems import Problems, listed
from annotation.core.rows import ENDINGS, Oddities, decode, format_of, json_object, lines_of
from metrics.scoring.external import SEGMENT, SYSTEM
from metrics.services.score_archives import DAMAGED, DESCRIPTION, is_table, members
from metrics.services.score_columns import MISSING, NUMBER, OTHER_NAMES, AnyRows, holds_numbers, name_of, with_own_names

Floats = npt.NDArray[np.float64]

SCORE_FILE = re.compile(r"(?P<name>.+)\.(?P<level>seg|sys|doc|domain)\.score", re.DOTALL)
LEVELS = {"seg": SEGMENT, "sys": SYSTEM}
TAR_ENDINGS = (".tar.gz", ".tgz", ".tar")
ACCEPTED = "a .csv, .tsv or .jsonl table, a NAME.seg.score or NAME.sys.score file, or a .zip or .tar.gz of such files"
MOST_COLUMNS = 64  # of scores in a table
MOST_CELLS = 4_000_000  # of a table with several columns of scores
MOST_SCORES = 10_000_000  # of all columns, if each system had one for each item
JSON_NAN = re.compile(r'(":\s*)NaN(?=\s*[,}])')
A_SCORE = "a finite number such as 0.8125, or None where there is no score"
EXAMPLE = '{"system": "A", "item": "1", "score": 0.8125}'
SPARE_ROWS = 1000  # that are read although they are more than the data set has scores
WIDEST = ("system", "item", "score")  # columns of the format with the most cells for each score
NAMED = 20
NAMED_ITEMS = 3  # ids are often long hashes, and there are thousands


@dataclass(frozen=True)
class Known:
    """The names of a data set's systems and of its items, in their order."""

    systems: Sequence[str]
    items: Sequence[str]

    @property
    def limits(self) -> TableLimits:
        """Return how large a table of their scores may be, with some repeated and unknown rows to report."""
        rows = 2 * len(self.systems) * len(self.items) + SPARE_ROWS
        return TableLimits(rows=rows, cells=max(len(WIDEST) * rows, min(MOST_COLUMNS * rows, MOST_CELLS)))


@dataclass(eq=False)
class FileScores:
    """One metric's scores at one level, as a file gives them.

    Attributes
    ----------
    filename : str
    name : str
        The metric's, where the file's name says it; else empty.
    level : {"segment", "system"}
    systems : list of T str
        Those with a line in the file, by name.
    scores : (T, S) or (T, 1) float
        Over all S items of the data set, or of each system; NaN for a missing score.
    lines : (T, S) or (T, 1) int
        The line of each score; 0 if the file has none.
    description : dict
        What an archive's description says about the metric.
    left_out : sequence of str
        Columns of the table that hold no scores.
    read_as : mapping
        Columns that were taken as system or item by what stands in them, with that.
    """

    filename: str
    name: str
    level: str
    systems: list[str]
    scores: Floats
    lines: npt.NDArray[np.int64]
    description: dict[str, Any] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)


def read_scores(
    content: bytes, filename: str, known: Known, problems: Problems, *, max_bytes: int = 256 * 1024 * 1024
) -> list[FileScores]:
    """Return the scores of every metric and level in the file, whose ending names its format.

    Row errors are added to ``problems``. An archive may unpack to ``max_bytes``.
    """
    lowered = filename.lower()
    if lowered.endswith(".zip") or lowered.endswith(TAR_ENDINGS):
        return _read_archive(content, filename, known, problems, max_bytes)
    if SCORE_FILE.fullmatch(filename):
        return [_read_score_file(content, filename, known, problems, {})]
    if format_of(filename, ENDINGS) is not None:
        return _read_rows(content, filename, known, problems)
    problems.add(None, "name of the file", filename, ACCEPTED)
    return []


# --- Scores -----------------------------------------------------------------------------------------------------------


class _Grid:
    """Collect scores, one for each system and item."""

    def __init__(
        self, known: Known, level: str, problems: Problems, *, renamed: Mapping[str, str] | None = None
    ) -> None:
        self.known, self.level, self.problems = known, level, problems
        self.row = {name: row for row, name in enumerate(known.systems)}
        self.column = {name: column for column, name in enumerate(known.items)} if level == SEGMENT else {"": 0}
        shape = len(known.systems), len(self.column)
        self.scores = np.full(shape, np.nan)
        self.lines = np.zeros(shape, dtype=np.int64)
        self.renamed = renamed or {}
        self.other_columns: Sequence[str] = ()  # that the file could have, apart from those of systems
        self._unknown: set[str] = set()
        self._items_named = False  # examples of items are given once

    def system(self, line: int | None, name: str, field_name: str = "system") -> int | None:
        """Return the row of a system; report an unknown name at its first line."""
        name = self.renamed.get(name, name)
        row = self.row.get(name)
        if row is None and name not in self._unknown:
            self._unknown.add(name)
            self.problems.add(line, field_name, name, partial(self._known_systems, name))
        return row

    def _known_systems(self, name: str) -> str:
        hint = did_you_mean(name, [*self.known.systems, *self.other_columns], OTHER_NAMES)
        return f"a system of the data set: {_listed(self.known.systems)}{hint}"

    def item(self, line: int, name: str) -> int | None:
        column = self.column.get(name)
        if column is None:
            examples = "" if self._items_named else f": {_listed(self.known.items, NAMED_ITEMS)}"
            self._items_named = True
            self.problems.add(line, "item", name, f"an item of the data set{examples}")
        return column

    def put(self, line: int, row: int | None, column: int | None, cell: object, field_name: str = "score") -> None:
        value = self.number(line, field_name, cell)
        if row is None or column is None or value is None:
            return
        first_line = int(self.lines[row, column])
        if first_line:
            key = f"system {self.known.systems[row]}"
            key += f", item {self.known.items[column]}" if self.level == SEGMENT else ""
            self.problems.add(line, field_name, f"a second score of {key}", f"one; the first is in line {first_line}")
            return
        self.lines[row, column] = line
        self.scores[row, column] = value

    def number(self, line: int, field_name: str, cell: object) -> float | None:
        """Return the score, NaN if it is missing; report anything else and return None."""
        value = math.inf
        if cell is None:
            return math.nan
        if isinstance(cell, str):
            if cell.strip().lower() in MISSING:
                return math.nan
            if NUMBER.fullmatch(cell.strip()):
                value = float(cell)
        elif isinstance(cell, int | float) and not isinstance(cell, bool):
            with suppress(OverflowError):
                value = float(cell)
        if math.isfinite(value):
            return value
        self.problems.add(line, field_name, cell, A_SCORE)
        return None

    def finish(self, filename: str, name: str = "", description: dict[str, Any] | None = None) -> FileScores:
        """Return the systems that have a line, in the order of their names."""
        rows = [self.row[system] for system in sorted(self.row) if self.lines[self.row[system]].any()]
        if not np.isfinite(self.scores).any() and not self.problems.total:
            self.problems.add(None, "scores", "none", "a file with at least one score")
        names = [self.known.systems[row] for row in rows]
        return FileScores(filename, name, self.level, names, self.scores[rows], self.lines[rows], description or {})


def _listed(names: Sequence[str], most: int = NAMED) -> str:
    if not names:
        return "it has none"
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# --- Tables -----------------------------------------------------------------------------------------------------------


def _read_rows(content: bytes, filename: str, known: Known, problems: Problems) -> list[FileScores]:
    """Read columns system, item, score; or system, score; or item and a column for each system.

    Instead of the column score there may be one for each metric.
    """
    header, header_line, rows = _rows(content, filename, known, problems)
    header, rows, read_as = with_own_names(header, rows, known.systems, known.items)
    return [replace(each, read_as=read_as) for each in _read_table(header, header_line, rows, known, problems)]


def _read_table(
    header: list[str], header_line: int, rows: AnyRows, known: Known, problems: Problems
) -> list[FileScores]:
    if "score" in header and "system" in header:
        names = [name for name in ("system", "item", "score") if name in header]
        for name in header:
            if name not in names:
                problems.add(header_line, "columns", name, ", ".join(names) + did_you_mean(name, WIDEST, OTHER_NAMES))
        problems.refuse()
        return [_read_long(rows, known, problems, of_segments="item" in header)]
    if "system" in header and _may_hold_metrics(header, known):
        return _read_columns(header, header_line, rows, known, problems)
    if "item" in header and "score" not in header:
        return [_read_wide(header, header_line, rows, known, problems)]
    accepted = (
        "system, item and score; or system and score; or a column for each metric instead of score; or item and a "
        "column named after each system"
    )
    near = {name: nearest(name, WIDEST, OTHER_NAMES) for name in header if name not in WIDEST}
    meant = [f"{right} by {name}" for name, right in near.items() if right and right not in header]
    accepted += f" (did you mean {', '.join(meant)}?)" if meant else ""
    return _refuse(problems, header_line, "columns", ", ".join(header), accepted)


def _refuse(problems: Problems, line: int | None, field_name: str, found: object, accepted: str) -> NoReturn:
    """Refuse at once: the rest of the file could not be read."""
    problems.add(line, field_name, found, accepted)
    problems.refuse()
    raise ImportRefused(accepted)


def _rows(content: bytes, filename: str, known: Known, problems: Problems) -> tuple[list[str], int, AnyRows]:
    """Return the names of the columns, their line, and each further line by column."""
    file_format = format_of(filename, ENDINGS) or ""
    if file_format == "jsonl":
        return _json_rows(content, problems, known.limits)
    try:
        table = tables.read_table(content, file_format, problems, accepted=known.limits)
    except ImportRefused as error:
        raise _with_cure(error) from error
    tables.check_header(table, problems, required=(), known=None)
    tables.square(table, problems)
    problems.refuse()
    rows = ((row.line, dict(zip(table.header, row.cells, strict=True))) for row in table.rows)
    return table.header, table.header_line, rows


def _with_cure(refusal: ImportRefused) -> ImportRefused:
    """Return the refusal; of a table with too many cells or rows, with what to do about it."""
    for row in refusal.rows:
        if row["field"] in ("cells", "rows"):
            row["accepted"] += ": a row for each output of the data set, without columns that hold no scores"
    return refusal


def _json_rows(content: bytes, problems: Problems, accepted: TableLimits) -> tuple[list[str], int, AnyRows]:
    """Read JSON Lines: the first object names the columns; NaN, which is not JSON, is a missing score."""
    rows: list[tuple[int, dict[str, Any]]] = []
    n_cells = 0
    for number, line in enumerate(lines_of(decode(content, problems, Oddities())), start=1):
        if not line.strip():
            continue
        row = json_object(JSON_NAN.sub(r"\1null", line), number, problems, example=EXAMPLE)
        if row is not None:
            rows.append((number, row))
            n_cells += len(row)
            problems.check_limit(number, "rows", len(rows), accepted.rows)
            problems.check_limit(number, "cells", n_cells, accepted.cells)
    problems.refuse()
    if not rows:
        _refuse(problems, 1, "line", "", f"a JSON object on each line, such as {EXAMPLE}")
    header = rows[0][1]
    names = listed(header)
    for number, row in rows:
        for name in row:
            if name not in header:
                problems.add(number, "names", name, f"those of the first object: {names}")
    problems.refuse()
    return list(header), rows[0][0], iter(rows)


def _read_long(
    rows: AnyRows, known: Known, problems: Problems, *, of_segments: bool, column: str = "score"
) -> FileScores:
    grid = _Grid(known, SEGMENT if of_segments else SYSTEM, problems)
    for line, cells in rows:
        row = grid.system(line, name_of(cells.get("system")))
        place = grid.item(line, name_of(cells.get("item"))) if of_segments else 0
        grid.put(line, row, place, cells.get(column), column)
    return grid.finish(problems.filename)


def _may_hold_metrics(header: Sequence[str], known: Known) -> bool:
    """Return whether further columns are metrics' scores: not if they are systems, nor if one is the item."""
    others = [name for name in header if name not in ("system", "item")]
    is_item_named = "item" in header or not any(nearest(name, ["item"], OTHER_NAMES) for name in others)
    return is_item_named and not set(header) - {"item"} <= set(known.systems)


def _read_columns(
    header: Sequence[str], header_line: int, rows: AnyRows, known: Known, problems: Problems
) -> list[FileScores]:
    """Read a metric from each column of numbers, named as the column is; other columns are left out and named."""
    table = list(rows)
    others = [name for name in header if name not in ("system", "item")]
    names = [name for name in others if holds_numbers([cells.get(name) for _, cells in table])]
    if not names:
        found = ", ".join(others) or ", ".join(header)
        _refuse(problems, header_line, "columns", found, "at least one column of numbers, such as score")
    level = SEGMENT if "item" in header else SYSTEM
    most = _most_columns(known, level)
    if len(names) > most:
        found = f"{len(names):,} columns of numbers: {_listed(names)}"
        _refuse(problems, header_line, "columns", found, f"up to {most}; delete columns, or divide the file by columns")
    left_out = [name for name in others if name not in names]
    read = []
    for name in names:
        of_column = Problems(problems.filename)
        scores = _read_long(iter(table), known, of_column, of_segments=level == SEGMENT, column=name)
        problems.include(of_column)
        problems.refuse()  # the rows that are wrong are so for every column
        read.append(replace(scores, name=name, left_out=left_out))
    return read


def _most_columns(known: Known, level: str) -> int:
    """Return how many metrics are read at once: each needs room for a score of each output, however few it has."""
    outputs = len(known.systems) * (len(known.items) if level == SEGMENT else 1)
    return max(1, min(MOST_COLUMNS, MOST_SCORES // max(outputs, 1)))


def _read_wide(header: Sequence[str], header_line: int, rows: AnyRows, known: Known, problems: Problems) -> FileScores:
    grid = _Grid(known, SEGMENT, problems)
    grid.other_columns = ("score",)
    systems = {name: grid.system(header_line, name, "columns") for name in header if name != "item"}
    problems.refuse()
    for line, cells in rows:
        column = grid.item(line, name_of(cells.get("item")))
        for name, row in systems.items():
            grid.put(line, row, column, cells.get(name), name)
    return grid.finish(problems.filename)


# --- Files of mt-metrics-eval -----------------------------------------------------------------------------------------


def _read_score_file(
    content: bytes, filename: str, known: Known, problems: Problems, description: Mapping[str, Any]
) -> FileScores:
    """Read lines ``system score``; for segments a block of lines for each system, in the order of the items."""
    match = SCORE_FILE.fullmatch(PurePosixPath(filename).name)
    level = LEVELS.get(match["level"]) if match else None
    if match is None or level is None:
        _refuse(problems, None, "name of the file", filename, "NAME.seg.score or NAME.sys.score")
    about = _object(_object(description, "metrics"), match["name"])
    renamed = {str(key): str(value) for key, value in _object(description, "systems").items()}
    grid = _Grid(known, level, problems, renamed=renamed)
    n_lines: Counter[str] = Counter()
    n_rows, most = 0, known.limits.rows
    for line, text in enumerate(lines_of(decode(content, problems, Oddities())), start=1):
        if not text.strip():
            continue
        n_rows += 1
        problems.check_limit(line, "lines", n_rows, most)
        cells = text.rstrip().rsplit("\t", 1) if "\t" in text.strip() else text.rstrip().rsplit(None, 1)
        if len(cells) != 2:
            problems.add(line, "line", text, "the name of a system, a tab, and a score")
            continue
        name = cells[0].strip()
        row, column = grid.system(line, name), n_lines[name]
        n_lines[name] += 1
        if column < grid.scores.shape[1]:
            grid.put(line, row, column, cells[1])
    for name, n in n_lines.items():
        if n != grid.scores.shape[1] and renamed.get(name, name) in grid.row:
            accepted = f"{grid.scores.shape[1]:,}: one for each item of the data set, in its order"
            problems.add(None, "scores", f"{n:,} of system {name}", "one" if level == SYSTEM else accepted)
    return grid.finish(filename, str(about.get("name") or match["name"]), about)


def _object(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key; an empty one if there is none."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


# --- Archives ---------------------------------------------------------------------------------------------------------


def _read_archive(content: bytes, filename: str, known: Known, problems: Problems, max_bytes: int) -> list[FileScores]:
    files: dict[str, bytes] = {}
    try:
        files = dict(members(content, filename, max_bytes)) or dict(members(content, filename, max_bytes, is_table))
    except TooLarge as limit:
        problems.add(None, limit.field, limit.found, limit.accepted)
    except DAMAGED as error:
        problems.add(None, "archive", str(error) or type(error).__name__, "a whole .zip or .tar.gz without a password")
    problems.refuse()
    description = _description(files, problems)
    names = _score_files(files)
    if not names:
        return _read_tables(files, known, problems)
    folders = sorted({str(PurePosixPath(name).parent) for name in names})
    if len(folders) > 1:
        problems.add(None, "folders", _listed(folders), "files of scores in one folder: that of this data set")
    problems.refuse()
    read = []
    for name in sorted(names):
        of_file = Problems(name)
        scores = _read_score_file(files.pop(name), name, known, of_file, description)
        problems.include(of_file)
        if not problems.total:  # a file of one line has as large an array as a whole one
            read.append(scores)
    problems.refuse()
    return read


def _read_tables(files: Mapping[str, bytes], known: Known, problems: Problems) -> list[FileScores]:
    """Read the tables of an archive without files of mt-metrics-eval; a file names its metric if no column does."""
    tables_of = sorted(name for name in files if is_table(name))
    if not tables_of:
        accepted = "NAME.seg.score files, or .csv, .tsv or .jsonl tables"
        problems.add(None, "archive", _listed(sorted(files)) if files else "no file of scores", accepted)
        problems.refuse()
    read: list[FileScores] = []
    for name in tables_of:
        of_file = Problems(name)
        scores = _read_rows(files[name], name, known, of_file)
        problems.include(of_file)
        problems.refuse()
        if len(read) + len(scores) > _most_columns(known, scores[0].level):
            limit = f"up to {_most_columns(known, scores[0].level)} at once"
            problems.add(None, "archive", f"{len(read) + len(scores)} or more columns of scores", limit)
            problems.refuse()
        stem = PurePosixPath(name).stem
        read += [replace(each, filename=name, name=each.name or stem) for each in scores]
    seen = Counter((each.name, each.level) for each in read)
    if twice := [name for (name, _), n in seen.items() if n > 1]:
        problems.add(None, "archive", f"{_listed(twice)} in two tables", "each metric in one table")
    problems.refuse()
    return read


def _score_files(files: Iterable[str]) -> list[str]:
    """Return the files with metrics' scores of segments or systems; ratings and scores of documents are skipped."""
    names = [name for name in files if re.search(r"\.(seg|sys)\.score$", name)]
    names = [name for name in names if "human-scores" not in PurePosixPath(name).parts]
    return [name for name in names if "metric-scores" in PurePosixPath(name).parts] or names


def _description(files: Mapping[str, bytes], problems: Problems) -> dict[str, Any]:
    """Return the description in an archive that Assay exported: original names, directions, ranges."""
    name = next((name for name in files if PurePosixPath(name).name == DESCRIPTION), None)
    if name is None:
        return {}
    try:
        document = json.loads(files[name])
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        problems.add(None, name, "no JSON object", "the description as it was exported, or none")
        return {}
    return document
