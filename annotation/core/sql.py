"""Statements that are written as SQL."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Generic, Self, TypeVar

import psycopg
from django.conf import settings
from django.db import connection
from django.db.models import Field, Model
from psycopg.types.numeric import Int8

Parameters = Mapping[str, Any] | Sequence[Any]
M = TypeVar("M", bound=Model)


def rows(query: str, parameters: Parameters = (), *, prepared: bool = False) -> list[Any]:
    """Return all rows of a query, each a tuple.

    A ``prepared`` query is parsed and planned once a connection, behind a pooler each time. It gives the type of a
    parameter where PostgreSQL cannot know it; integers are of eight bytes.
    """
    with _executed(query, parameters, prepared) as cursor:
        return list(cursor.fetchall())


def row(query: str, parameters: Parameters = (), *, prepared: bool = False) -> Any:
    """Return the first row of a query as a tuple, or None."""
    with _executed(query, parameters, prepared) as cursor:
        return cursor.fetchone()


def execute(statement: str, parameters: Parameters = (), *, prepared: bool = False) -> int:
    """Execute a statement and return the number of rows that it changed."""
    with _executed(statement, parameters, prepared) as cursor:
        return int(cursor.rowcount)


@contextmanager
def _executed(statement: str, parameters: Parameters, prepared: bool) -> Iterator[Any]:
    with _prepared_cursor() if prepared else connection.cursor() as cursor:
        cursor.execute(statement, (_typed(parameters) if prepared else parameters) or None)
        yield cursor


class _PreparedCursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **_: Any) -> Self:
        if not settings.DATABASE_POOLER_URL:  # whose sessions know no statement of another
            self.connection.prepare_threshold = 0  # Django sets none, with which nothing is prepared
        try:
            return super().execute(query, params, prepare=True)
        finally:
            self.connection.prepare_threshold = None
            self._query: Any = SimpleNamespace(query=str(query).encode())  # as the log of queries reads it


def _prepared_cursor() -> Any:
    database: Any = connection
    database.ensure_connection()
    return database._prepare_cursor(_PreparedCursor(database.connection))  # noqa: SLF001 # as connection.cursor does


def _typed(parameters: Parameters) -> Parameters:
    """Return the parameters with integers of one type: by default it depends on the value, and so does the plan."""
    if isinstance(parameters, Mapping):
        return {name: _of_eight_bytes(value) for name, value in parameters.items()}
    return [_of_eight_bytes(value) for value in parameters]


def _of_eight_bytes(value: Any) -> Any:
    if type(value) is int:
        return Int8(value)
    return [_of_eight_bytes(each) for each in value] if isinstance(value, list) else value


class Columns(Generic[M]):
    """The columns of a table in a query of SQL, and the model's instances of its rows.

    For statements that every answer of a rater needs: Django takes several times as long to compile a query as
    PostgreSQL takes to answer it.
    """

    def __init__(self, model: type[M], alias: str) -> None:
        self.model, self.alias = model, alias

    def __str__(self) -> str:
        return ", ".join(f'{self.alias}."{field.column}"' for field in self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def instance(self, values: Sequence[Any]) -> M:
        """Return the row as the model's own queries would, from its values in the order of the columns."""
        converted = list(values)
        for index, convert in self._conversions:
            converted[index] = convert(converted[index], None, connection)
        return self.model.from_db(connection.alias, self._names, converted)

    @cached_property
    def _fields(self) -> Sequence["Field[Any, Any]"]:
        return list(self.model._meta.concrete_fields)

    @cached_property
    def _names(self) -> list[str]:
        return [field.attname for field in self._fields]

    @cached_property
    def _conversions(self) -> list[tuple[int, Any]]:
        return [(at, field.from_db_value) for at, field in enumerate(self._fields) if hasattr(field, "from_db_value")]
