"""Read columns from Parquet files of strangers in bounded memory; see ``parquet_process``."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa

from annotation.core.file_limits import MIB, PARQUET_MEMORY_BYTES, Allowance, TooLarge
from annotation.core.parquet_process import BATCH, END, FRAME, HEAD, REFUSED
from annotation.core.progress import INTERVAL_SECONDS, Beat

DECODER = Path(__file__).with_name("parquet_process.py")


class ColumnType(NamedTuple):
    name: str
    kind: str
    is_text: bool
    is_texts: bool


class ParquetRefused(ValueError):
    """The file cannot be decoded."""


Batches = Generator[pa.RecordBatch, None, None]


def parquet_batches(
    file: BinaryIO, wanted: Sequence[str] | None, *, beat: Beat, allowance: Allowance | None
) -> tuple[list[ColumnType], Batches]:
    """Return all columns of a file on disk, and batches of the wanted columns (None: all) that it has exactly once.

    The caller closes the batches: that ends the process which decodes them.

    Raises
    ------
    ParquetRefused
        It is no Parquet file, or a damaged one.
    TooLarge
        A limit that is exceeded.
    """
    size = os.fstat(file.fileno()).st_size
    command = [
        sys.executable,
        "-I",
        str(DECODER),
        json.dumps(None if wanted is None else list(wanted)),
        str(PARQUET_MEMORY_BYTES),
    ]
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR")}
    process = subprocess.Popen(
        command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, bufsize=0
    )
    frames = _frames(process, beat)
    try:
        _, head = next(frames)
    except BaseException:
        frames.close()
        raise
    return [ColumnType(*column) for column in json.loads(head)], _decoded(frames, size, allowance)


def _decoded(frames: Generator[tuple[bytes, bytes], None, None], size: int, allowance: Allowance | None) -> Batches:
    with closing(frames):
        for _, content in frames:
            with pa.ipc.open_stream(content) as stream:
                batch = stream.read_next_batch()
            if allowance is not None:
                allowance.take(batch.nbytes, size)
            yield batch


def _frames(process: "subprocess.Popen[bytes]", beat: Beat) -> Generator[tuple[bytes, bytes], None, None]:
    """Yield what the process sends, up to its end; raise what it refuses."""
    try:
        while True:
            kind, length = FRAME.unpack(_received(process, FRAME.size, beat))
            content = _received(process, length, beat)
            if kind == END:
                return
            if kind == REFUSED:
                about, message = json.loads(content)
                raise _too_much_memory() if about == "memory" else ParquetRefused(message)
            if kind in (HEAD, BATCH):
                yield kind, content
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _received(process: "subprocess.Popen[bytes]", length: int, beat: Beat) -> bytes:
    if process.stdout is None:
        raise ValueError("a process without standard output")
    parts, missing = [], length
    while missing:
        while not select.select([process.stdout], [], [], INTERVAL_SECONDS)[0]:
            beat()
        part = os.read(process.stdout.fileno(), min(missing, MIB))
        if not part:  # ended by the operating system, or by Arrow
            raise _too_much_memory()
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _too_much_memory() -> TooLarge:
    most = PARQUET_MEMORY_BYTES // MIB
    return TooLarge("memory", f"rows that take more than {most} MiB to decode", "rows and row groups that take less")


# --- Values -----------------------------------------------------------------------------------------------------------


def column_values(column: pa.Array) -> list[Any]:
    """Return the values of a column; text that is not UTF-8 as what no reader accepts as text."""
    try:
        return cast(list[Any], column.to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        return _NotText(error.object[error.start])


@dataclass
class _NotText:
    """A value of a text column that is not UTF-8."""

    byte: int

    def __repr__(self) -> str:
        return f"byte 0x{self.byte:02X}, which is not UTF-8"
