"""The one family of errors that this app's services raise for people to read."""

from collections.abc import Mapping, Sequence
from typing import Any, Self


class AnnotationError(Exception):
    """Something the caller asked for cannot be done; the message says what was found and what is accepted.

    ``fields`` maps a field's name to its messages; views tie them to inputs, the API returns them with status 400.
    """

    def __init__(self, message: str, *, fields: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fields = {name: list(messages) for name, messages in (fields or {}).items()}

    @classmethod
    def at(cls, field: str, message: str) -> Self:
        """The refusal of one field."""
        return cls(message, fields={field: [message]})


class JobLost(AnnotationError):
    """Another worker holds the job now, or it was finished: stop at once and write nothing."""


class JobCancelled(AnnotationError):
    """Somebody asked for the job to stop."""


class ImportRefused(AnnotationError):
    """A file cannot be imported; ``rows`` lists every bad row (the first 100 in full)."""

    def __init__(self, message: str, *, rows: Sequence[Mapping[str, Any]] = (), total: int | None = None) -> None:
        super().__init__(message)
        self.rows = [dict(row) for row in rows]
        self.total = len(self.rows) if total is None else total
