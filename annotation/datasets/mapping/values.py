"""The values of a record: their kinds, and the fields within fields."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.core.near_names import plain
from annotation.datasets.mapping import meanings
from annotation.datasets.mapping.meanings import MEANINGS, OUTPUTS

DEPTH = 3  # of fields within fields
TEXT_PARTS = ("text", "content", "value", "utterance")  # which part of an object holds its text
BETWEEN = "."
_OUTPUTS = {plain(name) for name in (OUTPUTS, *MEANINGS[OUTPUTS].names)}


def kind_of(value: object) -> str:
    """Return the kind of a value, one of those in ``meanings``."""
    if value is None or value == "" or value == []:
        return meanings.NOTHING
    if isinstance(value, str):
        return meanings.TEXT
    if isinstance(value, int | float):
        return meanings.NUMBER
    if isinstance(value, list):
        if all(isinstance(part, str) for part in value):
            return meanings.TEXTS
        return meanings.OBJECTS if all(text_of(part) is not None for part in value) else meanings.OTHER
    if isinstance(value, Mapping) and all(_is_response(part) for part in value.values()):
        return meanings.OBJECT
    return meanings.OTHER


def _is_response(value: object) -> bool:
    """Return whether it can be a response: nothing, a text, or the turns of a dialogue."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(part, Mapping) and text_of(part) is not None for part in value)
    return value is None or isinstance(value, str)


def text_of(value: object) -> str | None:
    """Return a text, or the text within an object such as a turn; None if there is none."""
    if isinstance(value, Mapping):
        value = next((value[part] for part in TEXT_PARTS if isinstance(value.get(part), str)), None)
    return value if isinstance(value, str) else None


def fields_of(record: Mapping[str, Any], depth: int = DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield names and values; fields within an object as ``outer.inner``, unless it names systems."""
    for name, value in record.items():
        is_whole = not isinstance(value, Mapping) or not value or depth == 1
        if is_whole or (plain(name) in _OUTPUTS and kind_of(value) == meanings.OBJECT):
            yield name, value
        else:
            for inner, part in fields_of(value, depth - 1):
                yield f"{name}{BETWEEN}{inner}", part


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """Return the value of a field, also within an object; None if the record lacks it."""
    if path in record:
        return record[path]
    outer, between, inner = path.partition(BETWEEN)
    while between:
        value = record.get(outer)
        if isinstance(value, Mapping):
            return value_at(value, inner)
        more, between, inner = inner.partition(BETWEEN)
        outer = f"{outer}{BETWEEN}{more}"
    return None


def common_kind(kinds: Sequence[str]) -> str:
    """Return the kind of a field with values of these kinds."""
    found = {kind for kind in kinds if kind != meanings.NOTHING}
    return found.pop() if len(found) == 1 else meanings.OTHER if found else meanings.NOTHING
