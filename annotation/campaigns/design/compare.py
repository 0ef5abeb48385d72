"""Compare two designs field by field. Lists are aligned first: by the names of their entries, or else like files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from json import dumps
from typing import Any


class Change(StrEnum):
    SAME = "same"
    DIFFERENT = "different"
    LEFT = "left"  # only the left one has it
    RIGHT = "right"


@dataclass(frozen=True)
class Difference:
    """A field of two designs; ``path`` is that in the file, with positions in a list counted from 1."""

    path: tuple[str, ...]
    left: Any
    right: Any
    change: Change

    @property
    def name(self) -> str:
        return ".".join(self.path)


_NOTHING: Any = object()


def compare_designs(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[Difference]:
    """Return every field of both JSON objects: in the order of the left; fields of the right follow their neighbours.

    >>> old = {"k": 5, "criteria": [{"name": "relevance", "max": 5}]}
    >>> new = {"k": 5, "criteria": [{"name": "fluency", "max": 5}, {"name": "relevance", "max": 6}]}
    >>> for difference in compare_designs(old, new):
    ...     print(difference.name, difference.change.value, difference.left, difference.right)
    k same 5 5
    criteria.fluency right None {'name': 'fluency', 'max': 5}
    criteria.relevance.name same relevance relevance
    criteria.relevance.max different 5 6
    """
    return list(_objects((), left, right))


def _values(path: tuple[str, ...], left: Any, right: Any) -> Iterator[Difference]:
    if left is _NOTHING:
        yield Difference(path, None, right, Change.RIGHT)
    elif right is _NOTHING:
        yield Difference(path, left, None, Change.LEFT)
    elif isinstance(left, Mapping) and isinstance(right, Mapping) and (left or right):
        yield from _objects(path, left, right)
    elif _is_list_of_objects(left) and _is_list_of_objects(right) and (left or right):
        yield from _lists(path, left, right)
    else:
        yield Difference(path, left, right, Change.SAME if _equal(left, right) else Change.DIFFERENT)


def _objects(path: tuple[str, ...], left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    for name in _merged(list(left), list(right)):
        yield from _values((*path, name), left.get(name, _NOTHING), right.get(name, _NOTHING))


def _lists(path: tuple[str, ...], left: Sequence[Any], right: Sequence[Any]) -> Iterator[Difference]:
    names = [[entry.get("name") for entry in side] for side in (left, right)]
    if all(isinstance(name, str) for side in names for name in side) and all(len(set(s)) == len(s) for s in names):
        by_name = [dict(zip(side, values, strict=True)) for side, values in zip(names, (left, right), strict=True)]
        yield from _objects(path, by_name[0], by_name[1])
        if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
            yield Difference((*path, "order"), names[0], names[1], Change.DIFFERENT)
        return
    for number, (entry, other) in enumerate(_aligned(left, right), start=1):
        yield from _values((*path, str(number)), entry, other)


def _aligned(left: Sequence[Any], right: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield equal entries together, the entries between them in pairs, and the remaining ones alone."""
    keys = [[dumps(entry, sort_keys=True) for entry in side] for side in (left, right)]
    for _, i1, i2, j1, j2 in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        for offset in range(max(i2 - i1, j2 - j1)):
            yield (
                left[i1 + offset] if i1 + offset < i2 else _NOTHING,
                right[j1 + offset] if j1 + offset < j2 else _NOTHING,
            )


def _merged(left: list[str], right: list[str]) -> list[str]:
    """Return every name once: in the order of the left list, with the other names of the right list between them."""
    merged: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        merged += left[i1:i2]
        if tag in ("insert", "replace"):
            merged += right[j1:j2]
    return list(dict.fromkeys(merged))


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(entry, Mapping) for entry in value)


def _equal(left: Any, right: Any) -> bool:
    """Return whether the values are equal and, unlike True and 1, of one kind."""
    return bool(left == right and isinstance(left, bool) == isinstance(right, bool))
