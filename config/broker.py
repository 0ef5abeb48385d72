"""The default broker's tables, in the same PostgreSQL."""

from typing import Any

import psycopg
from django.conf import settings
from django.db import connections
from pgmq.install import get_embedded_install_sql


def install_after_migrate(*, using: str, **_: Any) -> None:
    """Install the message queue in a database after its first migration."""
    if not settings.BROKER_IS_DATABASE:
        return
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pgmq.meta') IS NOT NULL")
        if cursor.fetchone()[0]:
            return
    # psycopg refuses several statements with parameters; Django's cursor passes none, but wraps the script's % signs.
    connection.ensure_connection()
    raw: psycopg.Connection[Any] = connection.connection
    raw.execute(get_embedded_install_sql())
