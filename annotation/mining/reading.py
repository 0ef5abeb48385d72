"""Triples of a conversation from a file of any length, in memory that does not grow with it.

JSON Lines, TSV and Parquet, each also compressed with gzip or zstd, from a file or from standard input. Every bad
line is told; a file with a bad line is refused whole, when all of it was read.
"""

import gzip
import io
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from itertools import count
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from annotation.core.problems import Problems, storable
from annotation.core.progress import Beat, noop
from annotation.core.rows import UTF8_MARK, check_width, decoded_line, is_utf16, json_object
from annotation.hygiene.refusal import refuse
from annotation.mining.opening import CHUNK_BYTES, COMPRESSIONS, FORMATS, decompressed
from annotation.mining.triples import Triple

TURN_SEPARATOR = "|||"
EXAMPLE = '{"context": ["Hi."], "message": "How are you?", "response": "Fine."}'
LINE_BYTES = 16 * 1024 * 1024
BATCH_ROWS = 4096
BEAT_CHUNKS = 64
BEAT_LINES = 20_000
NAMES_TOLD = 20

Column = str | int | None


@dataclass(frozen=True)
class Columns:
    """Where the parts of a triple stand: names of fields or columns, or numbers of a TSV's columns from 1.

    ``context`` may be None: there is none. The default's column ``context`` may be absent, any other name may not.
    """

    context: Column = "context"
    message: Column = "message"
    response: Column = "response"

    def __post_init__(self) -> None:
        named = {name: getattr(self, name) for name in ("context", "message", "response")}
        for name, column in named.items():
            if column is None and name == "context":
                continue
            number = isinstance(column, int) and not isinstance(column, bool) and 1 <= column <= 10_000
            if not number and not (isinstance(column, str) and column.strip() and storable(column) == column):
                refuse(f"columns.{name}", column, "the name of a column, or its number from 1")
        given = [column for column in named.values() if column is not None]
        if len(set(given)) != len(given):
            refuse("columns", given, "a column of its own for each of context, message and response")
        if len({type(column) for column in given}) > 1:
            refuse("columns", given, "names for all columns, or numbers for all")

    @property
    def numbered(self) -> bool:
        return isinstance(self.message, int)


@dataclass
class ReadReport:
    """What was found in a file, in numbers, and what is wrong with it."""

    filename: str
    problems: Problems = field(init=False)
    lines: int = 0
    triples: int = 0
    empty_messages: int = 0
    empty_responses: int = 0
    byte_order_mark: int = 0
    windows_line_ends: int = 0
    blank_lines: int = 0
    quote_cells: int = 0
    other_columns: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problems = Problems(self.filename)

    def counts(self) -> dict[str, int]:
        """Lines (of Parquet: rows), triples, and what was odd, where there was any."""
        odd = (
            "empty_messages",
            "empty_responses",
            "byte_order_mark",
            "windows_line_ends",
            "blank_lines",
            "quote_cells",
        )
        counts = {"lines": self.lines, "triples": self.triples}
        return counts | {name: getattr(self, name) for name in odd if getattr(self, name)}

    def to_dict(self) -> dict[str, Any]:
        told = {"other_columns": self.other_columns} if self.other_columns else {}
        return {"counts": self.counts(), **told}

    def other(self, name: str) -> None:
        if len(self.other_columns) < NAMES_TOLD and name not in self.other_columns:
            self.other_columns.append(name)


# --- Reading ----------------------------------------------------------------------------------------------------------


