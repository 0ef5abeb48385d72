"""A table of unknown length as Parquet, in memory that does not grow with it.

The type of a column is known only after its last value, so the rows go through a temporary file: first in batches with
the types that each batch needs, then as row groups with the types that all of them need.
"""

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.core.outbox import Outbox

BATCH_ROWS = 20_000  # also the length of a row group
TEXT = pa.string()
MOMENT = pa.timestamp("us", tz="UTC")
TYPES = {"text": TEXT, "whole": pa.int64(), "number": pa.float64(), "truth": pa.bool_(), "time": MOMENT}


def parquet_chunks(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, types: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """Yield the file in pieces. ``types`` names, from ``TYPES``, the type of columns that may be empty."""
    with tempfile.TemporaryFile() as spool:
        fields, offsets = _spooled(columns, rows, spool)
        for index, name in enumerate(columns):
            if pa.types.is_null(fields[index]):
                fields[index] = TYPES[(types or {}).get(name, "text")]
        schema = pa.schema([pa.field(name, kind) for name, kind in zip(columns, fields, strict=True)])
        yield from batch_chunks(schema, _cast_batches(spool, offsets, fields))


def batch_chunks(schema: pa.Schema, batches: Iterable[Sequence[pa.Array]]) -> Iterator[bytes]:
    """Yield a file of a known schema in pieces; a batch, with an array for each column, becomes a row group.

    The same batches give the same bytes under one version of Arrow.
    """
    outbox = Outbox()
    with pq.ParquetWriter(pa.PythonFile(outbox, mode="w"), schema, compression="zstd") as writer:
        for arrays in batches:
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield outbox.take()
    yield outbox.take()


def _cast_batches(spool: BinaryIO, offsets: Sequence[int], fields: Sequence[pa.DataType]) -> Iterator[list[pa.Array]]:
    for offset in offsets:
        spool.seek(offset)
        with pa.ipc.open_stream(spool) as stream:
            batch = stream.read_next_batch()
        columns = zip(batch.columns, batch.schema.types, fields, strict=True)
        yield [_cast(column, kind, target) for column, kind, target in columns]


def _spooled(
    columns: Sequence[str], rows: Iterable[Sequence[object]], spool: BinaryIO
) -> tuple[list[pa.DataType], list[int]]:
    """Write the rows to the temporary file; return each column's type, and the offset of each batch."""
    fields: list[pa.DataType] = [pa.null() for _ in columns]
    offsets: list[int] = []
    unread = iter(rows)
    while batch := list(islice(unread, BATCH_ROWS)):
        n = len(columns)
        if any(len(row) != n for row in batch):
            raise ValueError(f"a row has not {n} values, one for each column")
        arrays = [_array([_plain(row[index]) for row in batch]) for index in range(n)]
        fields = [_wider(field, array.type) for field, array in zip(fields, arrays, strict=True)]
        offsets.append(spool.tell())
        table = pa.record_batch(arrays, names=[str(index) for index in range(n)])
        with pa.ipc.new_stream(spool, table.schema) as stream:
            stream.write_batch(table)
    return fields, offsets


def _array(values: list[Any]) -> pa.Array:
    """Return an array of the narrowest type that holds all values; mixed values become text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {bool, int, float} and all(value is None or abs(value) < 2**53 for value in values):
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        return pa.array([_text(value) for value in values], TEXT)


def _plain(value: object) -> Any:
    """Return the value as Arrow knows it: undefined numbers are null, times in UTC, other types text."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if value is None or isinstance(value, str | bool | int | date):
        return value
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value.isoformat() if isinstance(value, date) else str(value)


def _wider(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    """Return the narrowest type that holds the values of both."""
    if first == second or pa.types.is_null(second):
        return first
    if pa.types.is_null(first):
        return second
    if {first, second} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if pa.types.is_list(first) and pa.types.is_list(second):
        return pa.list_(_wider(first.value_type, second.value_type))
    return TEXT


def _cast(column: pa.Array, kind: pa.DataType, target: pa.DataType) -> pa.Array:
    if kind == target:
        return column
    if target == TEXT and not pa.types.is_null(kind):
        return pa.array([_text(value) for value in column.to_pylist()], TEXT)
    return column.cast(target, safe=False)
