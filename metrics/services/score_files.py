"""Files of scores made elsewhere, to arrays: tables, files of mt-metrics-eval, and archives of those.

Everything is told that is wrong with a file; nothing here reads or writes the database.
"""

import io
import json
import math
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from annotation.core.errors import ImportRefused
from annotation.core.problems import Problems
from annotation.core.rows import (
    ENDINGS,
    Oddities,
    check_header,
    decode,
    format_of,
    json_object,
    lines_of,
    read_table,
    square,
)
from annotation.core.zips import DAMAGED
from metrics.scoring.external import SEGMENT, SYSTEM

Floats = npt.NDArray[np.float64]

SCORE_FILE = re.compile(r"(?P<name>.+)\.(?P<level>seg|sys|doc|domain)\.score", re.DOTALL)
LEVELS = {"seg": SEGMENT, "sys": SYSTEM}
TAR_ENDINGS = (".tar.gz", ".tgz", ".tar")
ACCEPTED = "a .csv, .tsv or .jsonl table, a NAME.seg.score or NAME.sys.score file, or a .zip or .tar.gz of such files"
MISSING = ("", "none", "null", "nan", "na")  # whatever their case
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
JSON_NAN = re.compile(r'(":\s*)NaN(?=\s*[,}])')
A_SCORE = "a finite number such as 0.8125, or None where there is no score"
EXAMPLE = '{"system": "A", "item": "1", "score": 0.8125}'
DESCRIPTION = "metrics.json"  # beside the scores, in the archives that leave here
MAX_FILES = 1000
NAMED = 20
NAMED_ITEMS = 3  # whose ids are often long hashes, and there are thousands


