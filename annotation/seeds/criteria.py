"""The criteria that a seed must meet besides its mean rating, one entry each; and the limits of a random seed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from annotation.campaigns.fields.table import MOST_RATINGS
from annotation.core.errors import AnnotationError

LARGEST_SEED = 2**63 - 1


def is_whole(value: object, low: int, high: int) -> bool:
    """Return whether the value is a whole number from ``low`` to ``high``."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def check_seed(seed: int) -> None:
    if not is_whole(seed, 0, LARGEST_SEED):
        raise AnnotationError.at("seed", f"Found {seed}; accepted: a whole number from 0 to {LARGEST_SEED}.")


class MeanRating(NamedTuple):
    """The exact mean of a response's judgements, and their number."""

    value: Fraction
    n: int


@dataclass(frozen=True)
class SeedCriterion:
    """A whole number that a manager sets, and the test of a seed against it. Forms, API and records use ``name``."""

    name: str
    label: str
    help_text: str
    lowest: int
    highest: int
    default: int
    is_met: Callable[[MeanRating, int], bool]
    requirement: str  # what a seed needs, with the value in braces
    failing: str  # how seeds that fail it are counted

    def check(self, value: object) -> None:
        if not is_whole(value, self.lowest, self.highest):
            message = f"Found {value}; accepted: {self.lowest} to {self.highest}."
            raise AnnotationError.at(self.name, message)


CRITERIA = {
    criterion.name: criterion
    for criterion in (
        SeedCriterion(
            name="min_ratings",
            label="Ratings, at least",
            help_text="A seed with fewer ratings that count is not kept, whatever its mean.",
            lowest=1,
            highest=MOST_RATINGS,
            default=1,
            is_met=lambda mean, least: mean.n >= least,
            requirement="{} ratings that count",
            failing="with too few ratings",
        ),
    )
}


def criteria_values(given: Mapping[str, int]) -> dict[str, int]:
    """Return a checked value for every criterion, the default if none is given."""
    if unknown := sorted(given.keys() - CRITERIA.keys()):
        raise TypeError(f"unknown criteria: {', '.join(unknown)}")
    values = {name: given.get(name, criterion.default) for name, criterion in CRITERIA.items()}
    for name, value in values.items():
        CRITERIA[name].check(value)
    return values
