"""Statements that are written as SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection

Parameters = Mapping[str, Any] | Sequence[Any]


def rows(query: str, parameters: Parameters = ()) -> list[Any]:
    """Return all rows of a query, each a tuple."""
    with connection.cursor() as cursor:
        cursor.execute(query, parameters or None)
        return list(cursor.fetchall())


def row(query: str, parameters: Parameters = ()) -> Any:
    """Return the first row of a query as a tuple, or None."""
    with connection.cursor() as cursor:
        cursor.execute(query, parameters or None)
        return cursor.fetchone()


def execute(statement: str, parameters: Parameters = ()) -> int:
    """Execute a statement and return the number of rows that it changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return int(cursor.rowcount)
