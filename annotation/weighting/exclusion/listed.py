"""Rules that name raters and ratings, or look at one rating at a time; they exclude."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from annotation.weighting.exclusion.log import RatingLog
from annotation.weighting.exclusion.rule import Evidence, ExclusionRule, Ruling, Standing, place_ruling
from annotation.weighting.groups import BoolArray
from annotation.weighting.table import FloatArray


@dataclass(frozen=True)
class ExcludeRaters(ExclusionRule):
    """Excludes all ratings of the named raters."""

    name: ClassVar[str] = "exclude_raters"
    live: ClassVar[bool] = True
    raters: tuple[str | int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "raters", _identifiers(self, "raters"))

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        struck = _among(log.raters, self.raters) & ~standing.out
        n = _remaining_ratings(log, standing)
        return place_ruling(
            log, struck, {place: Evidence("named", int(n[place])) for place in np.flatnonzero(struck).tolist()}
        )

    @property
    def sentence(self) -> str:
        return f"Exclude {_some(self.raters, 'rater')}."


@dataclass(frozen=True)
class ExcludeRatings(ExclusionRule):
    """Excludes the named ratings."""

    name: ClassVar[str] = "exclude_ratings"
    live: ClassVar[bool] = True
    ratings: tuple[str | int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratings", _identifiers(self, "ratings"))

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        return _of_ratings(log, _among(log.need("rating", self.name), self.ratings))

    @property
    def sentence(self) -> str:
        return f"Exclude {_some(self.ratings, 'rating')}."


@dataclass(frozen=True)
class MinSecondsPerRating(ExclusionRule):
    """Excludes ratings given faster than ``seconds``; one of unknown time stays."""

    name: ClassVar[str] = "min_seconds_per_rating"
    live: ClassVar[bool] = True
    seconds: float

    def __post_init__(self) -> None:
        self.need_number("seconds", "a number of seconds above 0", above=0)

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        taken: FloatArray = log.need("seconds", self.name)
        return _of_ratings(log, taken < self.seconds)

    @property
    def sentence(self) -> str:
        return f"Exclude ratings given in less than {self.seconds:g} s."


@dataclass(frozen=True)
class MinRatingsPerRater(ExclusionRule):
    """Excludes raters with fewer than ``ratings`` ratings among those that earlier rules left.

    It judges nobody who is still at work: everybody starts with none.
    """

    name: ClassVar[str] = "min_ratings_per_rater"
    ratings: int

    def __post_init__(self) -> None:
        self.need_count("ratings")

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        left = _remaining_ratings(log, standing)
        few = (left < self.ratings) & ~standing.out
        evidence = {
            place: Evidence("ratings", int(left[place]), estimate=float(left[place]), threshold=float(self.ratings))
            for place in np.flatnonzero(few).tolist()
        }
        return place_ruling(log, few, evidence)

    @property
    def sentence(self) -> str:
        return f"Exclude raters with fewer than {self.ratings} ratings."


@dataclass(frozen=True)
class ExcludeExtra(ExclusionRule):
    """Excludes ratings that came in after their slot had gone to somebody else."""

    name: ClassVar[str] = "exclude_extra"
    live: ClassVar[bool] = True

    def judge(self, log: RatingLog, standing: Standing) -> Ruling:
        return _of_ratings(log, log.need("extra", self.name))

    @property
    def sentence(self) -> str:
        return "Exclude late ratings, whose place had gone to somebody else."


def _of_ratings(log: RatingLog, ratings: BoolArray) -> Ruling:
    return Ruling(ratings, (), np.zeros(len(log.raters), dtype=np.bool_))


def _remaining_ratings(log: RatingLog, standing: Standing) -> npt.NDArray[np.int64]:
    return np.bincount(log.code[standing.remaining], minlength=len(log.raters))


def _identifiers(rule: ExclusionRule, field: str) -> tuple[str | int, ...]:
    found = getattr(rule, field)
    if isinstance(found, str) or not isinstance(found, Sequence) or not found:
        raise rule.refuse(field, "a list of at least one identifier")
    kinds = {type(entry) for entry in found}
    if kinds not in ({str}, {int}):
        raise rule.refuse(field, "identifiers that are all text or all whole numbers")
    return tuple(found)


def _among(column: npt.NDArray[np.generic], identifiers: tuple[str | int, ...]) -> BoolArray:
    # As text on both sides: comparing an integer column with text would silently match nothing.
    return np.isin(column.astype(np.str_), np.asarray(identifiers).astype(np.str_))


def _some(identifiers: tuple[str | int, ...], what: str) -> str:
    listed = ", ".join(str(entry) for entry in identifiers[:5])
    if len(identifiers) == 1:
        return f"{what} {listed}"
    return f"{len(identifiers)} {what}s: {listed}" + (" …" if len(identifiers) > 5 else "")
