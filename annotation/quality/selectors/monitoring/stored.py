"""Statistics as JSON and back: a worker writes them, a page reads them."""

import dataclasses
import hashlib
import math
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Stored = TypeVar("Stored")


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: undefined numbers are null, times are text."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # of numpy
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def revived(kind: type[Stored], data: dict[str, Any]) -> Stored:
    """Return the object that ``plain`` wrote, by the types of its fields; null becomes NaN for a number."""
    hints = get_type_hints(kind)
    return kind(**{name: _value(hints[name], value) for name, value in data.items() if name in hints})


@cache
def shape(kind: type) -> str:
    """Return a digest of the names and types of a dataclass's fields, and of those within them.

    What another version of the product stored has another shape if ``revived`` could not read it.
    """
    return hashlib.sha256(_fields(kind).encode()).hexdigest()[:16]


def _fields(kind: Any) -> str:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return f"{{{', '.join(f'{field.name}: {_fields(hints[field.name])}' for field in dataclasses.fields(kind))}}}"
    inner = ", ".join(_fields(part) for part in get_args(kind))
    return f"{get_origin(kind)}[{inner}]" if inner else str(kind)


def _value(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return revived(kind, value)
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return [_value(inner, part) for part in value]
    if get_origin(kind) is tuple:
        return tuple(_value(inner, part) for inner, part in zip(get_args(kind), value, strict=True))
    if kind is float:
        return math.nan if value is None else float(value)
    return datetime.fromisoformat(value) if kind is datetime else value
