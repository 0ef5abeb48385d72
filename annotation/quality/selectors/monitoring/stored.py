"""Figures as JSON and back: a worker writes them, a page reads them."""

import dataclasses
import math
from datetime import datetime
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Stored = TypeVar("Stored")


def plain(value: Any) -> Any:
    """JSON-ready: what is no finite number is null, moments are text."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # numpy's own
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def revived(kind: type[Stored], data: dict[str, Any]) -> Stored:
    """The way back, by the types of the fields; null becomes NaN where a number belongs."""
    hints = get_type_hints(kind)
    return kind(**{name: _value(hints[name], found) for name, found in data.items() if name in hints})


def _value(kind: Any, found: Any) -> Any:
    if dataclasses.is_dataclass(kind):
        return revived(kind, found) if isinstance(kind, type) else found
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return [_value(inner, one) for one in found]
    if get_origin(kind) is tuple:
        return tuple(_value(inner, one) for inner, one in zip(get_args(kind), found, strict=True))
    if kind is float:
        return math.nan if found is None else float(found)
    return datetime.fromisoformat(found) if kind is datetime else found
