"""What differs between two results, path by path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

#: What a result holds besides what it says: how long it took, with what, and numbers of rows in one database.
LEFT_OUT = ("seconds", "sensitivity.seconds", "versions", "rows[*].run", "models[*].pk")
#: Numbers are equal if they differ by no more, relative to the larger: another processor may round the last digits
#: of a sum otherwise.
TOLERANCE = 1e-9
NOTHING = "nothing"


@dataclass(frozen=True)
class Difference:
    """A value that two results do not share; a side that has none is ``NOTHING``."""

    path: str
    then: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.path}: {shown(self.then)} in the report, {shown(self.now)} now"


def differences(then: Any, now: Any, *, path: str = "") -> Iterator[Difference]:
    """Yield each value that differs, in the order of the first result; ``LEFT_OUT`` is not compared.

    >>> [str(each) for each in differences({"p": 0.5, "seconds": 3}, {"p": 0.25, "seconds": 4})]
    ['p: 0.5 in the report, 0.25 now']
    >>> list(differences({"rho": [0.1 + 0.2]}, {"rho": [0.3]}))
    []
    """
    if is_left_out(path):
        return
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for name in [*then, *(name for name in now if name not in then)]:
            inner = f"{path}.{name}" if path else str(name)
            yield from differences(then.get(name, NOTHING), now.get(name, NOTHING), path=inner)
    elif isinstance(then, list) and isinstance(now, list):
        for index in range(max(len(then), len(now))):
            sides = (side[index] if index < len(side) else NOTHING for side in (then, now))
            yield from differences(*sides, path=f"{path}[{index}]")
    elif not _equal(then, now):
        yield Difference(path, then, now)


def is_left_out(path: str) -> bool:
    """Return whether the value at a path is not compared.

    >>> [is_left_out(path) for path in ("seconds", "sensitivity.seconds", "rows[3].run", "rows[3].items", "runs")]
    [True, True, True, False, False]
    """
    return any(fnmatchcase(path, pattern) for each in LEFT_OUT for pattern in (_literal(each), f"{_literal(each)}.*"))


def _literal(pattern: str) -> str:
    return pattern.replace("[", "[[]")


def _equal(then: Any, now: Any) -> bool:
    numbers = [isinstance(side, int | float) and not isinstance(side, bool) for side in (then, now)]
    if all(numbers):
        return math.isclose(then, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(then) is type(now) and bool(then == now)


def shown(value: Any) -> str:
    """Return a value as text, the long ones cut."""
    text = str(value) if isinstance(value, int | float | str) else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
