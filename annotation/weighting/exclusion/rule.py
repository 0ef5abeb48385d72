"""The base of all exclusion rules: fields, checks of fields, and the result for ratings and raters."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.groups import BoolArray

Action = Literal["exclude", "flag"]

ACTIONS: tuple[Action, ...] = get_args(Action)


class RuleError(ValueError):
    """An invalid record. ``field`` is the field at fault, ``number`` the record's position in a list, from 1."""

    def __init__(self, message: str, *, field: str, number: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.number = number


MOST = 10**9  # of counts and seconds; a float holds every whole number up to it


@dataclass(frozen=True)
class Evidence:
    """Why a rule excludes or flags a rater; NaN if a number does not apply.

    Attributes
    ----------
    measure : what was measured, such as "gold accuracy".
    n : answers or ratings that it was measured on.
    estimate, low, high : the measure and its 95% interval.
    threshold : what the estimate, or else ``pvalue``, was compared with.
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
        """Return JSON-ready data; None for a number that does not apply."""
        numbers = {name: getattr(self, name) for name in ("estimate", "low", "high", "threshold", "pvalue")}
        stated = {name: float(value) if np.isfinite(value) else None for name, value in numbers.items()}
        return {"measure": self.measure, "n": self.n, **stated}


@dataclass(frozen=True)
class Struck:
    """A rater whom a rule excludes or flags, and why."""

    rater: str | int
    evidence: Evidence


@dataclass(frozen=True, eq=False)
class Standing:
    """What earlier rules left: a mask over ratings that remain, and one over ``raters`` that are excluded."""

    remaining: BoolArray
    out: BoolArray


@dataclass(frozen=True, eq=False)
class Ruling:
    """A rule's result: masks over excluded ratings and excluded raters, and the raters it excludes or flags."""

    ratings: BoolArray
    struck: tuple[Struck, ...]
    out: BoolArray


@dataclass(frozen=True)
class ExclusionRule(ABC):
    """Base of all rules. A subclass is one version of a rule, with all that forms and pages need to know of it."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    live: ClassVar[bool] = False  # whether it may judge raters who are still at work
    of_campaign: ClassVar[bool] = False  # whether it names raters or ratings of one campaign
    title: ClassVar[str]  # in the menu of rules; each field's label stands in its metadata
    suggested: ClassVar[Mapping[str, Any]]  # values of a new rule's form
    offered: ClassVar[bool] = True  # whether the menu of new rules lists it

    @abstractmethod
    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        """Return what the rule excludes and flags, given what earlier rules left."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """Return the rule in words."""

    def does(self) -> Action:
        """Return what happens to a rater who falls short of the rule."""
        return "exclude"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as JSON-ready data, which ``rule_from_dict`` reads."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        listed = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
        return {"rule": self.name, "version": self.version, **listed}

    def refuse(self, field: str, accepted: str) -> RuleError:
        """Return the error for a field whose value is not accepted."""
        return RuleError(
            f"exclusion rule {self.name!r}: field {field!r} is {getattr(self, field)!r}; accepted: {accepted}",
            field=field,
        )

    def need_count(self, field: str) -> None:
        """Raise the error unless the field holds a whole number from 1."""
        value = getattr(self, field)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.refuse(field, "a whole number, 1 or more")
        if value > MOST:
            raise self.refuse(field, f"a whole number, at most {MOST:,}")

    def need_number(
        self, field: str, accepted: str, *, above: float, below: float = np.inf, or_equal: bool = False
    ) -> None:
        """Raise the error unless the field holds a number between two others; ``or_equal`` accepts the upper, too."""
        value = getattr(self, field)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not (above < value < below or (or_equal and value == below)):
            raise self.refuse(field, accepted)
        if abs(value) > MOST:
            raise self.refuse(field, f"{accepted}, at most {MOST:,}")


def raters_ruling(
    log: RatingLog, struck: BoolArray, evidence: Mapping[int, Evidence], *, exclude: bool = True
) -> Ruling:
    """Return the ruling for a mask over ``log.raters``; ``evidence`` is by rater index."""
    names: Sequence[Any] = log.raters[struck].tolist()
    indices: Sequence[int] = np.flatnonzero(struck).tolist()
    entries = tuple(Struck(name, evidence[index]) for name, index in zip(names, indices, strict=True))
    out: BoolArray = struck if exclude else np.zeros_like(struck)
    return Ruling(out[log.code], entries, out)
