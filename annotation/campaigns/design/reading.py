"""Read designs that a campaign stores as JSON, field by field; every refusal names its field."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Self

LONGEST = 20_000  # characters of a text


class DesignError(ValueError):
    """A design that cannot be; ``problems`` maps the path of each field to what is wrong with it."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{path}: {problem}" for path, problem in problems.items()))
        self.problems = dict(problems)


class Reader:
    """Reads JSON field by field and collects what is wrong."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}

    def refuse(self, path: str, problem: str) -> None:
        self.problems.setdefault(path or "it", problem)

    def mapping(self, value: object, path: str, known: Iterable[str] | None) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            self.refuse(path, f"Found {short(value)}; accepted: an object.")
            return {}
        names = None if known is None else list(known)
        for name in value:
            if names is not None and name not in names:
                self.refuse(f"{path}.{name}" if path else str(name), f"An unknown field; accepted: {', '.join(names)}.")
        return {str(name): entry for name, entry in value.items() if names is None or name in names}

    def whole(self, value: object, path: str, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.refuse(path, f"Found {short(value)}; accepted: a whole number from {low} to {high}.")
            return low
        return value

    def number(self, value: object, path: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
            self.refuse(path, f"Found {short(value)}; accepted: a number.")
            return 0.0
        return float(value)

    def text(self, value: object, path: str) -> str:
        if not isinstance(value, str) or len(value) > LONGEST or "\x00" in value:
            self.refuse(path, f"Found {short(value)}; accepted: text of up to {LONGEST:,} characters.")
            return ""
        return value

    def texts(self, value: object, path: str) -> list[str]:
        if not isinstance(value, list):
            self.refuse(path, f"Found {short(value)}; accepted: a list of texts.")
            return []
        return [self.text(entry, f"{path}.{number}") for number, entry in enumerate(value, start=1)]


class StoredDesign(ABC):
    """Base of the designs that a campaign stores as JSON; ``{}`` means the default."""

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Return the design. Raise ``DesignError`` with every mistake at once."""
        reader = Reader()
        design = cls.read(reader, data)
        if reader.problems:
            raise DesignError(reader.problems)
        return design

    @classmethod
    def lenient(cls, data: object) -> Self:
        """Return the design with the defaults for values that are wrong."""
        return cls.read(Reader(), data)

    @classmethod
    @abstractmethod
    def read(cls, reader: Reader, data: object) -> Self:
        """Return the design, with the defaults for wrong values, whose problems the reader collects."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Return label and text of what was decided, for the page of a design."""


def short(value: object) -> str:
    return "nothing" if value is None or value == "" else repr(value)[:60]
