"""Advisory locks without a transaction, for what takes long: all processes share them, and a killed one lets go."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection

from annotation.core import sql

# The first keys of all advisory locks, each once: also of those that are held to the end of a transaction.
CAMPAIGNS = 0x41737361  # the gate
RECRUITMENTS = 0x41737362
EVENTS = 0x41737363
SLOW_METRICS = 0x41737364
CAMPAIGN_ENDS = 0x41737365
DELIVERIES = 0x41737366
SNAPSHOTS = 0x41737367
RESULTS = 0x41737368


@contextmanager
def turn(key: int, number: int) -> Iterator[bool]:
    """Yield False if another process holds the lock."""
    numbers = [key, number % 2**31]
    if settings.DATABASE_POOLER_URL:
        with _transaction_of_its_own() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", numbers)
            yield bool(cursor.fetchone()[0])
        return
    (locked,) = sql.row("SELECT pg_try_advisory_lock(%s, %s)", numbers)
    try:
        yield bool(locked)
    finally:
        if locked:
            sql.execute("SELECT pg_advisory_unlock(%s, %s)", numbers)


@contextmanager
def _transaction_of_its_own() -> Iterator[Any]:
    """Hold a session of the server: a pooler gives each statement outside of a transaction any that is free."""
    holder = connection.copy()
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            yield cursor
    finally:
        with suppress(DatabaseError):  # it is gone, and its lock with it
            holder.rollback()  # the server sees only a moment later that a connection was closed
        holder.close()


@contextmanager
def one_of(key: int, most: int) -> Iterator[bool]:
    """Yield False if others hold ``most`` locks of this key already."""
    for number in range(most):
        with turn(key, number) as mine:
            if mine:
                yield True
                return
    yield False
