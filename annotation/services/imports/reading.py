"""From the bytes of an uploaded file to rows with line numbers, counting what was odd on the way."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from annotation.core.progress import Beat, noop
from annotation.lines import UTF8_MARK, UTF16_MARKS, json_object
from annotation.problems import Problems

FORMATS = {"jsonl": "JSON Lines", "csv": "CSV", "tsv": "TSV"}
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
OTHER_ENDINGS = (".ndjson", ".tab")  # known, not named in messages
CSV_FIELD_LIMIT = 16 * 1024 * 1024

BEAT_ROWS = 20_000

AnyRow = TypeVar("AnyRow")

# The module's own limit, 128 KiB a cell, is below what a context document may need.
csv.field_size_limit(CSV_FIELD_LIMIT)


@dataclass
class Oddities:
    """What a reader noticed and took in its stride."""

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
    """A table with a header; ``rows`` are as wide as the file made them unless ``square`` was called."""

    header: list[str]
    header_line: int
    rows: list[Row]
    oddities: Oddities = field(default_factory=Oddities)


def beating(rows: Iterable[AnyRow], beat: Beat) -> Iterator[AnyRow]:
    """The same rows; now and then ``beat`` is called, by which a worker keeps its job, or learns that it lost it."""
    for number, row in enumerate(rows, start=1):
        if number % BEAT_ROWS == 0:
            beat()
        yield row


def format_of(filename: str, endings: Mapping[str, str] = ENDINGS) -> str | None:
    """The format that a file's name promises, if any."""
    return next((kind for ending, kind in endings.items() if filename.lower().endswith(ending)), None)


def decode(content: bytes, problems: Problems, oddities: Oddities) -> str:
    """UTF-8, with or without a byte-order mark. Refuses with the line and byte of everything that is not."""
    if content.startswith(UTF16_MARKS):
        problems.add(1, "encoding", "UTF-16 text", "UTF-8 text; save the file again as UTF-8")
        problems.refuse()
    if content.startswith(UTF8_MARK):
        oddities.byte_order_mark = 1
        content = content.removeprefix(UTF8_MARK)
    oddities.windows_line_ends = content.count(b"\r\n")
    try:
        return content.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(content.split(b"\n"), start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                found = f"byte 0x{line[error.start]:02X} at byte {error.start + 1} of the line"
                problems.add(number, "encoding", found, "UTF-8 text; save the file again as UTF-8")
        problems.refuse()
        raise


def lines_of(text: str) -> list[str]:
    """Lines end with LF or CRLF and with nothing else: U+2028 and form feeds are text."""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_tsv(content: bytes, problems: Problems, beat: Beat = noop) -> Table:
    """Tab-separated: no quoting, so a quote character is a character and a cell holds neither tab nor line break."""
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
    """Comma-separated as in RFC 4180: a cell in double quotes may hold commas, line breaks and doubled quotes."""
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
            if any(cells[width:]):
                accepted = f"{width}, as in the header; the first one too many is {cells[width][:40]!r}"
                problems.add(line, "number of cells", str(len(cells)), accepted)
            del cells[width:]


def check_header(table: Table, problems: Problems, *, required: Sequence[str], known: Sequence[str] | None) -> None:
    """Columns are named once; all required ones are there; none is unknown (``known=None``: any other may be there)."""
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
    """One JSON object on each line; blank lines are skipped and counted."""
    for number, line in enumerate(lines_of(decode(content, problems, oddities)), start=1):
        if not line.strip():
            oddities.blank_lines += 1
            continue
        value = json_object(line, number, problems)
        if value is not None:
            yield number, value
