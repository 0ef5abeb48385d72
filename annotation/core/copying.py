"""Insert many rows by COPY, with ids from the table's sequence."""

from collections.abc import Iterable, Sequence

from django.db import connection, models

from annotation.core import sql

MANY = 1000


def allocate_ids(model: type[models.Model], count: int) -> list[int]:
    """Reserve ``count`` ids of a table."""
    if count == 0:
        return []
    rows = sql.rows(
        "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
        [model._meta.db_table, count],
    )
    return [number for (number,) in rows]


def copy_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Append rows. Constraints, foreign keys and insert triggers hold as they do for INSERT.

    After many rows the table is analysed: the planner would otherwise plan the rest of the transaction for the old
    table, and a join that it expects to be empty can take minutes.
    """
    quote = connection.ops.quote_name
    table, names = quote(model._meta.db_table), ", ".join(quote(column) for column in columns)
    count = 0
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for count, row in enumerate(rows, start=1):  # noqa: B007 - counted while they stream
                copy.write_row(row)
        if count >= MANY:
            cursor.execute(f"ANALYZE {table}")
