"""Read rows of JSON Lines, CSV and TSV, with line numbers, row errors and counts of oddities.

JSON is read strictly: unknown constants and repeated names are errors.
"""

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from annotation.core.problems import Problems
from annotation.core.progress import Beat, noop

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
FORMATS = {"jsonl": "JSON Lines", "csv": "CSV", "tsv": "TSV"}
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
OTHER_ENDINGS = (".ndjson", ".tab")  # known, not named in messages
CSV_FIELD_LIMIT = 16 * 1024 * 1024

BEAT_ROWS = 20_000
ACCEPTED_ENCODING = "UTF-8 text; save the file again as UTF-8"

AnyRow = TypeVar("AnyRow")

# The module's own limit, 128 KiB a cell, is below what a context document may need.
csv.field_size_limit(CSV_FIELD_LIMIT)


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


def beating(rows: Iterable[AnyRow], beat: Beat) -> Iterator[AnyRow]:
    """Yield the rows and regularly call ``beat``, by which a worker keeps its job or learns that it lost it."""
    for number, row in enumerate(rows, start=1):
        if number % BEAT_ROWS == 0:
            beat()
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
        for number, line in enumerate(content.split(b"\n"), start=1):
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
        found = f"byte 0x{line[error.start]:02X} at byte {error.start + 1} of the line"
        problems.add(number, "encoding", found, ACCEPTED_ENCODING)
        return None


def lines_of(text: str) -> list[str]:
    """Split at LF and CRLF only: U+2028 and form feeds are text."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_tsv(content: bytes, problems: Problems, beat: Beat = noop) -> Table:
    """Read tab-separated rows: no quoting, so a quote character is text, and cells have no tab or line break."""
    oddities = Oddities()
    rows = []
    for number, line in enumerate(beating(lines_of(decode(content, problems, oddities)), beat), start=1):
        if not line.strip():
            oddities.blank_lines += 1
            continue
        cells = line.split("\t")
        oddities.quote_cells += sum('"' in cell for cell in cells)
        rows.append(Row(number, cells))
    return _with_header(rows, oddities, problems)


def read_csv(content: bytes, problems: Problems, beat: Beat = noop) -> Table:
    """Read CSV as in RFC 4180: a cell in double quotes may hold commas, line breaks and doubled quotes."""
    oddities = Oddities()
    reader = csv.reader(io.StringIO(decode(content, problems, oddities), newline=""), strict=True)
    rows = []
    begins = 1
    try:
        for cells in beating(reader, beat):
            if any(cell.strip() for cell in cells):
                rows.append(Row(begins, cells))
            else:
                oddities.blank_lines += 1
            begins = reader.line_num + 1
    except csv.Error as error:
        accepted = (
            'quoting as in RFC 4180: "a cell", with a quote inside written twice; or upload TSV, which has no quoting'
        )
        problems.add(begins, "quoting", f"{error} (the row begins here)", accepted)
    problems.refuse()
    return _with_header(rows, oddities, problems)


def _with_header(rows: list[Row], oddities: Oddities, problems: Problems) -> Table:
    if not rows:
        problems.add(1, "header", "", "a first line with the names of the columns")
        problems.refuse()
    line, names = rows[0]
    header = [name.strip() for name in names]
    oddities.ragged_rows = sum(len(row.cells) != len(header) for row in rows[1:])
    return Table(header, line, rows[1:], oddities)


def square(table: Table, problems: Problems) -> None:
    """Pad short rows with empty cells (counted); report rows that are too long."""
    width = len(table.header)
    for line, cells in table.rows:
        if len(cells) < width:
            table.oddities.short_rows += 1
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


def check_header(table: Table, problems: Problems, *, required: Sequence[str], known: Sequence[str] | None) -> None:
    """Check that names are unique, required columns exist and no column is unknown (``known=None``: any is allowed)."""
    for position, name in enumerate(table.header, start=1):
        if name in table.header[: position - 1]:
            problems.add(table.header_line, f"column {position}", name, "each column once")
        elif known is not None and name not in known:
            problems.add(table.header_line, f"column {position}", name, f"one of {', '.join(known)}")
    for name in required:
        if name not in table.header:
            problems.add(table.header_line, name, "no such column", f"a column named {name}")
    problems.refuse()


def read_table(content: bytes, file_format: str, problems: Problems, beat: Beat = noop) -> Table:
    return (read_csv if file_format == "csv" else read_tsv)(content, problems, beat)


def read_jsonl(content: bytes, problems: Problems, oddities: Oddities) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON object of each line; blank lines are skipped and counted."""
    for number, line in enumerate(lines_of(decode(content, problems, oddities)), start=1):
        if not line.strip():
            oddities.blank_lines += 1
            continue
        value = json_object(line, number, problems)
        if value is not None:
            yield number, value


# --- One line of JSON -------------------------------------------------------------------------------------------------


class _RepeatedName(ValueError): ...


class _NotJson(ValueError): ...


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):  # counting takes a while, so only if a name is repeated
        times = Counter(name for name, _ in pairs)
        raise _RepeatedName(next(name for name in values if times[name] > 1))
    return values


def _constant(name: str) -> Any:
    raise _NotJson(name)


EXAMPLE = '{"id": "1", "message": "Hi"}'


def json_object(line: str, number: int, problems: Problems, *, example: str = EXAMPLE) -> dict[str, Any] | None:
    """Return the object on a line; None, with an error in ``problems``, if there is none."""
    try:
        value = json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
    except _RepeatedName as error:
        problems.add(number, str(error), "the name twice in one object", "each name once")
    except json.JSONDecodeError as error:
        problems.add(number, f"column {error.colno}", f"{error.msg}: {line[error.pos : error.pos + 40]!r}", "JSON")
    except _NotJson as error:
        problems.add(number, "line", str(error), "JSON")
    except ValueError:  # Python limits the digits of whole numbers
        found = f"a whole number of more than {sys.get_int_max_str_digits():,} digits"
        problems.add(number, "line", found, "a shorter number, or text in quotes")
    except RecursionError:
        problems.add(number, "line", "lists or objects nested too deep to read", "less deep nesting")
    else:
        if isinstance(value, dict):
            return value
        problems.add(number, "line", type(value).__name__, f"an object, such as {example}")
    return None
