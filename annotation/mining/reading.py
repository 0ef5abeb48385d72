"""Read triples of a conversation from a file of any length, in constant memory.

JSON Lines, TSV and Parquet, each also compressed with gzip or zstd, from a file or from standard input. A file with a
row error is refused as a whole, after all of it was read, with every row error.
"""

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, NamedTuple, cast

from annotation.core import file_limits
from annotation.core.file_limits import Allowance, TooLarge
from annotation.core.parquet_reading import ColumnType, ParquetRefused, column_values, parquet_batches
from annotation.core.problems import Problems, storable
from annotation.core.progress import Beat, noop
from annotation.core.rows import UTF8_MARK, beating, check_width, decoded_line, is_utf16, json_object
from annotation.hygiene.refusal import refuse
from annotation.mining.opening import CHUNK_BYTES, COMPRESSIONS, DAMAGED, FORMATS, decompressed
from annotation.mining.triples import Triple

PARTS = ("context", "message", "response")
TURN_SEPARATOR = "|||"
EXAMPLE = '{"context": ["Hi."], "message": "How are you?", "response": "Fine."}'
LINE_BYTES = file_limits.LINE_CHARACTERS
MAX_NAMES = 20  # of other columns in the report

Column = str | int | None


@dataclass(frozen=True)
class Columns:
    """The fields or columns of a triple's parts, by name, or by number from 1 in a TSV.

    ``context`` may be None. Only a column with the default name ``context`` may be missing in the file.
    """

    context: Column = "context"
    message: Column = "message"
    response: Column = "response"

    def __post_init__(self) -> None:
        columns = {part: getattr(self, part) for part in PARTS}
        if self.context is None:
            del columns["context"]
        for part, column in columns.items():
            is_number = isinstance(column, int) and not isinstance(column, bool) and 1 <= column <= 10_000
            if not is_number and not (isinstance(column, str) and column.strip() and storable(column) == column):
                refuse(f"columns.{part}", column, "the name of a column, or its number from 1")
        names = list(columns.values())
        if len(set(names)) != len(names):
            refuse("columns", names, "different columns for context, message and response")
        if len({type(name) for name in names}) > 1:
            refuse("columns", names, "names for all columns, or numbers for all")

    @property
    def numbered(self) -> bool:
        return isinstance(self.message, int)


@dataclass
class ReadReport:
    """The row errors of a file, and counts of its contents and oddities."""

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
        """Return the numbers of lines (rows of Parquet) and triples, and those of oddities that are not 0."""
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        return {name: value for name, value in numbers.items() if value or name in ("lines", "triples")}

    def to_dict(self) -> dict[str, Any]:
        return {"counts": self.counts()} | ({"other_columns": self.other_columns} if self.other_columns else {})

    def add_other_column(self, name: str) -> None:
        name = storable(name)
        if len(self.other_columns) < MAX_NAMES and name not in self.other_columns:
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
    allowance: Allowance | None = None,
) -> Iterator[Triple]:
    """Yield the triples of a file in order.

    Parameters
    ----------
    stream : binary file
        Read from its position; it need not be seekable. Parquet has its index at the end: what is not a file of the
        operating system is copied to a temporary one.
    file_format : str
        One of ``FORMATS``; see ``opening.recognise``.
    compression : str
        One of ``COMPRESSIONS``.
    columns : Columns, optional
        By default context, message and response; a TSV without a header has them in this order.
    header : bool
        Whether a TSV's first line names its columns.
    turn_separator : str
        Separates the turns of a context that is one text.
    report : ReadReport
        Filled while the triples are read.
    beat : callable
        Called regularly; an exception stops the reading.
    allowance : Allowance, optional
        How much a compressed file may unpack to; by default any amount.

    Raises
    ------
    ImportRefused
        At the end, with every row error. After the first, nothing more is yielded.
    ParameterRefused
        An unknown format or compression, or columns that a format cannot have.
    """
    columns = _check(file_format, compression, columns, header, turn_separator)
    reader = _Reader(report, columns, turn_separator)
    with ExitStack() as stack:
        rows: Iterator[tuple[int, _Row]]
        if file_format == "parquet":
            file = stack.enter_context(_on_disk(stream, compression, report, beat, allowance))
            rows = _parquet_rows(file, reader, beat, allowance)
        else:
            content = stack.enter_context(decompressed(stream, compression, allowance))
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
        refuse("turn_separator", separator, "characters that no turn holds, without tabs or line breaks, such as |||")
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
    """The three parts as in the file, or ABSENT."""

    context: Any
    message: Any
    response: Any