@dataclass(frozen=True)
class Known:
    """What the data set has: its systems, and its items in their order."""

    systems: Sequence[str]
    items: Sequence[str]


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
        Over all S items of the data set, or of each system; NaN where there is none.
    lines : (T, S) or (T, 1) int
        On which line each score stands; 0 where it was not given.
    described : dict
        What the archive's own description says of the metric.
    """

    filename: str
    name: str
    level: str
    systems: list[str]
    scores: Floats
    lines: npt.NDArray[np.int64]
    described: dict[str, Any] = field(default_factory=dict)


def read_scores(
    content: bytes, filename: str, known: Known, problems: Problems, *, max_bytes: int = 256 * 1024 * 1024
) -> list[FileScores]:
    """Every metric and level that the file holds. What is wrong with it is added to ``problems``, row by row.

    Parameters
    ----------
    content : bytes
    filename : str
        Its ending says what it is.
    known : Known
    problems : Problems
    max_bytes : int
        That an archive may unpack to.
    """
    lowered = filename.lower()
    if lowered.endswith(".zip") or lowered.endswith(TAR_ENDINGS):
        return _read_archive(content, filename, known, problems, max_bytes)
    if SCORE_FILE.fullmatch(filename):
        return [_read_score_file(content, filename, known, problems, {})]
    if format_of(filename, ENDINGS) is not None:
        return [_read_rows(content, filename, known, problems)]
    problems.add(None, "name of the file", filename, ACCEPTED)
    return []


# --- One score at a time ----------------------------------------------------------------------------------------------


class _Grid:
    """Scores as they are found, each system and item once."""

    def __init__(self, known: Known, level: str, problems: Problems, *, extra: Mapping[str, str] | None = None) -> None:
        self.known, self.level, self.problems = known, level, problems
        self.row = {name: place for place, name in enumerate(known.systems)}
        self.column = {name: place for place, name in enumerate(known.items)} if level == SEGMENT else {"": 0}
        shape = len(known.systems), len(self.column)
        self.scores = np.full(shape, np.nan)
        self.lines = np.zeros(shape, dtype=np.int64)
        self.renamed = extra or {}
        self._unknown: set[str] = set()
        self._told_items = False  # what items are called is said once

    def system(self, line: int | None, name: str, field_name: str = "system") -> int | None:
        """The row of a system; an unknown one is told where it comes first."""
        name = self.renamed.get(name, name)
        place = self.row.get(name)
        if place is None and name not in self._unknown:
            self._unknown.add(name)
            self.problems.add(line, field_name, name, f"a system of the data set: {_named(self.known.systems)}")
        return place

    def item(self, line: int, name: str) -> int | None:
        place = self.column.get(name)
        if place is None:
            such_as = "" if self._told_items else f": {_named(self.known.items, NAMED_ITEMS)}"
            self._told_items = True
            self.problems.add(line, "item", name, f"an item of the data set{such_as}")
        return place

    def put(self, line: int, row: int | None, column: int | None, written: object, field_name: str = "score") -> None:
        value = self.number(line, field_name, written)
        if row is None or column is None or value is None:
            return
        before = int(self.lines[row, column])
        if before:
            what = f"system {self.known.systems[row]}"
            what += f", item {self.known.items[column]}" if self.level == SEGMENT else ""
            self.problems.add(line, field_name, f"a second score of {what}", f"one; the first is in line {before}")
            return
        self.lines[row, column] = line
        self.scores[row, column] = value

    def number(self, line: int, field_name: str, written: object) -> float | None:
        """The score, NaN where it is missing; None where it is neither, which is told."""
        value = math.inf
        if written is None:
            return math.nan
        if isinstance(written, str):
            if written.strip().lower() in MISSING:
                return math.nan
            if NUMBER.fullmatch(written.strip()):
                value = float(written)
        elif isinstance(written, int | float) and not isinstance(written, bool):
            try:
                value = float(written)
            except OverflowError:
                value = math.inf
        if math.isfinite(value):
            return value
        self.problems.add(line, field_name, written, A_SCORE)
        return None

    def finish(self, filename: str, name: str, described: dict[str, Any] | None = None) -> FileScores:
        """The systems that came up, in the order of their names."""
        rows = [self.row[one] for one in sorted(self.row) if self.lines[self.row[one]].any()]
        if not np.isfinite(self.scores).any() and not self.problems.total:
            self.problems.add(None, "scores", "none", "a file with at least one score")
        names = [self.known.systems[row] for row in rows]
        return FileScores(filename, name, self.level, names, self.scores[rows], self.lines[rows], described or {})


def _named(names: Sequence[str], most: int = NAMED) -> str:
    if not names:
        return "it has none"
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# --- Tables -----------------------------------------------------------------------------------------------------------

AnyRows = Iterator[tuple[int, Mapping[str, object]]]


def _read_rows(content: bytes, filename: str, known: Known, problems: Problems) -> FileScores:
    """Columns system, item, score; or system, score; or item and a column for each system."""
    header, header_line, rows = _rows(content, filename, problems)
    if "score" in header and "system" in header:
        long = [name for name in ("system", "item", "score") if name in header]
        return _read_long(rows, "item" in header, _only(header, header_line, long, problems), known, problems)
    if "item" in header and "score" not in header:
        return _read_wide(header, header_line, rows, filename, known, problems)
    accepted = "system, item and score; or system and score; or item and a column named after each system"
    return _refuse(problems, header_line, "columns", ", ".join(header), accepted)


def _refuse(problems: Problems, line: int | None, field_name: str, found: object, accepted: str) -> NoReturn:
    """Refuse at once: what follows would make no sense."""
    problems.add(line, field_name, found, accepted)
    problems.refuse()
    raise ImportRefused(accepted)


def _only(header: Sequence[str], line: int, accepted: Sequence[str], problems: Problems) -> str:
    """Refuse further columns; returns the name of the file."""
    for name in header:
        if name not in accepted:
            problems.add(line, "columns", name, ", ".join(accepted))
    problems.refuse()
    return problems.filename


def _rows(content: bytes, filename: str, problems: Problems) -> tuple[list[str], int, AnyRows]:
    """The names of the columns, where they stand, and each line by column."""
    file_format = format_of(filename, ENDINGS) or ""
    if file_format == "jsonl":
        return _json_rows(content, problems)
    table = read_table(content, file_format, problems)
    check_header(table, problems, required=(), known=None)
    square(table, problems)
    problems.refuse()
    rows = ((row.line, dict(zip(table.header, row.cells, strict=True))) for row in table.rows)
    return table.header, table.header_line, rows


def _json_rows(content: bytes, problems: Problems) -> tuple[list[str], int, AnyRows]:
    """The first object says which columns there are; NaN, which is not JSON, is taken for a missing score."""
    numbered = list(enumerate(lines_of(decode(content, problems, Oddities())), start=1))
    written = [(number, JSON_NAN.sub(r"\1null", line)) for number, line in numbered if line.strip()]
    objects = [(number, json_object(line, number, problems, example=EXAMPLE)) for number, line in written]
    problems.refuse()
    rows = [(number, found) for number, found in objects if found is not None]
    if not rows:
        _refuse(problems, 1, "line", "", f"a JSON object on each line, such as {EXAMPLE}")
    header = list(rows[0][1])
    for number, found in rows:
        for name in found:
            if name not in header:
                problems.add(number, "names", name, f"those of the first object: {', '.join(header)}")
    problems.refuse()
    return header, rows[0][0], iter(rows)


def _read_long(rows: AnyRows, of_segments: bool, filename: str, known: Known, problems: Problems) -> FileScores:
    grid = _Grid(known, SEGMENT if of_segments else SYSTEM, problems)
    for line, cells in rows:
        row = grid.system(line, _word(cells.get("system")))
        column = grid.item(line, _word(cells.get("item"))) if of_segments else 0
        grid.put(line, row, column, cells.get("score"))
    return grid.finish(filename, "")


def _read_wide(
    header: Sequence[str], header_line: int, rows: AnyRows, filename: str, known: Known, problems: Problems
) -> FileScores:
    grid = _Grid(known, SEGMENT, problems)
    systems = {name: grid.system(header_line, name, "columns") for name in header if name != "item"}
    problems.refuse()
    for line, cells in rows:
        column = grid.item(line, _word(cells.get("item")))
        for name, row in systems.items():
            grid.put(line, row, column, cells.get(name), name)
    return grid.finish(filename, "")


def _word(value: object) -> str:
    """A name as it stands in a cell; a number of JSON as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else repr(value)


