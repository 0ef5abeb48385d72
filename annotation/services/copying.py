"""Many rows into PostgreSQL at once: COPY, with ids taken from the table's own sequence beforehand."""

from collections.abc import Iterable, Sequence

from django.db import connection, models


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
    """Append rows. Constraints, foreign keys and insert triggers hold as they do for INSERT."""
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    with connection.cursor() as cursor, cursor.copy(f"COPY {quote(model._meta.db_table)} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
