"""The row errors of a file, the first hundred in full."""

import math
from collections.abc import Mapping
from typing import Any

from annotation.core.errors import ImportRefused

IN_FULL = 100
FOUND_CHARACTERS = 120


def storable(text: str) -> str:
    """Escape NUL characters and unpaired surrogates, which PostgreSQL cannot store."""
    return text.replace("\x00", "\\x00").encode(errors="backslashreplace").decode()


def storable_json(value: Any) -> Any:
    """Return the document as PostgreSQL can store it: texts escaped, undefined numbers null."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {storable(str(name)): storable_json(part) for name, part in value.items()}
    return [storable_json(part) for part in value] if isinstance(value, list | tuple) else value


def shown(value: object) -> str:
    """Return a value shortened for a table cell; ``nothing`` for an empty text."""
    text = storable(value) if isinstance(value, str) else repr(value)
    if text == "":
        return "nothing"
    return text if len(text) <= FOUND_CHARACTERS else text[: FOUND_CHARACTERS - 1] + "…"


class Problems:
    """Collect the errors of a file; ``refuse`` raises if there are any."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.rows: list[dict[str, Any]] = []
        self.total = 0

    def add(self, line: int | None, field: str, found: object, accepted: str) -> None:
        self.total += 1
        if len(self.rows) < IN_FULL:
            self.rows.append(
                {
                    "file": storable(self.filename),
                    "line": line,
                    "field": storable(field),
                    "found": shown(found),
                    "accepted": storable(accepted),
                }
            )

    def include(self, within: "Problems") -> None:
        """Add the errors of a file within this file, under its name."""
        self.rows += within.rows[: IN_FULL - len(self.rows)]
        self.total += within.total

    def refuse(self) -> None:
        """Raise ImportRefused if there is an error; the message names the first."""
        if not self.total:
            return
        self.rows.sort(key=lambda row: row["line"] or 0)  # errors come from several passes
        first = self.rows[0]
        others = f" {self.total - 1} more." if self.total > 1 else ""
        raise ImportRefused(
            f"{problem_sentence(first)}{others} Nothing was imported.", rows=self.rows, total=self.total
        )


def problem_sentence(row: Mapping[str, Any]) -> str:
    position = row["file"] if row["line"] is None else f"{row['file']}, line {row['line']}"
    return f"{position}, field {row['field']}: found {row['found']}; accepted: {row['accepted']}."
