"""Kinds of fields in a campaign's design: what each accepts, and how it is stored, shown, exported and read back."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from decimal import Decimal, InvalidOperation
from types import NoneType
from typing import Any, ClassVar, Protocol, Self

from annotation.core.problems import storable

REQUIRED: Any = object()  # the default of a field that has none
_METADATA = "field"


class Design(Protocol):
    """A design that is stored as JSON, such as that of the checks."""

    @classmethod
    def from_dict(cls, data: object) -> Self: ...

    @classmethod
    def lenient(cls, data: object) -> Self: ...

    def facts(self) -> list[tuple[str, str]]: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """A field of a design.

    Attributes
    ----------
    name, default : those of the dataclass's field; ``REQUIRED`` if it has no default.
    label, help : for forms and the API.
    step, section : the step of the design in which a manager sets it, and the heading above it.
    exported : part of the exported file, so of every copy.
    path : where the file holds it; under its name, unless given.
    stated : a file must state it even though a draft has a default.
    frozen : part of the design that is frozen and hashed at launch.
    optional : None is accepted.
    confidential : its value is shown to managers only; every viewer of the design sees its ``facts``.
    selects : says which responses are rated; not copied to a campaign that rates a list of responses.
    related : rows of other tables, which services convert.
    """

    accepts: ClassVar[str]  # in a file, in words
    absent: ClassVar[type] = str  # makes what a file without it means, if there is no default

    name: str = ""
    default: Any = REQUIRED
    label: str = ""
    help: str = ""
    step: str = ""
    section: str = ""
    exported: bool = True
    path: tuple[str, ...] = ()
    stated: bool = False
    frozen: bool = True
    optional: bool = False
    confidential: bool = False
    selects: bool = False
    related: bool = False

    @property
    def accepted(self) -> str:
        return f"{self.accepts} or null" if self.optional else self.accepts

    @abstractmethod
    def fits(self, value: object) -> bool:
        """Return whether a file may hold the value."""

    def problems(self, value: Any) -> Iterator[str]:
        """Yield what is wrong with the value in a draft, apart from other fields and the data set."""
        yield from ()

    def stored(self, value: Any) -> Any:
        """Return the value in one form, so that equal designs have equal hashes."""
        return value

    def exported_value(self, value: Any) -> Any:
        """Return the value as a file holds it."""
        return self.stored(value)

    def imported_value(self, value: Any) -> Any:
        """Return the value from a file. Raise ValueError if it cannot be read."""
        return value

    def shown(self, value: Any) -> str:
        """Return the value in a line."""
        return str(value)

    def facts(self, value: Any) -> list[tuple[str, str]]:
        """Return label and text of the value, for the page of a design."""
        return [(self.label, "none" if value is None else self.shown(value))]

    @property
    def left_out(self) -> Any:
        """What a file without the field means; ``REQUIRED`` if it must state it."""
        if self.stated:
            return REQUIRED
        return self.absent() if self.default is REQUIRED or self.related else self.exported_value(self.default)


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """A text of up to ``longest`` characters; ``written`` describes ``pattern``, ``if_empty`` an empty text."""

    accepts = "text without NUL characters and halves of surrogate pairs"

    longest: int = 0
    lines: int = 1
    pattern: str = ""
    written: str = ""
    if_empty: str = "None."

    def fits(self, value: object) -> bool:
        return is_text(value)

    def problems(self, value: Any) -> Iterator[str]:
        if self.longest and len(value) > self.longest:
            yield f"Found {len(value)} characters; accepted: up to {self.longest:,}."
        elif self.pattern and not re.fullmatch(self.pattern, value):
            yield f"Found {value!r}; accepted: {self.written}."

    def shown(self, value: Any) -> str:
        return value or "none"


@dataclass(frozen=True, kw_only=True)
class Choice(Text):
    """One of a few words; ``options`` maps each to its label in the form."""

    options: Mapping[str, str]

    def problems(self, value: Any) -> Iterator[str]:
        if value not in self.options:
            yield f"Found {value!r}; accepted: {', '.join(option or 'nothing' for option in self.options)}."

    def shown(self, value: Any) -> str:
        return self.options.get(value, value)

    def stored(self, value: Any) -> Any:
        return str(value)


@dataclass(frozen=True, kw_only=True)
class Texts(Field):
    """Up to ``most`` different texts of ``shortest`` to ``longest`` characters; a set if their order means nothing."""

    accepts = "a list of texts"
    absent = list

    most: int = 0
    shortest: int = 1
    longest: int = 0
    is_set: bool = False

    def fits(self, value: object) -> bool:
        return isinstance(value, list) and all(map(is_text, value))

    def problems(self, value: Any) -> Iterator[str]:
        if self.most and len(value) > self.most:
            yield f"Found {len(value)}; accepted: up to {self.most}."
        for text in value:
            if self.longest and not self.shortest <= len(text.strip()) <= self.longest:
                yield f"Found {len(text)} characters; accepted: {self.shortest} to {self.longest} characters each."
        if self.most and len(set(value)) < len(value):
            yield "Found an entry twice; accepted: each once."

    def stored(self, value: Any) -> Any:
        return list(value)

    def exported_value(self, value: Any) -> Any:
        return sorted(value) if self.is_set else list(value)

    def shown(self, value: Any) -> str:
        return "; ".join(value) or "none"


@dataclass(frozen=True, kw_only=True)
class Whole(Field):
    """A whole number from ``low`` to ``high``."""

    accepts = "a whole number"

    low: int = -(2**63)
    high: int = 2**63 - 1

    def fits(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63

    def problems(self, value: Any) -> Iterator[str]:
        if not self.low <= value <= self.high:
            nothing = ", or nothing for no limit" if self.optional else ""
            yield f"Found {value}; accepted: {self.low} to {self.high}{nothing}."

    def shown(self, value: Any) -> str:
        return f"{value:,}"


@dataclass(frozen=True, kw_only=True)
class RandomSeed(Whole):
    """The number that random choices follow from; without separators, since people copy it."""

    low: int = 0

    def shown(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True, kw_only=True)
class Amount(Field):
    """An exact number from 0 to ``high`` with so many ``digits`` after the point: text in a file."""

    accepts = Text.accepts

    high: int
    digits: int

    def fits(self, value: object) -> bool:
        return is_text(value)

    def problems(self, value: Any) -> Iterator[str]:
        amount = Decimal(value)
        exponent = amount.as_tuple().exponent
        if not amount.is_finite() or not 0 <= amount <= self.high:
            yield f"Found {amount}; accepted: 0 to {self.high:,}."
        elif isinstance(exponent, int) and -exponent > self.digits:
            yield f"Found {amount}; accepted: up to {self.digits} digits after the point."

    def exported_value(self, value: Any) -> Any:
        return f"{value:.{self.digits}f}"

    def shown(self, value: Any) -> str:
        return f"{value.normalize():f}"

    def imported_value(self, value: Any) -> Any:
        try:
            return Decimal(value)
        except InvalidOperation as error:
            raise ValueError(f"Found {value!r}; accepted: an amount, such as 0.12.") from error


@dataclass(frozen=True, kw_only=True)
class Number(Field):
    accepts = "a number"

    def fits(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12

    def shown(self, value: Any) -> str:
        return f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    accepts = "true or false"

    def fits(self, value: object) -> bool:
        return isinstance(value, bool)

    def shown(self, value: Any) -> str:
        return "yes" if value else "no"


@dataclass(frozen=True, kw_only=True)
class Pairs(Field):
    """A list of pairs of texts; ``of`` describes them."""

    absent = list

    of: str = "pairs of texts"

    @property
    def accepted(self) -> str:
        return f"a list of {self.of}"

    def fits(self, value: object) -> bool:
        return isinstance(value, list) and all(
            isinstance(pair, list) and len(pair) == 2 and all(map(is_text, pair)) for pair in value
        )

    def stored(self, value: Any) -> Any:
        return [list(pair) for pair in value]

    def shown(self, value: Any) -> str:
        return "; ".join(" and ".join(pair) for pair in value) or "none"


@dataclass(frozen=True, kw_only=True)
class Object(Field):
    """A JSON object; with ``design``, stored with every field of the design filled in."""

    accepts = "an object"
    absent = dict

    design: type[Design] | None = None

    def fits(self, value: object) -> bool:
        return isinstance(value, Mapping)

    def stored(self, value: Any) -> Any:
        """Return the design; a draft with mistakes is stored as it is."""
        if self.design is None:
            return dict(value)
        try:
            return self.design.from_dict(value).to_dict()
        except ValueError:
            return dict(value)

    def facts(self, value: Any) -> list[tuple[str, str]]:
        return self.design.lenient(value).facts() if self.design else super().facts(value)


@dataclass(frozen=True, kw_only=True)
class Rows(Field):
    """A list of objects; with ``of``, each has that dataclass's fields."""

    absent = list

    of: type | None = None
    what: str = "objects"

    @property
    def accepted(self) -> str:
        return f"a list of {self.what}"

    def fits(self, value: object) -> bool:
        return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


