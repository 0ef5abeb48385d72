"""Advisory locks without a transaction, for what takes long: all processes share them, and a killed one lets go."""

from collections.abc import Iterator
from contextlib import contextmanager

from annotation.core import sql

RECRUITMENTS = 0x41737362  # first keys of the advisory locks, used nowhere else
EVENTS = 0x41737363
SLOW_METRICS = 0x41737364
DELIVERIES = 0x41737366


@contextmanager
def turn(key: int, number: int) -> Iterator[bool]:
    """Yield False if another process holds the lock."""
    (locked,) = sql.row("SELECT pg_try_advisory_lock(%s, %s)", [key, number % 2**31])
    try:
        yield bool(locked)
    finally:
        if locked:
            sql.execute("SELECT pg_advisory_unlock(%s, %s)", [key, number % 2**31])


@contextmanager
def one_of(key: int, most: int) -> Iterator[bool]:
    """Yield False if others hold ``most`` locks of this key already."""
    for number in range(most):
        with turn(key, number) as mine:
            if mine:
                yield True
                return
    yield False