ABSENT: Any = object()


class _Reader:
    """Turn rows into triples or row errors."""

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
        size = len(message) + len(response) + sum(map(len, context))
        if size > file_limits.TRIPLE_CHARACTERS:
            triple, most = f"a triple of {size:,} characters", f"at most {file_limits.TRIPLE_CHARACTERS:,}"
            self.problems.add(line, "context, message and response", triple, most)
        if self.problems.total > before:
            return None
        self.report.empty_messages += not message.strip()
        self.report.empty_responses += not response.strip()
        return Triple(context, message, response) if message.strip() and response.strip() else None

    def _text(self, line: int, name: str, value: Any, accepted: str) -> str:
        if value is ABSENT or value is None:
            self.problems.add(line, name, "nothing" if value is ABSENT else "null", f"a text: {accepted}")
            return ""
        if not isinstance(value, str):
            self.problems.add(line, name, value, "a text")
            return ""
        return self._storable(line, name, value)

    def _storable(self, line: int, name: str, text: str) -> str:
        """Report NUL characters and half surrogate pairs, which PostgreSQL cannot store."""
        if "\x00" in text:
            problem = f"a NUL character at place {text.index(chr(0)) + 1}"
            self.problems.add(line, name, problem, "text without NUL characters")
        elif not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                problem = f"half a surrogate pair at place {error.start + 1}"
                self.problems.add(line, name, problem, "whole Unicode characters")
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
            self._text(line, f"{name}[{index}]", turn, "a turn of the conversation") for index, turn in enumerate(value)
        )


def _whole(rows: Iterator[tuple[int, _Row]], report: ReadReport) -> Iterator[tuple[int, _Row]]:
    """Yield the rows; report a damaged or incomplete file as an error of the next row."""
    try:
        yield from rows
    except EOFError:
        problem = ("compression", "the end of the file inside compressed data", "a whole file")
    except DAMAGED as error:
        problem = ("compression", f"damaged data ({error})", "a whole file, as it was written")
    except TooLarge as limit:
        problem = (limit.field, limit.found, limit.accepted)
    except ParquetRefused as error:
        problem = ("file", str(error), "a Parquet file")
    else:
        return
    report.problems.add(report.lines + 1, *problem)


# --- Lines of text ----------------------------------------------------------------------------------------------------


