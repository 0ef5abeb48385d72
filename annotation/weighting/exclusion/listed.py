"""Rules that exclude named raters, named ratings, and ratings by their own time or lateness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.rule import Evidence, ExclusionRule, Ruling, Standing, raters_ruling
from annotation.weighting.groups import BoolArray
from annotation.weighting.table import FloatArray


@dataclass(frozen=True)
class ExcludeRaters(ExclusionRule):
    """Exclude all ratings of the named raters."""

    name: ClassVar[str] = "exclude_raters"
    of_campaign: ClassVar[bool] = True
    live: ClassVar[bool] = True
    title: ClassVar[str] = "Raters by name"
    suggested: ClassVar[Mapping[str, Any]] = {"raters": ()}
    raters: tuple[str | int, ...] = field(metadata={"label": "Pseudonyms"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "raters", _identifiers(self, "raters"))

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        struck = _among(log.raters, self.raters) & ~standing.out
        n = _remaining_ratings(log, standing)
        evidence = {index: Evidence("named", int(n[index])) for index in np.flatnonzero(struck).tolist()}
        return raters_ruling(log, struck, evidence)

    @property
    def sentence(self) -> str:
        return f"Exclude {_some(self.raters, 'rater')}."


@dataclass(frozen=True)
class ExcludeRatings(ExclusionRule):
    """Exclude the named ratings."""

    name: ClassVar[str] = "exclude_ratings"
    of_campaign: ClassVar[bool] = True
    live: ClassVar[bool] = True
    title: ClassVar[str] = "Ratings by number"
    suggested: ClassVar[Mapping[str, Any]] = {"ratings": ()}
    ratings: tuple[str | int, ...] = field(metadata={"label": "Ratings"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratings", _identifiers(self, "ratings"))

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        return _ratings_ruling(log, _among(log.need("rating", self.name), self.ratings))

    @property
    def sentence(self) -> str:
        return f"Exclude {_some(self.ratings, 'rating')}."


@dataclass(frozen=True)
class MinSecondsPerRating(ExclusionRule):
    """Exclude ratings given faster than ``seconds``; a rating of unknown time stays."""

    name: ClassVar[str] = "min_seconds_per_rating"
    live: ClassVar[bool] = True
    title: ClassVar[str] = "Single ratings given too fast"
    suggested: ClassVar[Mapping[str, Any]] = {"seconds": 1}
    seconds: float = field(metadata={"label": "Seconds below"})

    def __post_init__(self) -> None:
        self.need_number("seconds", "a number of seconds above 0", above=0)

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        taken: FloatArray = log.need("seconds", self.name)
        return _ratings_ruling(log, taken < self.seconds)

    @property
    def sentence(self) -> str:
        return f"Exclude ratings given in less than {self.seconds:g} s."


@dataclass(frozen=True)
class MinRatingsPerRater(ExclusionRule):
    """Exclude raters with fewer than ``ratings`` ratings among those that earlier rules left.

    Raters at work are not judged by it, because all start with none.
    """

    name: ClassVar[str] = "min_ratings_per_rater"
    title: ClassVar[str] = "Raters with few ratings"
    suggested: ClassVar[Mapping[str, Any]] = {"ratings": 5}
    ratings: int = field(metadata={"label": "Ratings fewer than"})

    def __post_init__(self) -> None:
        self.need_count("ratings")

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        left = _remaining_ratings(log, standing)
        few = (left < self.ratings) & ~standing.out
        evidence = {
            index: Evidence("ratings", int(left[index]), estimate=float(left[index]), threshold=float(self.ratings))
            for index in np.flatnonzero(few).tolist()
        }
        return raters_ruling(log, few, evidence)

    @property
    def sentence(self) -> str:
        return f"Exclude raters with fewer than {self.ratings} ratings."


@dataclass(frozen=True)
class ExcludeExtra(ExclusionRule):
    """Exclude late ratings, whose slot had gone to another rater."""

    name: ClassVar[str] = "exclude_extra"
    live: ClassVar[bool] = True
    title: ClassVar[str] = "Late ratings"
    suggested: ClassVar[Mapping[str, Any]] = {}
    offered: ClassVar[bool] = False

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        return _ratings_ruling(log, log.need("extra", self.name))

    @property
    def sentence(self) -> str:
        return "Exclude late ratings, whose slot had gone to another rater."


def _ratings_ruling(log: RatingLog, ratings: BoolArray) -> Ruling:
    return Ruling(ratings, (), np.zeros(len(log.raters), dtype=np.bool_))


def _remaining_ratings(log: RatingLog, standing: Standing) -> npt.NDArray[np.int64]:
    return np.bincount(log.code[standing.remaining], minlength=len(log.raters))


def _identifiers(rule: ExclusionRule, name: str) -> tuple[str | int, ...]:
    identifiers = getattr(rule, name)
    if isinstance(identifiers, str) or not isinstance(identifiers, Sequence) or not identifiers:
        raise rule.refuse(name, "a list of at least one identifier")
    if {type(entry) for entry in identifiers} not in ({str}, {int}):
        raise rule.refuse(name, "identifiers that are all text or all whole numbers")
    return tuple(identifiers)


def _among(column: npt.NDArray[np.generic], identifiers: tuple[str | int, ...]) -> BoolArray:
    # As text on both sides: comparing an integer column with text would silently match nothing.
    return np.isin(column.astype(np.str_), np.asarray(identifiers).astype(np.str_))


def _some(identifiers: tuple[str | int, ...], noun: str) -> str:
    listed = ", ".join(str(entry) for entry in identifiers[:5])
    if len(identifiers) == 1:
        return f"{noun} {listed}"
    return f"{len(identifiers)} {noun}s: {listed}" + (" …" if len(identifiers) > 5 else "")


LISTED_RULES: tuple[type[ExclusionRule], ...] = (
    MinSecondsPerRating,
    MinRatingsPerRater,
    ExcludeRaters,
    ExcludeRatings,
    ExcludeExtra,
)
