"""What a server refuses, and what does not come about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ROWS = 5  # of a file that are named in a message


class Unreachable(Exception):
    """No answer came, although the request was repeated where that is safe."""


class ApiError(Exception):
    """The server refused a request.

    Attributes
    ----------
    status : int
        Of HTTP: 400 for what was sent, 401 without a token, 403 without the role, 404, 409 if only the present state
        does not allow it.
    detail : str
        What was found and what is accepted.
    fields : mapping of str to list of str
        The same, field by field.
    rows : sequence of mapping
        Of a file, with line, field, what was found and what is accepted; at most the first hundred.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status, self.detail = status, str(body.get("detail", "no reason was given"))
        self.fields: Mapping[str, list[str]] = body.get("fields") or {}
        self.rows: Sequence[Mapping[str, Any]] = body.get("rows") or ()
        super().__init__(" ".join([f"{self.detail} (status {status})", *map(in_words, self.rows[:ROWS])]))


class Gone(ApiError):
    """What was asked for is not there, or not for this account (404)."""


class JobFailed(Exception):
    """A job failed or was cancelled.

    Attributes
    ----------
    state : str
        "failed" or "cancelled".
    error : str
        Why.
    rows : sequence of mapping
        Of the file that was refused: line, field, what was found and what is accepted.
    """

    def __init__(self, job: Mapping[str, Any]) -> None:
        report = job.get("report") or {}
        self.state, self.error = str(job["state"]), str(job.get("error") or "")
        self.rows: Sequence[Mapping[str, Any]] = report.get("errors") or ()
        why = self.error or "no reason is known"
        super().__init__(" ".join([f"{self.state}: {why}", *map(in_words, self.rows[:ROWS])]))


def in_words(row: Mapping[str, Any]) -> str:
    """Return a refused row of a file in words.

    >>> in_words({"line": 3, "field": "text", "found": "''", "accepted": "words"})
    "Line 3, text: found ''; accepted: words."
    """
    line = f"Line {row['line']}" if row.get("line") else "The file"
    where = f"{line}, {row['field']}" if row.get("field") else line
    return f"{where}: found {row.get('found')}; accepted: {row.get('accepted')}."
