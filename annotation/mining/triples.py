"""Triples of a conversation, and a file that reads them by number without loading all.

The file is Arrow IPC with record batches of equal length, opened by memory map.
"""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import pyarrow as pa

from annotation.core.canonical import canonical_json

BATCH_ROWS = 1024
SCHEMA = pa.schema([("context", pa.list_(pa.string())), ("message", pa.string()), ("response", pa.string())])


class Triple(NamedTuple):
    """A response, the message it answers, and the turns before that, oldest first."""

    context: tuple[str, ...]
    message: str
    response: str


def triple_line(triple: Triple) -> bytes:
    """Return the line of JSON that content hashes cover; text that is not Unicode raises ``UnicodeEncodeError``."""
    return canonical_json(triple._asdict()) + b"\n"


class TripleWriter:
    """Write triples in order, with one batch in memory."""

    def __init__(self, path: Path) -> None:
        self._sink = pa.OSFile(str(path), "wb")
        self._writer = pa.ipc.new_file(self._sink, SCHEMA)
        self._waiting: list[Triple] = []

    def write(self, triple: Triple) -> None:
        self._waiting.append(triple)
        if len(self._waiting) == BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        contexts, messages, responses = zip(*self._waiting, strict=True)
        self._writer.write_batch(pa.record_batch([contexts, messages, responses], schema=SCHEMA))
        self._waiting = []

    def close(self) -> None:
        if self._waiting:
            self._flush()
        self._writer.close()
        self._sink.close()


class TripleFile:
    """Read triples from disk by their numbers, from 0 in the order of writing."""

    def __init__(self, path: Path) -> None:
        self._source = pa.memory_map(str(path))
        self._reader = pa.ipc.open_file(self._source)
        if not self._reader.schema.equals(SCHEMA):
            raise ValueError(f"found the columns {self._reader.schema.names}; accepted: {SCHEMA.names}")
        last = self._reader.num_record_batches - 1
        self.n = 0 if last < 0 else last * BATCH_ROWS + self._reader.get_batch(last).num_rows

    def read(self, number: int) -> Triple:
        if not 0 <= number < self.n:
            raise IndexError(f"triple {number}: accepted are 0 to {self.n - 1}")
        part, row = divmod(number, BATCH_ROWS)
        batch = self._reader.get_batch(part)
        context, message, response = (batch.column(at)[row].as_py() for at in range(3))
        return Triple(context=tuple(context), message=message, response=response)

    def __iter__(self) -> Iterator[Triple]:
        """Yield all triples in order, with one batch in memory."""
        for number in range(self._reader.num_record_batches):
            columns = (column.to_pylist() for column in self._reader.get_batch(number).columns)
            for context, message, response in zip(*columns, strict=True):
                yield Triple(context=tuple(context), message=message, response=response)

    def close(self) -> None:
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
