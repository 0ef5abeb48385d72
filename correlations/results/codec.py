"""Frozen dataclasses as JSON, and back: strict, by their type hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from correlations.stats.coefficients.registry import COEFFICIENTS

_SPREAD = "spread"
_SCALARS = (str, int, float, bool)


class ResultError(ValueError):
    """The stored result does not have the expected shape; the message names the key."""


class Result:
    """A result that is stored as a whole. ``VERSION`` is raised with its shape, and is part of a study's signature."""

    VERSION: ClassVar[int]

    @classmethod
    def from_json(cls, data: Any) -> Self:
        version = data.get("version") if isinstance(data, Mapping) else None
        if version != cls.VERSION:
            raise ResultError(f"result: found version {version!r}; accepted: {cls.VERSION}. Run the study again.")
        read: Self = _read(cls, {key: value for key, value in data.items() if key != "version"}, "result")
        return read

    def to_json(self) -> dict[str, Any]:
        return {"version": self.VERSION, **to_json(self)}


def spread(names: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the metadata of a field that maps keys to values, each written beside the other fields as ``names[key]``.

    >>> spread_by_short("first_")["spread"]["spearman"]
    'first_rho'
    """
    return {_SPREAD: dict(names)}


def spread_by_short(prefix: str = "") -> Mapping[str, Any]:
    """Return the metadata of a mapping by coefficients, written under their short names: rho, tau, …"""
    return spread({key: f"{prefix}{entry.short}" for key, entry in COEFFICIENTS.items()})


def to_json(value: Any) -> Any:
    """Write dataclasses, tuples and mappings as JSON's objects and lists.

    >>> from correlations.results.study import PairUnits
    >>> to_json(PairUnits("A", "B", items=10, units=2))
    {'a': 'A', 'b': 'B', 'items': 10, 'units': 2}
    """
    if is_dataclass(value):
        plain: dict[str, Any] = {}
        for each in fields(value):
            content = getattr(value, each.name)
            if names := each.metadata.get(_SPREAD):
                plain |= {names[key]: to_json(entry) for key, entry in content.items()}
            else:
                plain[each.name] = to_json(content)
        return plain
    if isinstance(value, Mapping):
        return {key: to_json(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(entry) for entry in value]
    return value


def _read(kind: Any, data: Any, where: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return data
    if origin is UnionType:
        if data is None:
            return None
        (kind,) = (each for each in arguments if each is not NoneType)
        return _read(kind, data, where)
    if is_dataclass(kind):
        return _read_fields(kind, data, where)
    if origin is tuple:
        return _read_tuple(arguments, data, where)
    if origin is dict:
        if not isinstance(data, Mapping):
            raise _wrong(data, "an object", where)
        return {key: _read(arguments[1], value, f"{where}.{key}") for key, value in data.items()}
    if type(data) not in _accepted(kind):
        raise _wrong(data, kind.__name__, where)
    return data


def _read_fields(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise _wrong(data, "an object", where)
    hints, values, known = _hints(kind), {}, set()
    for each in fields(kind):
        if names := each.metadata.get(_SPREAD):
            of_value = get_args(hints[each.name])[1]
            present = {key: name for key, name in names.items() if name in data}
            values[each.name] = {key: _read(of_value, data[name], f"{where}.{name}") for key, name in present.items()}
            known |= set(present.values())
        elif each.name not in data:
            if each.default is not MISSING:
                continue  # a field that results made before this version do not have
            raise ResultError(f"{where}: the key {each.name!r} is missing")
        else:
            values[each.name] = _read(hints[each.name], data[each.name], f"{where}.{each.name}")
            known.add(each.name)
    if unknown := sorted(set(data) - known):
        raise ResultError(f"{where}: found the key {unknown[0]!r}; accepted: {', '.join(sorted(known))}")
    return kind(**values)


def _read_tuple(arguments: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise _wrong(data, "a list", where)
    if arguments[-1] is not Ellipsis:
        if len(data) != len(arguments):
            raise _wrong(data, f"a list of {len(arguments)}", where)
        return tuple(
            _read(kind, entry, f"{where}[{n}]") for n, (kind, entry) in enumerate(zip(arguments, data, strict=True))
        )
    accepted = _accepted(arguments[0])
    if accepted and all(type(entry) in accepted for entry in data):
        return tuple(data)  # checked once, for thousands of numbers
    return tuple(_read(arguments[0], entry, f"{where}[{n}]") for n, entry in enumerate(data))


@cache
def _accepted(kind: Any) -> frozenset[type]:
    """JSON's types for a scalar or an optional scalar; empty for other kinds. A whole number is a number."""
    kinds = get_args(kind) if get_origin(kind) is UnionType else (kind,)
    if not all(each in (*_SCALARS, NoneType) for each in kinds):
        return frozenset()
    return frozenset({*kinds, int} if float in kinds else kinds)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _wrong(data: Any, accepted: str, where: str) -> ResultError:
    return ResultError(f"{where}: found {str(data)[:60]!r}; accepted: {accepted}")
