"""Parameters of metrics: validation, signatures, forms, the command line and the docs read them here.

A metric is a frozen dataclass whose fields are made by the functions below:

    max_order: int = whole(2, low=1, high=4, label="Longest n-gram", key="order")
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

ParameterKind: TypeAlias = Literal["whole", "real", "flag", "choice", "model", "text"]

_METADATA = "parameter"
_ESCAPED = str.maketrans({"%": "%25", "|": "%7C", "\n": "%0A", "\r": "%0D"})


@dataclass(frozen=True)
class Parameter:
    """A parameter of a metric, or an option of a training.

    Attributes
    ----------
    name : str
        The field's name.
    key : str
        Its short name in a signature.
    label, hint : str
        For people.
    kind : {"whole", "real", "flag", "choice", "model", "text"}
    default : object
    choices : tuple of str
        Of a "choice"; of a "model" its kind.
    low, high : float
        Of "whole" and "real", both included.
    optional : bool
        None is accepted: the metric derives the value from its other parameters.
    """

    name: str
    key: str
    label: str
    kind: ParameterKind
    default: Any
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    hint: str = ""
    optional: bool = False

    @property
    def accepted(self) -> str:
        """Describe the accepted values."""
        if self.kind == "flag":
            return "True or False"
        if self.kind == "choice":
            return ", ".join(map(repr, self.choices))
        if self.kind in ("whole", "real"):
            number = "an integer" if self.kind == "whole" else "a number"
            if math.isinf(self.high):
                return number if math.isinf(self.low) else f"{number} of {self.low:g} or more"
            return f"{number} from {self.low:g} to {self.high:g}"
        return f"a {self.choices[0]} model: its path or sha256:..." if self.kind == "model" else "a text"

    def check(self, value: object) -> None:
        """Raise a ValueError that names the parameter, what was found and what is accepted."""
        if not (self._fits(value) or (self.optional and value is None)):
            raise ValueError(f"{self.name}: found {value!r}; accepted: {self.accepted}")

    def _fits(self, value: object) -> bool:
        match self.kind:
            case "flag":
                return isinstance(value, bool)
            case "choice":
                return value in self.choices
            case "whole":
                return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
            case "real":
                return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high
            case _:
                return isinstance(value, str)

    def written(self, value: object) -> str:
        """Write a value for a signature.

        Examples
        --------
        >>> Parameter("lowercase", "lc", "Lowercase first", "flag", False).written(True)
        'yes'
        """
        if value is None:
            return "none"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return written_number(value)
        if self.kind == "model":
            value = _short_digest(str(value))
        # A bar would be read as the next key.
        return str(value).translate(_ESCAPED)


def written_number(value: float) -> str:
    """Write a number as briefly as possible without changing it.

    Examples
    --------
    >>> written_number(2.0), written_number(0.1), written_number(0.1234567)
    ('2', '0.1', '0.1234567')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def whole(default: int, *, low: float, high: float, label: str, key: str, hint: str = "") -> Any:
    """Declare a whole number from ``low`` to ``high``."""
    return _field(default, key=key, label=label, kind="whole", low=low, high=high, hint=hint)


def real(
    default: float | None, *, low: float, high: float, label: str, key: str, hint: str = "", optional: bool = False
) -> Any:
    """Declare a number from ``low`` to ``high``."""
    return _field(default, key=key, label=label, kind="real", low=low, high=high, hint=hint, optional=optional)


def flag(default: bool, *, label: str, key: str, hint: str = "") -> Any:
    """Declare yes or no."""
    return _field(default, key=key, label=label, kind="flag", hint=hint)


def choice(
    default: str | None, accepted: Sequence[str], *, label: str, key: str, hint: str = "", optional: bool = False
) -> Any:
    """Declare one of some words."""
    return _field(default, key=key, label=label, kind="choice", choices=tuple(accepted), hint=hint, optional=optional)


def text(default: str, *, label: str, key: str, hint: str = "") -> Any:
    """Declare free text."""
    return _field(default, key=key, label=label, kind="text", hint=hint)


def trained(kind: str, *, label: str, key: str, hint: str = "") -> Any:
    """Declare a trained model of that kind, by path or by ``sha256:`` and digits of its hash; none by default."""
    return _field("", key=key, label=label, kind="model", choices=(kind,), hint=hint)


def parameters_of(metric: Any) -> tuple[Parameter, ...]:
    """Return the parameters of a metric or of its class, in the order of its fields."""
    return tuple(
        Parameter(name=each.name, default=each.default, **each.metadata[_METADATA])
        for each in fields(metric)
        if _METADATA in each.metadata
    )


def _field(default: Any, **metadata: Any) -> Any:
    return field(default=default, metadata={_METADATA: metadata})


def _short_digest(reference: str) -> str:
    return reference[7:19] if reference.startswith("sha256:") else reference or "none"
