"""Table downloads as CSV, JSON, JSON Lines or Parquet, streamed."""

import csv
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from operator import attrgetter, itemgetter
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import get_valid_filename

from annotation.core.parquet import parquet_chunks

CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
CHUNK_CHARACTERS = 64 * 1024
# A spreadsheet takes a cell for a formula that begins so, in full width as well, and some after they dropped what
# cannot be seen before it. A cell that begins with a tab or the end of a line can spill into others.
FORMULA = re.compile(r"[\t\r\n]|[\s\u200b\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]")


Column = str | Callable[[Any], object]  # an attribute, with dots as in ``dataset.slug``, or a function of the object


def object_rows(objects: Iterable[Any], columns: Mapping[str, Column]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table of objects: ``columns`` maps the name of each column to its value in an object."""
    values = [attrgetter(column) if isinstance(column, str) else column for column in columns.values()]
    for instance in objects:
        yield tuple(value(instance) for value in values)


def objects_response(
    file_format: str,
    filename: str,
    objects: Iterable[Any],
    columns: Mapping[str, Column],
    types: Mapping[str, str] | None = None,
) -> StreamingHttpResponse:
    """Return a table of objects as a download: see ``table_response`` and ``object_rows``."""
    rows = object_rows(objects, columns)
    return table_response(format=file_format, filename=filename, columns=columns, rows=rows, types=types)


def errors_response(file_format: str, stem: str, errors: Iterable[Mapping[str, Any]]) -> StreamingHttpResponse:
    """Return the row errors of a refused file as a download."""
    columns = {name: itemgetter(name) for name in ("file", "line", "field", "found", "accepted")}
    return objects_response(file_format, f"{stem}-errors", errors, columns)


def zip_response(chunks: Iterable[bytes], filename: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(chunks, content_type="application/zip")
    response["Content-Disposition"] = content_disposition_header(True, filename)
    return response


def file_response(content: str | bytes | Iterator[bytes], content_type: str, filename: str) -> HttpResponseBase:
    """Return a file as a download, streamed if it comes in pieces."""
    kind = HttpResponse if isinstance(content, str | bytes) else StreamingHttpResponse
    response: HttpResponseBase = kind(content, content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(True, filename)
    return response


class _Line:
    """A file for csv.writer that returns the line."""

    def write(self, line: str) -> str:
        return line


def table_response(
    *,
    format: str,  # noqa: A002 - the word its users read
    filename: str,
    columns: Collection[str],
    rows: Iterable[Sequence[object]],
    types: Mapping[str, str] | None = None,
) -> StreamingHttpResponse:
    """Return a table as a download. ``rows`` can be a generator; it is read while the response is sent.

    ``filename`` is given without its ending. Undefined numbers (None, NaN, infinite) are empty in CSV, null elsewhere.
    A column of a Parquet file has the type that holds its values; ``types`` names that of columns that may be empty
    from top to bottom (``annotation.core.parquet.TYPES``). A format not in ``CONTENT_TYPES`` is a 404.
    """
    if format not in CONTENT_TYPES:
        raise Http404(f"No download as {format!r}; there are {', '.join(CONTENT_TYPES)}.")
    chunks = table_chunks(format, list(columns), rows, types=types)
    response = StreamingHttpResponse(chunks, content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = content_disposition_header(True, f"{get_valid_filename(filename)}.{format}")
    return response


def table_chunks(
    format: str,  # noqa: A002 - as above
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    types: Mapping[str, str] | None = None,
) -> Iterator[bytes]:
    """Yield a table's file in pieces, in a format of ``CONTENT_TYPES``."""
    if format == "parquet":
        return parquet_chunks(columns, rows, types=types)
    return gathered({"csv": _csv_lines, "json": _json_lines, "jsonl": _jsonl_lines}[format](columns, rows))


def _csv_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer = csv.writer(_Line(), lineterminator="\r\n")
    yield writer.writerow([_csv_cell(column) for column in columns])
    for row in rows:
        yield writer.writerow([_csv_cell(value) for _, value in zip(columns, row, strict=True)])


def _jsonl_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for row in rows:
        yield _json_object(columns, row) + "\n"


def _json_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    before = "[\n"
    for row in rows:
        yield before + _json_object(columns, row)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _json_object(columns: Sequence[str], row: Sequence[object]) -> str:
    record = {column: _json_value(value) for column, value in zip(columns, row, strict=True)}
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def _csv_cell(value: object) -> object:
    value = _plain(value)
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and FORMULA.match(value):
        return "'" + value  # numbers are numbers, and stay so
    return value


def _json_value(value: object) -> Any:
    value = _plain(value)
    return [_json_value(part) for part in value] if isinstance(value, list) else value


def _plain(value: object) -> Any:
    """Return the value as csv and json can write it; numpy's scalars become Python's."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int | dict | list):
        return value
    if isinstance(value, tuple):
        return list(value)
    return value.isoformat() if isinstance(value, datetime | date) else str(value)


def gathered(lines: Iterable[str]) -> Iterator[bytes]:
    """Join lines into larger pieces."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= CHUNK_CHARACTERS:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()
