"""Remove everything that belongs to projects, or depends on some rows of one, append-only records included.

Which rows belong to a project is read from the tables themselves: a row does if a reference that it must have leads,
over other rows, to the project. A new table needs nothing here.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.apps import apps
from django.db import IntegrityError, OperationalError, connection, models, transaction
from psycopg.errors import DeadlockDetected

from annotation.core import sql
from annotation.models import AuditEntry, Campaign, Project

AnyModel = type[models.Model]
Keys = dict[AnyModel, set[int]]  # of rows, by their table


@contextmanager
def purging() -> Iterator[None]:
    """Allow changes of append-only tables in this transaction. An error rolls back the setting, too."""
    sql.execute("SELECT set_config('assay.purge', 'on', true)")
    yield
    sql.execute("SELECT set_config('assay.purge', 'off', true)")


def purge_again(purge: Callable[[], None], *, tries: int, note: Callable[[Exception], None]) -> None:
    """Call ``purge`` in a transaction; again, up to so many times, while others still write to what it deletes.

    ``note`` is called with the error of each attempt that is repeated.
    """
    for attempt in range(1, tries + 1):
        try:
            with transaction.atomic():
                purge()
        except (IntegrityError, OperationalError) as error:
            is_late_row = isinstance(error, IntegrityError) or isinstance(error.__cause__, DeadlockDetected)
            if not is_late_row or attempt == tries:
                raise
            note(error)
        else:
            return


@cache
def paths_to_project() -> dict[AnyModel, tuple[Any, ...]]:
    """Return for each table of projects the shortest way of references to the project, the tables next to it first."""
    paths: dict[AnyModel, tuple[Any, ...]] = {Project: ()}
    reached: list[AnyModel] = [Project]
    while reached:
        reached = [model for model in _tables() if model not in paths and _reference(model, paths) is not None]
        paths |= {model: (reference, *paths[reference.related_model]) for model, reference in _nearest(reached, paths)}
    return paths


def _tables() -> list[AnyModel]:
    return [model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]


def _reference(model: AnyModel, paths: dict[AnyModel, tuple[Any, ...]]) -> Any:
    """Return a reference that every row must have, to a table whose way is known; None without one."""
    references = [field for field in model._meta.concrete_fields if field.is_relation and not field.null]
    return next((field for field in references if field.related_model in paths), None)


def _nearest(reached: list[AnyModel], paths: dict[AnyModel, tuple[Any, ...]]) -> Iterator[tuple[AnyModel, Any]]:
    known = dict(paths)  # of the tables one step nearer
    for model in reached:
        yield model, _reference(model, known)


@transaction.atomic
def projects_purge(project_ids: Iterable[int]) -> dict[str, int]:
    """Delete these projects with all their rows. Return the number of rows by table.

    A row that another process has added meanwhile fails the transaction as it ends: try it again.
    """
    keys = list(project_ids)
    list(Project.objects.select_for_update().filter(pk__in=keys).order_by("pk").values_list("pk"))
    # Locked, so that no row refers to a campaign anew while those that do are removed.
    list(Campaign.objects.select_for_update().filter(project__in=keys).order_by("pk").values_list("pk"))
    counts = {}
    paths = paths_to_project()
    with purging():
        for model in _tables():
            for field in model._meta.concrete_fields:
                if field.related_model is Project and field.null:  # of rows that outlive the project
                    model._default_manager.filter(**{f"{field.name}__in": keys}).update(**{field.name: None})
        for model in sorted(paths, key=lambda table: -len(paths[table])):
            counts[model._meta.db_table] = _delete(model, paths[model], keys)
    return {table: n for table, n in counts.items() if n}


def _delete(model: AnyModel, path: tuple[Any, ...], keys: list[int]) -> int:
    """Delete rows in one statement; foreign keys are checked at the end of the transaction."""
    quote = connection.ops.quote_name
    condition = "= ANY(%s)"
    for step in reversed(path[1:]):
        table, key = quote(step.model._meta.db_table), quote(step.model._meta.pk.column)
        condition = f"IN (SELECT {key} FROM {table} WHERE {quote(step.column)} {condition})"  # noqa: S608 - our tables
    column = quote(str((path[0] if path else model._meta.pk).column))
    table = quote(model._meta.db_table)
    return sql.execute(f"DELETE FROM {table} WHERE {column} {condition}", [keys])  # noqa: S608 - likewise


# --- Parts of a project ----------------------------------------------------------------------------------------------


def with_dependents(roots: Mapping[AnyModel, Collection[int]]) -> Keys:
    """Return these rows and all rows whose references lead to them, over any number of tables.

    Rows whose reference may end, and the audit log, are not among them: they stay, without the reference.
    """
    keys: Keys = {model: set(of_model) for model, of_model in roots.items() if of_model}
    new = dict(keys)
    while new:
        referring: Keys = {}
        for model in _tables():
            for column in model._meta.concrete_fields:
                if column.related_model in new and not _may_end(model, column):
                    rows = _referring(model, column, new[column.related_model]) - keys.get(model, set())
                    if rows:
                        referring.setdefault(model, set()).update(rows)
        for model, rows in referring.items():
            keys.setdefault(model, set()).update(rows)
        new = referring
    return keys


def _may_end(model: AnyModel, column: Any) -> bool:
    return bool(column.null and (model is AuditEntry or column.remote_field.on_delete is models.SET_NULL))


def _referring(model: AnyModel, column: Any, keys: Collection[int]) -> set[int]:
    quote = connection.ops.quote_name
    key, table, name = map(quote, (str(model._meta.pk.column), model._meta.db_table, column.column))
    query = f"SELECT {key} FROM {table} WHERE {name} = ANY(%s)"  # noqa: S608 - our tables
    return {number for (number,) in sql.rows(query, [list(keys)])}


@transaction.atomic
def rows_purge(keys: Mapping[AnyModel, Collection[int]]) -> None:
    """Delete rows, as ``with_dependents`` returns them; foreign keys are checked at the end of the transaction."""
    quote = connection.ops.quote_name
    with purging():
        for model in _tables():
            for column in model._meta.concrete_fields:
                target: Any = column.related_model
                if target in keys and _may_end(model, column):
                    table, name = quote(model._meta.db_table), quote(str(column.column))
                    statement = f"UPDATE {table} SET {name} = NULL WHERE {name} = ANY(%s)"  # noqa: S608 - our tables
                    sql.execute(statement, [list(keys[target])])
        for model, of_model in keys.items():
            table, key = quote(model._meta.db_table), quote(str(model._meta.pk.column))
            sql.execute(f"DELETE FROM {table} WHERE {key} = ANY(%s)", [list(of_model)])  # noqa: S608 - our tables
