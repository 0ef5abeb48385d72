"""Exclusion rules: data that says which ratings do not count, so that any release can be computed again.

A rule is a small record, ``{"rule": name, "version": 1, ...fields}``. The ratings themselves are never removed.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from annotation.weighting.table import FloatArray

BoolArray = npt.NDArray[np.bool_]


class RatingLog:
    """The columns rules may ask for, one entry per rating.

    Parameters
    ----------
    rater : array of str or int, shape (n,)
        Rater identifiers as rules name them.
    rating : array of str or int, shape (n,), optional
        Rating identifiers.
    seconds : float array, shape (n,), optional
        Time from shown to sent; NaN where unknown.
    extra : bool array, shape (n,), optional
        True for ratings that came in after their slot had gone to somebody else.
    """

    def __init__(
        self,
        rater: npt.ArrayLike,
        *,
        rating: npt.ArrayLike | None = None,
        seconds: npt.ArrayLike | None = None,
        extra: npt.ArrayLike | None = None,
    ) -> None:
        self.rater = np.asarray(rater)
        self.rating = None if rating is None else np.asarray(rating)
        self.seconds = None if seconds is None else np.asarray(seconds, dtype=np.float64)
        self.extra = None if extra is None else np.asarray(extra, dtype=np.bool_)
        for name in ("rating", "seconds", "extra"):
            column = getattr(self, name)
            if column is not None and column.shape != self.rater.shape:
                raise ValueError(f"{name} has shape {column.shape}; accepted: {self.rater.shape}, one per rating")

    def __len__(self) -> int:
        return len(self.rater)

    def need(self, column: str, rule: str) -> np.ndarray:
        """A column, or an error that says which rule wants it."""
        found: np.ndarray | None = getattr(self, column)
        if found is None:
            raise ValueError(f"exclusion rule {rule!r} needs the column {column!r}, and these ratings have none")
        return found


@dataclass(frozen=True)
class ExclusionRule(ABC):
    """Base of all rules; a subclass is one named version of one rule."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    @abstractmethod
    def excluded(self, log: RatingLog, remaining: BoolArray) -> BoolArray:
        """Mask of the ratings the rule excludes, given those that earlier rules left."""

    def to_dict(self) -> dict[str, Any]:
        """The rule as JSON-ready data; ``rule_from_dict`` is the way back."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        listed = {key: list(value) if isinstance(value, tuple) else value for key, value in own.items()}
        return {"rule": self.name, "version": self.version, **listed}

    def refuse(self, field: str, accepted: str) -> ValueError:
        """The error for a field that holds something else than what is accepted."""
        return ValueError(
            f"exclusion rule {self.name!r}: field {field!r} is {getattr(self, field)!r}; accepted: {accepted}"
        )


@dataclass(frozen=True)
class ExcludeRaters(ExclusionRule):
    """Excludes all ratings of the named raters."""

    name: ClassVar[str] = "exclude_raters"
    raters: tuple[str | int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "raters", _identifiers(self, "raters"))

    def excluded(self, log: RatingLog, remaining: BoolArray) -> BoolArray:
        return _among(log.rater, self.raters)


@dataclass(frozen=True)
class ExcludeRatings(ExclusionRule):
    """Excludes the named ratings."""

    name: ClassVar[str] = "exclude_ratings"
    ratings: tuple[str | int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratings", _identifiers(self, "ratings"))

    def excluded(self, log: RatingLog, remaining: BoolArray) -> BoolArray:
        return _among(log.need("rating", self.name), self.ratings)


@dataclass(frozen=True)
class MinSecondsPerRating(ExclusionRule):
    """Excludes ratings given faster than ``seconds``; one of unknown time stays."""

    name: ClassVar[str] = "min_seconds_per_rating"
    seconds: float

    def __post_init__(self) -> None:
        if not _is_number(self.seconds) or not 0 < self.seconds < np.inf:
            raise self.refuse("seconds", "a number of seconds above 0")

    def excluded(self, log: RatingLog, remaining: BoolArray) -> BoolArray:
        taken: FloatArray = log.need("seconds", self.name)
        return taken < self.seconds


@dataclass(frozen=True)
class MinRatingsPerRater(ExclusionRule):
    """Excludes raters with fewer than ``ratings`` ratings among those that earlier rules left."""

    name: ClassVar[str] = "min_ratings_per_rater"
    ratings: int

    def __post_init__(self) -> None:
        if not isinstance(self.ratings, int) or isinstance(self.ratings, bool) or self.ratings < 1:
            raise self.refuse("ratings", "a whole number, 1 or more")

    def excluded(self, log: RatingLog, remaining: BoolArray) -> BoolArray:
        _, code = np.unique(log.rater, return_inverse=True)
        left = np.bincount(code, remaining)
        few: BoolArray = (left < self.ratings)[code]
        return few


@dataclass(frozen=True)
class ExcludeExtra(ExclusionRule):
    """Excludes ratings that came in after their slot had gone to somebody else."""

    name: ClassVar[str] = "exclude_extra"

    def excluded(self, log: RatingLog, remaining: BoolArray) -> BoolArray:
        return log.need("extra", self.name)


_RULES: dict[str, type[ExclusionRule]] = {
    rule.name: rule for rule in (ExcludeRaters, ExcludeRatings, MinSecondsPerRating, MinRatingsPerRater, ExcludeExtra)
}

RULE_NAMES = tuple(_RULES)


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Which of n ratings stay, and how many each rule took, in the order of the rules.

    A rating that several rules exclude is counted for the first of them.
    """

    keep: BoolArray
    counts: tuple[int, ...]


