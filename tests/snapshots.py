"""Rows that many tests begin with: built once by a process through the product's own models, then copied back in."""

import io
import pickle
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, TypeVar

from django.apps import apps
from django.db import connection, models, transaction

from annotation.models import Project

T = TypeVar("T")

# The project of every test has one number, so that rows which name it can be written again as they were.
PROJECT_ID = 1_000_000

ANALYZED_FROM = 100_000  # bytes: without statistics of a large table the planner chooses badly

_Rows = list[tuple[str, bytes]]
_snapshots: dict[Hashable, tuple[bytes, _Rows]] = {}


def recalled(name: Hashable, project: Project, build: Callable[[], T]) -> T:
    """Return what ``build()`` returns, with the rows it makes below ``project``, keys and times included.

    ``name`` says all that ``build`` depends on besides an empty project; a project that is not empty is built anew. The
    rows name no others but each other and the project: people come later. Keys are never given out twice: sequences do
    not go back with a transaction.
    """
    if project.pk != PROJECT_ID or project.datasets.exists():
        return build()
    return _recalled(name, build, project)


def recalled_world(name: Hashable, build: Callable[[], T]) -> T:
    """Return what ``build()`` returns, with the rows it makes in an empty database, projects and people included."""
    return _recalled(name, build, None)


def _recalled(name: Hashable, build: Callable[[], T], project: Project | None) -> T:
    if not may_copy():
        return build()
    if name not in _snapshots:
        before = _highest_keys()
        built = build()
        _snapshots[name] = _pickled(built), _rows_after(before)
        return built
    pickled, rows = _snapshots[name]
    with transaction.atomic(), connection.cursor() as cursor:
        # What triggers and foreign keys watch over held when the rows were made.
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table, text in rows:
            with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                copy.write(text)
            if len(text) > ANALYZED_FROM:
                cursor.execute(f"ANALYZE {table}")
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
    return _Unpickler(pickled, project).load()


@cache
def may_copy() -> bool:
    """Whether this account can put rows past triggers; one that cannot builds each time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        return bool(cursor.fetchone()[0])


def _highest_keys() -> dict[str, int]:
    tables = [
        connection.ops.quote_name(model._meta.db_table)
        for model in apps.get_models(include_auto_created=True)
        if not model._meta.proxy and isinstance(model._meta.pk, models.AutoField)
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}', coalesce(max(id), 0) FROM {table}" for table in tables))
        return dict(cursor.fetchall())


def _rows_after(before: dict[str, int]) -> _Rows:
    rows = []
    with connection.cursor() as cursor:
        for table, highest in _highest_keys().items():
            if highest > before[table]:
                query = f"COPY (SELECT * FROM {table} WHERE id > {before[table]} ORDER BY id) TO STDOUT"
                with cursor.copy(query) as copy:
                    rows.append((table, b"".join(copy)))
    return rows


def _pickled(built: object) -> bytes:
    file = io.BytesIO()
    _Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(built)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: object) -> str | None:
        return "project" if isinstance(obj, Project) and obj.pk == PROJECT_ID else None


class _Unpickler(pickle.Unpickler):
    """Whatever names the project names the very object that the test has."""

    def __init__(self, data: bytes, project: Project | None) -> None:
        super().__init__(io.BytesIO(data))
        self.project = project

    def persistent_load(self, pid: Any) -> Project | None:
        return self.project