@dataclass(frozen=True, kw_only=True)
class Row(Field):
    """An object with the fields of the dataclass ``of``."""

    absent = NoneType

    of: type

    @property
    def accepted(self) -> str:
        return f"null, or an object with {', '.join(table_of(self.of))}"

    def fits(self, value: object) -> bool:
        return isinstance(value, Mapping)


def entry(kind: type[Field], default: Any = REQUIRED, label: str = "", help: str = "", **declared: Any) -> Any:  # noqa: A002
    """Declare a dataclass's field of this kind."""
    metadata = {_METADATA: kind(label=label, help=help, **declared)}
    if default is REQUIRED:
        return field(metadata=metadata)
    return (
        field(default_factory=dict, metadata=metadata) if default == {} else field(default=default, metadata=metadata)
    )


def table_of(declared: type) -> dict[str, Field]:
    """Return the declarations of a dataclass by name, in order."""
    table = {}
    for column in fields(declared):
        kind = column.metadata[_METADATA]
        default = REQUIRED if column.default is MISSING else column.default
        if column.default_factory is not MISSING:
            default = column.default_factory()
        table[column.name] = replace(kind, name=column.name, default=default, path=kind.path or (column.name,))
    return table


def problems_in(draft: object, table: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with each value of a draft by itself: the field's name, and a message."""
    for name, declared in table.items():
        value = getattr(draft, name)
        if value is not None or not declared.optional:
            for problem in declared.problems(value):
                yield name, problem


def is_text(value: object) -> bool:
    """Return whether a database and UTF-8 can hold it: no NUL characters, no halves of surrogate pairs."""
    return isinstance(value, str) and storable(value) == value