def read_triples(
    stream: BinaryIO,
    *,
    file_format: str,
    compression: str = "",
    columns: Columns | None = None,
    header: bool = True,
    turn_separator: str = TURN_SEPARATOR,
    report: ReadReport,
    beat: Beat = noop,
) -> Iterator[Triple]:
    """The triples of a file, one at a time, in its order.

    Parameters
    ----------
    stream : binary file
        Read from where it stands; it need not be seekable. Parquet has its table of contents at the end: what is
        compressed or cannot be sought goes through a temporary file, on disk.
    file_format : str
        One of ``FORMATS``; see ``opening.recognise``.
    compression : str
        One of ``COMPRESSIONS``.
    columns : Columns, optional
        The names context, message and response; a TSV without a header has them in this order.
    header : bool
        Whether a TSV's first line names its columns.
    turn_separator : str
        Stands between the turns of a context that is one text.
    report : ReadReport
        Filled on the way; complete at the end.
    beat : callable
        Called every ``BEAT_LINES`` lines; what it raises stops the reading.

    Raises
    ------
    ImportRefused
        At the end, with every bad line. From the first of them on, nothing more is yielded.
    ParameterRefused
        An unknown format or compression, or columns that a format cannot have.
    """
    columns = _check(file_format, compression, columns, header, turn_separator)
    reader = _Reader(report, columns, turn_separator)
    with ExitStack() as stack:
        rows: Iterator[tuple[int, _Row]]
        if file_format == "parquet":
            rows = _parquet_rows(stack.enter_context(_seekable(stream, compression, report, beat)), reader, beat)
        else:
            content = stack.enter_context(decompressed(stream, compression))
            lines = _text_lines(content, report, beat)
            rows = _json_rows(lines, reader) if file_format == "jsonl" else _table_rows(lines, reader, header=header)
        for line, row in _whole(rows, report):
            triple = reader.triple(line, row)
            if triple is not None and not report.problems.total:
                report.triples += 1
                yield triple
    if not report.problems.total and not report.triples:
        report.problems.add(None, "triples", "none", "at least one with a message and a response")
    report.problems.refuse()


def _check(file_format: str, compression: str, columns: Columns | None, header: bool, separator: str) -> Columns:
    if file_format not in FORMATS:
        refuse("file_format", file_format, f"one of {', '.join(FORMATS)}")
    if compression not in COMPRESSIONS:
        refuse("compression", compression, f"one of {', '.join(map(repr, COMPRESSIONS))}")
    if not separator.strip() or "\t" in separator or "\n" in separator:
        refuse("turn_separator", separator, "signs that no turn holds, on one line and without tabs, such as |||")
    if file_format == "tsv" and not header:
        columns = columns or Columns(1, 2, 3)
        if not columns.numbered:
            refuse("columns", columns.message, "numbers from 1, where a TSV has no header")
        return columns
    columns = columns or Columns()
    if columns.numbered and file_format != "tsv":
        refuse("columns", columns.message, f"names, in {FORMATS[file_format]}")
    return columns


class _Row(NamedTuple):
    """The three parts as the file has them; ABSENT where it has none."""

    context: Any
    message: Any
    response: Any


ABSENT: Any = object()


class _Reader:
    """From what a row holds to a triple, or to problems."""

    def __init__(self, report: ReadReport, columns: Columns, turn_separator: str) -> None:
        self.report = report
        self.problems = report.problems
        self.columns = columns
        self.separator = turn_separator
        self.context_named = columns.context not in (None, "context")

    def name(self, part: str) -> str:
        column = getattr(self.columns, part)
        return f"column {column}" if isinstance(column, int) else str(column)

    def triple(self, line: int, row: _Row) -> Triple | None:
        before = self.problems.total
        context = self._context(line, row.context)
        message = self._text(line, self.name("message"), row.message, "the message that is answered")
        response = self._text(line, self.name("response"), row.response, "the response")
        if self.problems.total > before:
            return None
        self.report.empty_messages += not message.strip()
        self.report.empty_responses += not response.strip()
        return Triple(context, message, response) if message.strip() and response.strip() else None

    def _text(self, line: int, name: str, value: Any, what: str) -> str:
        if value is ABSENT or value is None:
            self.problems.add(line, name, "nothing" if value is ABSENT else "null", f"a text: {what}")
            return ""
        if not isinstance(value, str):
            self.problems.add(line, name, value, "a text")
            return ""
        return self._storable(line, name, value)

    def _storable(self, line: int, name: str, text: str) -> str:
        """PostgreSQL holds neither NUL characters nor halves of surrogate pairs."""
        if "\x00" in text:
            found = f"a NUL character at place {text.index(chr(0)) + 1}"
            self.problems.add(line, name, found, "text without NUL characters")
        elif not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                found = f"half a surrogate pair at place {error.start + 1}"
                self.problems.add(line, name, found, "whole Unicode characters")
        return text

    def _context(self, line: int, value: Any) -> tuple[str, ...]:
        if value is ABSENT or value is None:
            return ()
        name = self.name("context")
        if isinstance(value, str):
            text = self._storable(line, name, value)
            return tuple(turn.strip() for turn in text.split(self.separator)) if text.strip() else ()
        if not isinstance(value, list):
            self.problems.add(line, name, value, "a list of texts, or one text")
            return ()
        return tuple(
            self._text(line, f"{name}[{place}]", turn, "a turn of the conversation") for place, turn in enumerate(value)
        )


