"""Sessions in the database, read by a prepared statement: every page of a signed-in person needs one."""

from typing import Any

from django.contrib.sessions.backends import db
from django.utils import timezone

from annotation.core import sql

_DATA = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(db.SessionStore):
    def load(self) -> dict[str, Any]:
        row = sql.row(_DATA, [self.session_key, timezone.now()], prepared=True)
        if row is None:
            self._session_key = None  # so that a new session gets a key of its own
            return {}
        return self.decode(row[0])
