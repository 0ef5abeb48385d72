"""Errors of services, with messages for people."""

from collections.abc import Mapping, Sequence
from typing import Any, Self


class AnnotationError(Exception):
    """A request that cannot be fulfilled; the message says what was found and what is accepted.

    ``fields`` maps a field's name to its messages; views tie them to inputs, the API returns them with status 400.
    """

    def __init__(self, message: str, *, fields: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fields = {name: list(messages) for name, messages in (fields or {}).items()}

    @classmethod
    def at(cls, field: str, message: str) -> Self:
        """Return an error about a field."""
        return cls(message, fields={field: [message]})


class Overtaken(AnnotationError):
    """Another request changed what this one is based on; the message names the change. The API answers 409.

    ``version`` is what a form sends to replace that change, once its user has seen it.
    """

    def __init__(self, message: str, *, fields: Mapping[str, Sequence[str]] | None = None, version: str = "") -> None:
        super().__init__(message, fields=fields)
        self.version = version


class LimitReached(Exception):
    """Something was done too often; ``seconds`` later it is accepted again.

    No form or button shows it as its own refusal: pages and the API answer 429.
    """

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.message = message
        self.seconds = seconds


class JobLost(AnnotationError):
    """Another worker holds the job, or it has ended: stop and write nothing."""


class JobCancelled(AnnotationError):
    """A user cancelled the job."""


class ImportRefused(AnnotationError):
    """A file cannot be imported; ``rows`` holds the row errors, the first 100 in full."""

    def __init__(self, message: str, *, rows: Sequence[Mapping[str, Any]] = (), total: int | None = None) -> None:
        super().__init__(message)
        self.rows = [dict(row) for row in rows]
        self.total = len(self.rows) if total is None else total