def _whole(rows: Iterator[tuple[int, _Row]], report: ReadReport) -> Iterator[tuple[int, _Row]]:
    """The same rows; a file that is damaged or cut off is a problem of its own."""
    try:
        yield from rows
    except EOFError:
        report.problems.add(
            report.lines + 1, "compression", "the end of the file inside compressed data", "a whole file"
        )
    except (gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        report.problems.add(
            report.lines + 1, "compression", f"damaged data ({error})", "a whole file, as it was written"
        )
    except pa.ArrowException as error:
        report.problems.add(report.lines + 1, "file", str(error), "a Parquet file")


# --- Lines of text ----------------------------------------------------------------------------------------------------


def _text_lines(content: io.BufferedReader, report: ReadReport, beat: Beat) -> Iterator[tuple[int, str]]:
    """Lines that hold something, decoded. They end with LF or CR LF and with nothing else."""
    while raw := content.readline(LINE_BYTES + 2):
        report.lines += 1
        if report.lines % BEAT_LINES == 0:
            beat()
        if report.lines == 1:
            if is_utf16(raw, report.problems):
                return
            report.byte_order_mark = int(raw.startswith(UTF8_MARK))
            raw = raw.removeprefix(UTF8_MARK)
        if len(raw) > LINE_BYTES and not raw.endswith(b"\n"):
            report.problems.add(report.lines, "line", "more than 16 MiB", "a triple, of 16 MiB at most")
            while (rest := content.readline(CHUNK_BYTES)) and not rest.endswith(b"\n"):
                pass
            continue
        report.windows_line_ends += raw.endswith(b"\r\n")
        line = decoded_line(raw.removesuffix(b"\n").removesuffix(b"\r"), report.lines, report.problems)
        if line is None:
            continue
        if line.strip():
            yield report.lines, line
        else:
            report.blank_lines += 1


def _json_rows(lines: Iterator[tuple[int, str]], reader: _Reader) -> Iterator[tuple[int, _Row]]:
    names = cast(tuple[str | None, str, str], (reader.columns.context, reader.columns.message, reader.columns.response))
    for number, line in lines:
        value = json_object(line, number, reader.problems, example=EXAMPLE)
        if value is None:
            continue
        for name in value.keys() - set(names):
            reader.report.other(name)
        row = _Row(*(value.get(name, ABSENT) if name is not None else ABSENT for name in names))
        if reader.context_named and row.context is ABSENT:
            reader.problems.add(number, reader.name("context"), "nothing", "a list of texts, one text, or null")
        yield number, row


def _table_rows(lines: Iterator[tuple[int, str]], reader: _Reader, *, header: bool) -> Iterator[tuple[int, _Row]]:
    """No quoting: a quote character is a character, and a cell holds neither tab nor line break."""
    places: Sequence[int | None] | None = None
    width = 0
    if not header:
        given = (reader.columns.context, reader.columns.message, reader.columns.response)
        places = [column - 1 if isinstance(column, int) else None for column in given]
    for number, line in lines:
        cells = line.split("\t")
        if header and places is None:
            width = len(cells)
            places = _header_places([cell.strip() for cell in cells], number, reader)
            if places is None:
                return
            continue
        if header and not check_width(cells, width, number, reader.problems):
            continue
        if '"' in line:
            reader.report.quote_cells += sum('"' in cell for cell in cells)
        yield number, _Row(*(_cell(cells, place) for place in places or ()))


def _cell(cells: Sequence[str], place: int | None) -> Any:
    return cells[place] if place is not None and place < len(cells) else ABSENT


def _header_places(names: Sequence[str], line: int, reader: _Reader) -> list[int | None] | None:
    """Where the three parts stand; None where the header does not say, and then the problems do."""
    problems, columns = reader.problems, reader.columns
    for at, name in enumerate(names):
        if name in names[:at]:
            problems.add(line, f"column {at + 1}", name, "each column once")
    places: list[int | None] = []
    for part in ("context", "message", "response"):
        column = getattr(columns, part)
        place: int | None = None
        if isinstance(column, int):
            place = column - 1
            if place >= len(names):
                problems.add(line, f"column {column}", f"{len(names)} columns", "a column of this number")
        elif column in names:
            place = names.index(column)
        elif column is not None and (part != "context" or reader.context_named):
            problems.add(line, column, "no such column", f"a column named {column}, for the {part}")
        places.append(place)
    for at, name in enumerate(names):
        if at not in places:
            reader.report.other(name or f"column {at + 1}")
    return None if problems.total else places


# --- Parquet ----------------------------------------------------------------------------------------------------------


def _seekable(stream: BinaryIO, compression: str, report: ReadReport, beat: Beat) -> AbstractContextManager[BinaryIO]:
    """The stream itself where its end can be read first; else a copy of it on disk."""
    if not compression and stream.seekable():
        return nullcontext(stream)
    spool = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
    try:
        with decompressed(stream, compression) as content:
            for number in count(1):
                part = content.read(CHUNK_BYTES)
                if not part:
                    break
                spool.write(part)
                if number % BEAT_CHUNKS == 0:
                    beat()
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        spool.close()
        report.problems.add(None, "compression", f"damaged or cut off ({error})", "a whole file, as it was written")
        report.problems.refuse()
    spool.seek(0)
    return spool


def _parquet_rows(stream: BinaryIO, reader: _Reader, beat: Beat) -> Iterator[tuple[int, _Row]]:
    """Batch by batch; memory is that of one row group's three columns, as they are compressed."""
    with pq.ParquetFile(stream, buffer_size=CHUNK_BYTES) as file:
        names = _parquet_columns(file.schema_arrow, reader)
        if names is None:
            return
        wanted = [name for name in names if name is not None]
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
            beat()
            parts = [[ABSENT] * batch.num_rows if name is None else _values(batch.column(name)) for name in names]
            for values in zip(*parts, strict=True):
                reader.report.lines += 1
                yield reader.report.lines, _Row(*values)


def _parquet_columns(schema: pa.Schema, reader: _Reader) -> list[str | None] | None:
    """Which columns hold the three parts; None where they cannot, and then the problems say why."""
    problems, names = reader.problems, []
    for part in ("context", "message", "response"):
        name = getattr(reader.columns, part)
        indices = [] if name is None else schema.get_all_field_indices(name)
        if len(indices) > 1:
            problems.add(None, name, f"{len(indices)} columns of this name", "each column once")
        elif indices:
            kind = schema.field(indices[0]).type
            accepted = "text, or a list of text" if part == "context" else "text"
            if not _is_text(kind) and not (part == "context" and _is_texts(kind)):
                problems.add(None, name, f"a column of type {kind}", accepted)
        elif name is not None and (part != "context" or reader.context_named):
            problems.add(None, name, "no such column", f"a column named {name}, for the {part}")
        names.append(name if indices else None)
    for name in schema.names:
        if name not in names:
            reader.report.other(name)
    return None if problems.total else names


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_texts(kind: pa.DataType) -> bool:
    if pa.types.is_null(kind):
        return True
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(is_list and (_is_text(kind.value_type) or pa.types.is_null(kind.value_type)))


def _values(column: pa.Array) -> list[Any]:
    try:
        return cast(list[Any], column.to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        return _NotText(f"byte 0x{error.object[error.start]:02X}")


class _NotText:
    """What a column of text holds that is none."""

    def __init__(self, found: str) -> None:
        self._found = found

    def __repr__(self) -> str:
        return f"{self._found}, which is not UTF-8"
