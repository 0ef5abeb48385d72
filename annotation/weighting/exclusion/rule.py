"""What a rule is, what it says of a rater, and how it refuses a field."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.groups import BoolArray

Action = Literal["exclude", "flag"]

ACTIONS: tuple[Action, ...] = get_args(Action)


class RuleError(ValueError):
    """A record that is no rule. ``field`` is the field at fault, ``number`` the record's place in a list, from 1."""

    def __init__(self, message: str, *, field: str, number: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.number = number


@dataclass(frozen=True)
class Evidence:
    """Why a rule strikes a rater; NaN where a figure does not apply.

    Attributes
    ----------
    measure : what was measured, such as "gold accuracy".
    n : answers or ratings behind it.
    estimate, low, high : the figure and its 95% interval.
    threshold : what the rule compared with: the estimate, or ``pvalue`` where there is one.
    pvalue : of the test, for rules that test.
    """

    measure: str
    n: int
    estimate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    threshold: float = np.nan
    pvalue: float = np.nan

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; None where a figure does not apply."""
        numbers = {name: getattr(self, name) for name in ("estimate", "low", "high", "threshold", "pvalue")}
        stated = {name: float(value) if np.isfinite(value) else None for name, value in numbers.items()}
        return {"measure": self.measure, "n": self.n, **stated}


@dataclass(frozen=True)
class Struck:
    """A rater whom a rule strikes, and why."""

    rater: str | int
    evidence: Evidence


@dataclass(frozen=True, eq=False)
class Standing:
    """What earlier rules left: ratings by the mask of ``remaining``, and whom they excluded, by place in ``raters``."""

    remaining: BoolArray
    out: BoolArray


@dataclass(frozen=True, eq=False)
class Ruling:
    """What one rule says: the ratings it excludes, the raters it strikes, and which of these (by place) it excludes."""

    ratings: BoolArray
    struck: tuple[Struck, ...]
    out: BoolArray


@dataclass(frozen=True)
class ExclusionRule(ABC):
    """Base of all rules; a subclass is one named version of one rule."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    live: ClassVar[bool] = False  # whether it may judge raters who are still at work

    @abstractmethod
    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        """Whom and what the rule strikes, given what earlier rules left."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The rule in words."""

    def does(self) -> Action:
        """What follows for a rater whom the rule strikes."""
        return "exclude"

    def to_dict(self) -> dict[str, Any]:
        """The rule as JSON-ready data; ``rule_from_dict`` is the way back."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        listed = {key: list(value) if isinstance(value, tuple) else value for key, value in own.items()}
        return {"rule": self.name, "version": self.version, **listed}

    def refuse(self, field: str, accepted: str) -> RuleError:
        """The error for a field that holds something else than what is accepted."""
        return RuleError(
            f"exclusion rule {self.name!r}: field {field!r} is {getattr(self, field)!r}; accepted: {accepted}",
            field=field,
        )

    def need_count(self, field: str) -> None:
        """Refuse a field that is no whole number from 1."""
        found = getattr(self, field)
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise self.refuse(field, "a whole number, 1 or more")

    def need_number(
        self, field: str, accepted: str, *, above: float, below: float = np.inf, or_equal: bool = False
    ) -> None:
        """Refuse a field that is no number between two others; ``or_equal`` takes in the upper one."""
        found = getattr(self, field)
        number = isinstance(found, int | float) and not isinstance(found, bool)
        if not number or not (above < found < below or (or_equal and found == below)):
            raise self.refuse(field, accepted)


def place_ruling(log: RatingLog, out: BoolArray, evidence: Mapping[int, Evidence], *, exclude: bool = True) -> Ruling:
    """The ruling that strikes the raters of a mask over ``log.raters``."""
    names: Sequence[Any] = log.raters[out].tolist()
    places: Sequence[int] = np.flatnonzero(out).tolist()
    struck = tuple(Struck(name, evidence[place]) for name, place in zip(names, places, strict=True))
    nobody: npt.NDArray[np.bool_] = np.zeros_like(out)
    gone = out if exclude else nobody
    return Ruling(gone[log.code], struck, gone)
