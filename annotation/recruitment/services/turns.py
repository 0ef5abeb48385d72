"""Advisory locks without a transaction, because requests to a provider may take long."""

from collections.abc import Iterator
from contextlib import contextmanager

from annotation.core import sql

RECRUITMENTS = 0x41737362  # first keys of the advisory locks, used nowhere else
EVENTS = 0x41737363


@contextmanager
def turn(key: int, number: int) -> Iterator[bool]:
    """Yield False if another worker holds the lock."""
    (locked,) = sql.row("SELECT pg_try_advisory_lock(%s, %s)", [key, number % 2**31])
    try:
        yield bool(locked)
    finally:
        if locked:
            sql.execute("SELECT pg_advisory_unlock(%s, %s)", [key, number % 2**31])
