"""Many rows into PostgreSQL at once: COPY, with ids taken from the table's own sequence beforehand."""

from collections.abc import Iterable, Sequence

from django.db import connection, models

MANY = 5000


def allocate_ids(model: type[models.Model], count: int) -> list[int]:
    """``count`` ids that nobody else will get."""
    if count == 0:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [number for (number,) in cursor.fetchall()]


def copy_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Append rows. Constraints, foreign keys and insert triggers hold as they do for INSERT.

    After many the planner is told: what follows in this transaction would else be planned for the table as it was, and
    a join over rows that it takes to be none can last minutes.
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