def _text_lines(content: io.BufferedReader, report: ReadReport, beat: Beat) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, decoded. Only LF and CR LF end a line."""
    for read in beating(iter(partial(content.readline, LINE_BYTES + 2), b""), beat):
        raw = read
        report.lines += 1
        if report.lines == 1:
            if is_utf16(raw, report.problems):
                return
            report.byte_order_mark = int(raw.startswith(UTF8_MARK))
            raw = raw.removeprefix(UTF8_MARK)
        if len(raw) > LINE_BYTES and not raw.endswith(b"\n"):
            most = f"{LINE_BYTES // file_limits.MIB} MiB"
            report.problems.add(report.lines, "line", f"more than {most}", f"a triple, of {most} at most")
            for rest in beating(iter(partial(content.readline, CHUNK_BYTES), b""), beat):
                if rest.endswith(b"\n"):
                    break
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
            reader.report.add_other_column(name)
        row = _Row(*(value.get(name, ABSENT) if name is not None else ABSENT for name in names))
        if reader.context_named and row.context is ABSENT:
            reader.problems.add(number, reader.name("context"), "nothing", "a list of texts, one text, or null")
        yield number, row


def _table_rows(lines: Iterator[tuple[int, str]], reader: _Reader, *, header: bool) -> Iterator[tuple[int, _Row]]:
    """Read without quoting: a quote character is text, and a cell holds neither tab nor line break."""
    positions: Sequence[int | None] | None = None
    width = 0
    if not header:
        columns = (getattr(reader.columns, part) for part in PARTS)
        positions = [column - 1 if isinstance(column, int) else None for column in columns]
    for number, line in lines:
        cells = line.split("\t")
        if header and positions is None:
            width = len(cells)
            positions = _header_positions([cell.strip() for cell in cells], number, reader)
            if positions is None:
                return
            continue
        if header and not check_width(cells, width, number, reader.problems):
            continue
        if '"' in line:
            reader.report.quote_cells += sum('"' in cell for cell in cells)
        yield number, _Row(*(_cell(cells, position) for position in positions or ()))


def _cell(cells: Sequence[str], position: int | None) -> Any:
    return cells[position] if position is not None and position < len(cells) else ABSENT


def _header_positions(names: Sequence[str], line: int, reader: _Reader) -> list[int | None] | None:
    """Return the positions of the three parts in a row; None, with errors, if the header lacks one."""
    problems = reader.problems
    problems.check_limit(line, "columns", len(names), file_limits.COLUMNS)
    for index, name in enumerate(names):
        if names.index(name) < index:
            problems.add(line, f"column {index + 1}", name, "each column once")
    positions: list[int | None] = []
    for part in PARTS:
        column = getattr(reader.columns, part)
        position: int | None = None
        if isinstance(column, int):
            position = column - 1
            if position >= len(names):
                problems.add(line, f"column {column}", f"{len(names)} columns", "a column of this number")
        elif column in names:
            position = names.index(column)
        elif column is not None and (part != "context" or reader.context_named):
            problems.add(line, column, "no such column", f"a column named {column}, for the {part}")
        positions.append(position)
    for index, name in enumerate(names):
        if index not in positions:
            reader.report.add_other_column(name or f"column {index + 1}")
    return None if problems.total else positions


# --- Parquet ----------------------------------------------------------------------------------------------------------


def _on_disk(
    stream: BinaryIO, compression: str, report: ReadReport, beat: Beat, allowance: Allowance | None
) -> AbstractContextManager[BinaryIO]:
    """Return the stream itself if it is a file, else a copy on disk."""
    if not compression and stream.seekable() and not isinstance(stream, io.BytesIO):
        return nullcontext(stream)
    spool = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
    try:
        with decompressed(stream, compression, allowance) as content:
            for part in beating(iter(partial(content.read, CHUNK_BYTES), b""), beat):
                spool.write(part)
    except TooLarge:
        spool.close()
        raise
    except DAMAGED as error:
        spool.close()
        report.problems.add(None, "compression", f"damaged or cut off ({error})", "a whole file, as it was written")
        report.problems.refuse()
    spool.flush()
    spool.seek(0)
    return spool


def _parquet_rows(
    stream: BinaryIO, reader: _Reader, beat: Beat, allowance: Allowance | None
) -> Iterator[tuple[int, _Row]]:
    """Read batch by batch, each of a few megabytes."""
    wanted = [name for part in PARTS if (name := getattr(reader.columns, part)) is not None]
    columns, batches = parquet_batches(stream, wanted, beat=beat, allowance=allowance)
    with closing(batches):
        names = _parquet_columns(columns, reader)
        if names is None:
            return
        for batch in beating(batches, beat):
            parts = [[ABSENT] * batch.num_rows if name is None else column_values(batch.column(name)) for name in names]
            for values in zip(*parts, strict=True):
                reader.report.lines += 1
                yield reader.report.lines, _Row(*values)


def _parquet_columns(columns: Sequence[ColumnType], reader: _Reader) -> list[str | None] | None:
    """Return the columns of the three parts; None, with errors, if one is missing or has another type."""
    problems, names = reader.problems, list[str | None]()
    for part in PARTS:
        name = getattr(reader.columns, part)
        named = [column for column in columns if column.name == name]
        if len(named) > 1:
            problems.add(None, name, f"{len(named)} columns of this name", "each column once")
        elif named:
            accepted = "text, or a list of text" if part == "context" else "text"
            if not named[0].is_text and not (part == "context" and named[0].is_texts):
                problems.add(None, name, f"a column of type {named[0].kind}", accepted)
        elif name is not None and (part != "context" or reader.context_named):
            problems.add(None, name, "no such column", f"a column named {name}, for the {part}")
        names.append(name if named else None)
    for column in columns:
        if column.name not in names:
            reader.report.add_other_column(column.name)
    return None if problems.total else names
