"""Read rows of JSON Lines, CSV and TSV, with line numbers, row errors and counts of oddities.

JSON is read strictly: unknown constants and repeated names are errors.
"""

import csv
import io
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from annotation.core import file_limits
from annotation.core.file_limits import TableLimits, TooLarge
from annotation.core.near_names import Synonyms, did_you_mean, nearest
from annotation.core.problems import Problems
from annotation.core.progress import INTERVAL_SECONDS, Beat, noop

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
FORMATS = {"jsonl": "JSON Lines", "csv": "CSV", "tsv": "TSV"}
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
OTHER_ENDINGS = (".ndjson", ".tab")  # known, not named in messages
LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
QUOTED = re.compile(r'"[^"]*"')

EXAMPLE = '{"id": "1", "message": "Hi"}'
ACCEPTED_ENCODING = "UTF-8 text; save the file again as UTF-8"

AnyRow = TypeVar("AnyRow")

# The module's own limit, 128 KiB a cell, is below what a context document may need.
csv.field_size_limit(file_limits.LINE_CHARACTERS)


@dataclass
class Oddities:
    """Counts of oddities that are not errors."""

    byte_order_mark: int = 0
    windows_line_ends: int = 0
    blank_lines: int = 0
    short_rows: int = 0
    ragged_rows: int = 0
    quote_cells: int = 0

    def counts(self) -> dict[str, int]:
        return {name: value for name, value in vars(self).items() if value}


class Row(NamedTuple):
    line: int
    cells: list[str]


@dataclass
class Table:
    """A table with a header; ``square`` makes all rows as wide as the header."""

    header: list[str]
    header_line: int
    rows: list[Row]
    oddities: Oddities = field(default_factory=Oddities)
    beat: Beat = noop

    def each(self) -> Iterator[Row]:
        """Yield the rows, and regularly call ``beat``."""
        return beating(self.rows, self.beat)


def beating(rows: Iterable[AnyRow], beat: Beat) -> Iterator[AnyRow]:
    """Yield the rows and regularly call ``beat``, by which a worker keeps its job or learns that it must stop."""
    last = time.monotonic()
    for row in rows:
        if time.monotonic() - last > INTERVAL_SECONDS:
            beat()
            last = time.monotonic()
        yield row


def format_of(filename: str, endings: Mapping[str, str] = ENDINGS) -> str | None:
    """Return the format of a file by its name, or None."""
    return next((kind for ending, kind in endings.items() if filename.lower().endswith(ending)), None)


def decode(content: bytes, problems: Problems, oddities: Oddities) -> str:
    """Decode UTF-8, with or without a byte-order mark; refuse other content with line and byte."""
    if is_utf16(content, problems):
        problems.refuse()
    if content.startswith(UTF8_MARK):
        oddities.byte_order_mark = 1
        content = content.removeprefix(UTF8_MARK)
    oddities.windows_line_ends = content.count(b"\r\n")
    try:
        return content.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(io.BytesIO(content), start=1):
            decoded_line(line, number, problems)
        problems.refuse()
        raise


def is_utf16(content: bytes, problems: Problems) -> bool:
    """Return whether a file begins like UTF-16, which is an error."""
    if not content.startswith(UTF16_MARKS):
        return False
    problems.add(1, "encoding", "UTF-16 text", ACCEPTED_ENCODING)
    return True


def decoded_line(line: bytes, number: int, problems: Problems) -> str | None:
    """Return the text of a line; None, with an error, if it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        byte = f"byte 0x{line[error.start]:02X} at byte {error.start + 1} of the line"
        problems.add(number, "encoding", byte, ACCEPTED_ENCODING)
        return None


def lines_of(text: str) -> Iterator[str]:
    """Yield lines, split at LF and CRLF only: U+2028 and form feeds are text."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end].removesuffix("\r")
        start = end + 1
    if start < len(text):
        yield text[start:].removesuffix("\r")


def read_tsv(content: bytes, problems: Problems, beat: Beat = noop, accepted: TableLimits | None = None) -> Table:
    """Read tab-separated rows: no quoting, so a quote character is text, and cells have no tab or line break."""
    oddities, rows = Oddities(), _Rows(problems, accepted)
    for number, line in enumerate(beating(lines_of(decode(content, problems, oddities)), beat), start=1):
        if not line.strip():
            oddities.blank_lines += 1
            continue
        problems.check_limit(number, "line", len(line), file_limits.LINE_CHARACTERS, " characters")
        cells = line.split("\t")
        oddities.quote_cells += sum('"' in cell for cell in cells)
        rows.add(number, cells)
    return _with_header(rows.rows, oddities, problems, beat)


