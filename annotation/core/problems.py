"""The row errors of a file, the first hundred in full."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from annotation.core.errors import ImportRefused
from annotation.core.file_limits import TooLarge, check

IN_FULL = 100
ALIKE = 10  # errors with the same words that are listed with their lines; further ones are counted
FOUND_CHARACTERS = 120
FIELD_CHARACTERS = 300
ACCEPTED_CHARACTERS = 2000
LISTED = 20


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
    if not isinstance(value, str):
        value = _beginning(value)
    return shortened(value, FOUND_CHARACTERS) or "nothing"


def shortened(text: str, most: int) -> str:
    """Return a text that can be stored, with an ellipsis if it is longer than ``most`` characters."""
    text = storable(text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Iterable[str]) -> str:
    """Return names with commas between them, and how many more there are after the first."""
    names = list(names)
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _beginning(value: object) -> str:
    """Return the first characters of a value's representation, however large or deeply nested the value is."""
    text = ""
    for part in _parts(value):
        text += part
        if len(text) > FOUND_CHARACTERS:
            break
    return text


def _parts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for number, (name, part) in enumerate(value.items()):
            yield ", " if number else ""
            yield from _parts(name)
            yield ": "
            yield from _parts(part)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, part in enumerate(value):
            yield ", " if number else ""
            yield from _parts(part)
        yield "]"
    else:
        yield repr(value[: FOUND_CHARACTERS + 1] if isinstance(value, str) else value)


class Problems:
    """Collect the errors of a file; ``refuse`` raises if there are any."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.rows: list[dict[str, Any]] = []
        self.total = 0
        self.alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}  # the rows with the same words

    def add(self, line: int | None, field: str, found: object, accepted: str | Callable[[], str]) -> None:
        """Add an error; ``accepted`` is a function if its words take time to find: most errors are only counted."""
        self.total += 1
        row = {
            "file": shortened(self.filename, FIELD_CHARACTERS),
            "line": line,
            "field": shortened(field, FIELD_CHARACTERS),
            "found": shown(found),
            "accepted": shortened(accepted, ACCEPTED_CHARACTERS) if isinstance(accepted, str) else "",
        }
        words = words_of(row)
        alike = self.alike.get(words, [])
        if len(alike) >= ALIKE:
            alike[-1]["others"] = alike[-1].get("others", 0) + 1
        elif len(self.rows) < IN_FULL:
            if not isinstance(accepted, str):
                row["accepted"] = shortened(accepted(), ACCEPTED_CHARACTERS)
            self.rows.append(row)
            self.alike.setdefault(words, []).append(row)

    def check_limit(self, line: int | None, field: str, found: int, most: int, unit: str = "") -> None:
        """Refuse the file at once, with all errors so far, if a number exceeds a limit."""
        try:
            check(field, found, most, unit)
        except TooLarge as limit:
            self.add(line, limit.field, limit.found, limit.accepted)
            self.refuse()

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


def words_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what an error says, without its line."""
    return tuple(str(row.get(name)) for name in ("file", "field", "found", "accepted"))


def unlisted(rows: Iterable[Mapping[str, Any]], total: int) -> int:
    """Return how many errors are neither listed nor counted with one that is."""
    return total - sum(1 + int(row.get("others", 0)) for row in rows)


def grouped(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each error once, with ``n``: on how many lines it was found; ``line`` is the first."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        group = groups.setdefault(words_of(row), {**row, "n": 0})
        group["n"] += 1 + row.get("others", 0)
    return list(groups.values())


def problem_sentence(row: Mapping[str, Any]) -> str:
    position = row["file"] if row["line"] is None else f"{row['file']}, line {row['line']}"
    return f"{position}, field {row['field']}: found {row['found']}; accepted: {row['accepted']}."
