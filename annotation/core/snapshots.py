"""Reads from a consistent state of the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from annotation.core import sql


@contextmanager
def snapshot() -> Iterator[None]:
    """Read the database as of one moment, without locks, whatever is written meanwhile.

    Inside an open transaction, that transaction's isolation holds.
    """
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            sql.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
