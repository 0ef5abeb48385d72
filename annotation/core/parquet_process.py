"""Decode columns of a Parquet file in a process of its own, whose memory is limited.

A few bytes of Parquet can stand for gigabytes, and a damaged file can end the process that decodes it. Reads standard
input, which must be a file; writes frames to standard output: a letter, the length of what follows, and that.
"""

import json
import os
import resource
import struct
import sys
from collections.abc import Iterator
from typing import Any

FRAME = struct.Struct("<cQ")
HEAD, BATCH, REFUSED, END = b"H", b"B", b"R", b"E"
BATCH_ROWS = 256
FRAME_BYTES = 4 * 1024 * 1024  # of a batch; a single row may not be larger


def main(wanted: list[str] | None, memory: int) -> None:
    # Both before Arrow is loaded: its own allocators reserve far more than they use.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    try:
        with pq.ParquetFile(os.fdopen(0, "rb"), pre_buffer=False) as file:
            schema = file.schema_arrow
            send(HEAD, json.dumps([[field.name, *described(field.type)] for field in schema]).encode())
            names = schema.names if wanted is None else wanted
            columns = [name for name in names if len(schema.get_all_field_indices(name)) == 1]
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False):
                for part in slices(batch):
                    sink = pa.BufferOutputStream()
                    with pa.ipc.new_stream(sink, part.schema) as writer:
                        writer.write_batch(part)
                    send(BATCH, sink.getvalue())
    except MemoryError:  # also Arrow's
        send(REFUSED, json.dumps(["memory", ""]).encode())
    except Exception as error:  # noqa: BLE001 - the other process reports it
        send(REFUSED, json.dumps(["file", str(error)]).encode())
    else:
        send(END, b"")


def described(kind: Any) -> tuple[str, bool, bool]:
    """Return the name of a type, whether it is text, and whether it is a list of text."""
    return str(kind)[:200], is_text(kind), is_texts(kind)


def is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_texts(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_null(kind):
        return True
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(is_list and (is_text(kind.value_type) or pa.types.is_null(kind.value_type)))


def slices(batch: Any) -> Iterator[Any]:
    """Yield parts of a batch that are small enough to send."""
    if batch.nbytes <= FRAME_BYTES:
        yield batch
    elif batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from slices(batch.slice(0, half))
        yield from slices(batch.slice(half))
    else:
        raise ValueError(f"a row of {batch.nbytes:,} bytes; the largest is {FRAME_BYTES:,}")


def send(kind: bytes, content: Any) -> None:
    out = sys.stdout.buffer
    out.write(FRAME.pack(kind, len(content)))
    out.write(content)
    out.flush()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]))