def apply_rules(rules: Sequence[ExclusionRule], log: RatingLog) -> Exclusion:
    """Apply rules in order; the log is left as it is.

    Examples
    --------
    >>> log = RatingLog(["ann", "ann", "bob", "eve"], seconds=[9.0, 0.5, 8.0, 7.0])
    >>> outcome = apply_rules([MinSecondsPerRating(1.0), ExcludeRaters(("eve",))], log)
    >>> outcome.keep.tolist(), outcome.counts
    ([True, False, True, False], (1, 1))
    """
    keep = np.ones(len(log), dtype=np.bool_)
    counts = []
    for rule in rules:
        taken = keep & rule.excluded(log, keep)
        counts.append(int(taken.sum()))
        keep = keep & ~taken
    return Exclusion(keep, tuple(counts))


def rule_from_dict(data: Mapping[str, Any]) -> ExclusionRule:
    """A rule from its record.

    Raises
    ------
    ValueError
        Unknown rule or version, missing or unknown fields, or a field outside what is accepted; named in the message.

    Examples
    --------
    >>> rule_from_dict({"rule": "min_seconds_per_rating", "version": 1, "seconds": 2})
    MinSecondsPerRating(seconds=2)
    """
    name = data.get("rule")
    if not isinstance(name, str) or name not in _RULES:
        raise ValueError(f"exclusion rule: field 'rule' is {name!r}; accepted: {', '.join(_RULES)}")
    kind = _RULES[name]
    if data.get("version") != kind.version:
        raise ValueError(
            f"exclusion rule {name!r}: field 'version' is {data.get('version')!r}; accepted: {kind.version}"
        )
    known = [field.name for field in fields(kind)]
    given = {key: value for key, value in data.items() if key not in {"rule", "version"}}
    wrong = sorted(set(known) ^ set(given))
    if wrong:
        problem = "missing" if wrong[0] in known else "unknown"
        accepted = ", ".join(["rule", "version", *known])
        raise ValueError(f"exclusion rule {name!r}: field {wrong[0]!r} is {problem}; accepted: {accepted}")
    return kind(**given)


def rules_from_data(data: Sequence[Mapping[str, Any]]) -> list[ExclusionRule]:
    """Rules from a list of records; an error names the place in the list, counted from 1."""
    rules = []
    for number, record in enumerate(data, start=1):
        try:
            rules.append(rule_from_dict(record))
        except ValueError as error:
            raise ValueError(f"rule {number} of {len(data)}: {error}") from error
    return rules


def _identifiers(rule: ExclusionRule, field: str) -> tuple[str | int, ...]:
    found = getattr(rule, field)
    if isinstance(found, str) or not isinstance(found, Sequence) or not found:
        raise rule.refuse(field, "a list of at least one identifier")
    kinds = {type(entry) for entry in found}
    if kinds not in ({str}, {int}):
        raise rule.refuse(field, "identifiers that are all text or all whole numbers")
    return tuple(found)


def _among(column: np.ndarray, identifiers: tuple[str | int, ...]) -> BoolArray:
    # As text on both sides: comparing an integer column with text would silently match nothing.
    return np.isin(column.astype(np.str_), np.asarray(identifiers).astype(np.str_))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
