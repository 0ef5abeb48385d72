"""Query results as number arrays, by PostgreSQL's binary COPY, without a Python object for each cell."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import connection

HEADER, TRAILER = 19, 2  # bytes: signature, flags and the length of an extension; -1 in place of a row
TYPES = {"bigint": (">i8", np.int64), "float8": (">f8", np.float64), "boolean": ("?", np.bool_)}


def number_columns(query: str, parameters: Mapping[str, Any], kinds: Sequence[str]) -> list[np.ndarray]:
    """Return the columns of a query without nulls; ``kinds`` names each column's PostgreSQL type.

    Raise ValueError if a column has another type or a null.
    """
    statement = f"COPY ({query}) TO STDOUT (FORMAT BINARY)"
    # The driver's own cursor: Django's for debugging passes no parameters on.
    with connection.cursor() as cursor, cursor.cursor.copy(statement, parameters) as copy:
        content = b"".join(bytes(part) for part in copy)
    fields: list[tuple[str, str]] = [("cells", ">i2")]
    for number, kind in enumerate(kinds):
        fields += [(f"length{number}", ">i4"), (f"value{number}", TYPES[kind][0])]
    record = np.dtype(fields)
    extra = len(content) - HEADER - TRAILER
    rows = np.frombuffer(content, dtype=record, count=extra // record.itemsize, offset=HEADER) if extra else None
    if rows is None:
        return [np.zeros(0, dtype=TYPES[kind][1]) for kind in kinds]
    lengths = [(rows[f"length{number}"], TYPES[kind][0]) for number, kind in enumerate(kinds)]
    fits = extra % record.itemsize == 0 and (rows["cells"] == len(kinds)).all()
    if not fits or not all((length == np.dtype(kind).itemsize).all() for length, kind in lengths):
        raise ValueError(f"query: found columns of other types, or a null; accepted: {', '.join(kinds)}, no null.")
    return [rows[f"value{number}"].astype(TYPES[kind][1]) for number, kind in enumerate(kinds)]