# --- Files of mt-metrics-eval -----------------------------------------------------------------------------------------


def _read_score_file(
    content: bytes, filename: str, known: Known, problems: Problems, description: Mapping[str, Any]
) -> FileScores:
    """A line ``system score`` each; of segments a block for each system, in the order of the items."""
    found = SCORE_FILE.fullmatch(PurePosixPath(filename).name)
    level = LEVELS.get(found["level"]) if found else None
    if found is None or level is None:
        _refuse(problems, None, "name of the file", filename, "NAME.seg.score or NAME.sys.score")
    metrics = description.get("metrics", {})
    described = metrics.get(found["name"], {}) if isinstance(metrics, dict) else {}
    systems = description.get("systems", {})
    renamed = {str(key): str(value) for key, value in systems.items()} if isinstance(systems, dict) else {}
    grid = _Grid(known, level, problems, extra=renamed)
    counted: dict[str, int] = {}
    for line, text in enumerate(lines_of(decode(content, problems, Oddities())), start=1):
        if not text.strip():
            continue
        cells = text.rstrip().rsplit("\t", 1) if "\t" in text.strip() else text.rstrip().rsplit(None, 1)
        if len(cells) != 2:
            problems.add(line, "line", text, "the name of a system, a tab, and a score")
            continue
        name = cells[0].strip()
        place = counted.get(name, 0)
        counted[name] = place + 1
        row = grid.system(line, name)
        if place < grid.scores.shape[1]:
            grid.put(line, row, place, cells[1])
    for name, n in counted.items():
        if n != grid.scores.shape[1] and renamed.get(name, name) in grid.row:
            accepted = f"{grid.scores.shape[1]:,}: one for each item of the data set, in its order"
            problems.add(None, "scores", f"{n:,} of system {name}", "one" if level == SYSTEM else accepted)
    described = described if isinstance(described, dict) else {}
    return grid.finish(filename, str(described.get("name") or found["name"]), described)


# --- Archives ---------------------------------------------------------------------------------------------------------


def _read_archive(content: bytes, filename: str, known: Known, problems: Problems, max_bytes: int) -> list[FileScores]:
    try:
        files = dict(_members(content, filename, problems, max_bytes))
    except (*DAMAGED, tarfile.TarError) as error:
        problems.add(None, "archive", str(error) or type(error).__name__, "a whole .zip or .tar.gz without a password")
        files = {}
    problems.refuse()
    description = _description(files, problems)
    chosen = _chosen(files)
    if not chosen:
        problems.add(None, "archive", _named(sorted(files)) if files else "no file of scores", "NAME.seg.score files")
    folders = sorted({str(PurePosixPath(name).parent) for name in chosen})
    if len(folders) > 1:
        problems.add(None, "folders", _named(folders), "files of scores in one folder: that of this data set")
    problems.refuse()
    read = []
    for name in sorted(chosen):
        own = Problems(name)
        read.append(_read_score_file(files[name], name, known, own, description))
        problems.include(own)
    problems.refuse()
    return read


def _chosen(files: Iterable[str]) -> list[str]:
    """Of metrics, of segments or systems: what people said, and scores of documents, are left where they are."""
    found = [name for name in files if re.search(r"\.(seg|sys)\.score$", name)]
    found = [name for name in found if "human-scores" not in PurePosixPath(name).parts]
    return [name for name in found if "metric-scores" in PurePosixPath(name).parts] or found


def _description(files: Mapping[str, bytes], problems: Problems) -> dict[str, Any]:
    """What an archive of this product says of its files: names as they were, directions, ranges."""
    name = next((one for one in files if PurePosixPath(one).name == DESCRIPTION), None)
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


def _members(content: bytes, filename: str, problems: Problems, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files that matter; nothing is unpacked to disk, nor beyond ``max_bytes``."""
    left = max_bytes
    for number, (name, opened) in enumerate(_entries(content, filename)):
        if number >= MAX_FILES:
            problems.add(None, "archive", f"more than {MAX_FILES:,} files of scores", f"up to {MAX_FILES:,}")
            return
        with opened as stream:
            data = stream.read(left + 1)
        left -= len(data)
        if left < 0:
            problems.add(None, "archive", f"more than {max_bytes:,} bytes, unpacked", f"up to {max_bytes:,}")
            return
        yield name, data


def _entries(content: bytes, filename: str) -> Iterator[tuple[str, Any]]:
    if filename.lower().endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist():
                if _matters(entry.filename):
                    yield entry.filename, archive.open(entry)
        return
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
        for member in archive:
            if member.isfile() and _matters(member.name):
                yield member.name, archive.extractfile(member)


def _matters(name: str) -> bool:
    base = PurePosixPath(name).name
    return not base.startswith(".") and (base.endswith(".score") or base == DESCRIPTION)