def csv_delimiter(text: str) -> str:
    """Return what separates the cells of CSV: the comma, or the semicolon if the header has one and no comma.

    Spreadsheets write semicolons in countries where numbers have a decimal comma.
    """
    header = next((line.group() for line in LINE.finditer(text) if line.group().strip()), "")
    outside_quotes = QUOTED.sub("", header)
    return ";" if ";" in outside_quotes and "," not in outside_quotes else ","


def read_csv(content: bytes, problems: Problems, beat: Beat = noop, accepted: TableLimits | None = None) -> Table:
    """Read CSV as in RFC 4180: a cell in double quotes may hold delimiters, line breaks and doubled quotes."""
    oddities, rows = Oddities(), _Rows(problems, accepted)
    text = decode(content, problems, oddities)
    lines = _RecordLines(text, problems)
    reader = csv.reader(lines, strict=True, delimiter=csv_delimiter(text))
    try:
        for cells in beating(reader, beat):
            if any(cell.strip() for cell in cells):
                rows.add(lines.begins, cells)
            else:
                oddities.blank_lines += 1
            lines.begins, lines.waiting = reader.line_num + 1, 0
    except csv.Error as error:
        quoting = (
            'quoting as in RFC 4180: "a cell", with a quote inside written twice; or upload TSV, which has no quoting'
        )
        problems.add(lines.begins, "quoting", f"{error} (the row begins here)", quoting)
    problems.refuse()
    return _with_header(rows.rows, oddities, problems, beat)


class _Rows:
    """The rows of a table, as many as are accepted."""

    def __init__(self, problems: Problems, accepted: TableLimits | None) -> None:
        self.problems, self.accepted = problems, accepted or file_limits.WORKER
        self.rows: list[Row] = []
        self.cells = 0

    def add(self, line: int, cells: list[str]) -> None:
        self.rows.append(Row(line, cells))
        self.cells += len(cells)
        self.problems.check_limit(line, "rows", len(self.rows), self.accepted.rows)
        self.problems.check_limit(line, "cells", self.cells, self.accepted.cells)


class _RecordLines:
    """The lines of CSV; a record with line breaks in its cells may be as long as a line."""

    def __init__(self, text: str, problems: Problems) -> None:
        self._lines = LINE.finditer(text)
        self._problems = problems
        self.begins, self.waiting = 1, 0  # the line and the length of the record that is read

    def __iter__(self) -> "_RecordLines":
        return self

    def __next__(self) -> str:
        line = next(self._lines).group()
        if not line:
            raise StopIteration
        self.waiting += len(line)
        self._problems.check_limit(self.begins, "row", self.waiting, file_limits.LINE_CHARACTERS, " characters")
        return line


def _with_header(rows: list[Row], oddities: Oddities, problems: Problems, beat: Beat) -> Table:
    if not rows:
        problems.add(1, "header", "", "a first line with the names of the columns")
        problems.refuse()
    line, names = rows[0]
    header = [name.strip() for name in names]
    problems.check_limit(line, "columns", len(header), file_limits.COLUMNS)
    longest = max(map(len, header))
    problems.check_limit(line, "name of a column", longest, file_limits.NAME_CHARACTERS, " characters")
    del rows[0]
    oddities.ragged_rows = sum(len(row.cells) != len(header) for row in rows)
    return Table(header, line, rows, oddities, beat)


def square(table: Table, problems: Problems) -> None:
    """Pad short rows with empty cells (counted); report rows that are too long."""
    width, filled = len(table.header), 0
    for line, cells in table.each():
        if len(cells) < width:
            table.oddities.short_rows += 1
            filled += width - len(cells)
            problems.check_limit(line, "empty cells added to short rows", filled, file_limits.FILLED_CELLS)
            cells.extend([""] * (width - len(cells)))
        elif len(cells) > width:
            check_width(cells, width, line, problems)
            del cells[width:]


def check_width(cells: Sequence[str], width: int, line: int, problems: Problems) -> bool:
    """Return whether all cells beyond the header's width are empty; else add an error."""
    if not any(cells[width:]):
        return True
    accepted = f"{width}, as in the header; the first one too many is {cells[width][:40]!r}"
    problems.add(line, "number of cells", str(len(cells)), accepted)
    return False


def check_header(
    table: Table,
    problems: Problems,
    *,
    required: Sequence[str],
    known: Sequence[str] | None,
    synonyms: Synonyms | None = None,
) -> None:
    """Check that names are unique, required columns exist and no column is unknown (``known=None``: any is allowed).

    A refusal names the column or the known name that was probably meant; ``synonyms`` are other names of known ones.
    """
    names: set[str] = set()
    for position, name in enumerate(table.header, start=1):
        if name in names:
            problems.add(table.header_line, f"column {position}", name, "each column once")
        elif known is not None and name not in known:
            accepted = partial(unknown_name, name, known, synonyms)
            problems.add(table.header_line, f"column {position}", name, accepted)
        names.add(name)
    spare = [name for name in table.header if name not in required]
    for name in required:
        if name not in names:
            meant = next((other for other in spare if nearest(other, [name], synonyms)), None)
            hint = f" (did you mean the column {meant}?)" if meant else ""
            problems.add(table.header_line, name, "no such column", f"a column named {name}{hint}")
    problems.refuse()


def unknown_name(name: str, known: Sequence[str], synonyms: Synonyms | None = None, *, among: str = "one of") -> str:
    """Return what is accepted instead of an unknown name: all known ones, and the one that was probably meant."""
    return f"{among} {', '.join(known)}{did_you_mean(name, known, synonyms)}"


def read_table(
    content: bytes,
    file_format: str,
    problems: Problems,
    beat: Beat = noop,
    accepted: TableLimits | None = None,
) -> Table:
    """Return a table of at most so many rows and cells as are accepted: by default, what a worker keeps in memory."""
    return (read_csv if file_format == "csv" else read_tsv)(content, problems, beat, accepted)


def read_jsonl(
    content: bytes, problems: Problems, oddities: Oddities, *, example: str = EXAMPLE, rows: int | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON object of each line, at most so many ``rows``; blank lines are skipped and counted."""
    n_rows, most = 0, rows or file_limits.WORKER.rows
    for number, line in enumerate(lines_of(decode(content, problems, oddities)), start=1):
        if not line.strip():
            oddities.blank_lines += 1
            continue
        n_rows += 1
        problems.check_limit(number, "rows", n_rows, most)
        value = json_object(line, number, problems, example=example)
        if value is not None:
            yield number, value


# --- JSON -------------------------------------------------------------------------------------------------------------


class _RepeatedName(ValueError): ...


class _NotJson(ValueError): ...


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    file_limits.check("names of an object", len(pairs), file_limits.COLUMNS)
    for name in values:
        file_limits.check("name of a field", len(name), file_limits.NAME_CHARACTERS, " characters")
    if len(values) < len(pairs):  # counting takes a while, so only if a name is repeated
        times = Counter(name for name, _ in pairs)
        raise _RepeatedName(next(name for name in values if times[name] > 1))
    return values


def _constant(name: str) -> Any:
    raise _NotJson(name)


def json_object(
    line: str, number: int, problems: Problems, *, example: str = EXAMPLE, most: int = file_limits.LINE_CHARACTERS
) -> dict[str, Any] | None:
    """Return the object on a line of at most so many characters; None, with an error in ``problems``, without one."""
    problems.check_limit(number, "line", len(line), most, " characters")
    value = _json_value(line, number, problems)
    if value is None or isinstance(value, dict):
        return value
    problems.add(number, "line", type(value).__name__, f"an object, such as {example}")
    return None


def json_document(text: str, problems: Problems) -> Any:
    """Return the value of a whole file of JSON; refuse the file if there is none."""
    value = _json_value(text, None, problems)
    problems.refuse()
    return value


def _json_value(text: str, line: int | None, problems: Problems) -> Any:
    """Return the value; None, with an error, if there is none. ``null`` is an error, too."""
    field_name = "file" if line is None else "line"
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except _RepeatedName as error:
        problems.add(line, str(error), "the name twice in one object", "each name once")
    except json.JSONDecodeError as error:
        mistake = f"{error.msg}: {text[error.pos : error.pos + 40]!r}"
        problems.add(error.lineno if line is None else line, f"column {error.colno}", mistake, "JSON")
    except _NotJson as error:
        problems.add(line, field_name, str(error), "JSON")
    except TooLarge as limit:
        problems.add(line, limit.field, limit.found, limit.accepted)
    except ValueError:  # Python limits the digits of whole numbers
        number = f"a whole number of more than {sys.get_int_max_str_digits():,} digits"
        problems.add(line, field_name, number, "a shorter number, or text in quotes")
    except RecursionError:
        problems.add(line, field_name, "lists or objects nested too deep to read", "less deep nesting")
    else:
        if value is None:
            problems.add(line, field_name, "null", "an object")
        return value
    return None
