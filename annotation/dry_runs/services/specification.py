"""Who is to come to a dry run, and how much of the campaign they will play through."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from annotation.campaigns.services import launch_report
from annotation.campaigns.services.launch import units_plan
from annotation.core.errors import AnnotationError
from annotation.models import Campaign

MOST_SCREENS = 2000  # that a dry run plays through; of a larger campaign the first items
SECONDS_PER_SCREEN = 0.06  # of real time on an idle machine: 0.04 of Python, the rest the database
SECONDS_AROUND = 8.0  # making and removing the copy, the forecast
FEWEST_RATERS = 20  # of a run that is cut: with fewer, shares of raters caught say nothing
USUAL_SCREENS = 40  # that a rater who is free to stay does before leaving


class Bounds(NamedTuple):
    low: float
    high: float
    accepted: str


FIELDS: dict[str, Bounds] = {
    "raters": Bounds(1, 500, "a whole number from 1 to 500"),
    "arrivals_per_hour": Bounds(0.1, 10_000, "a number from 0.1 to 10,000"),
    "spam_share": Bounds(0, 1, "a share from 0 to 1"),
    "bias_sd": Bounds(0, 1, "a number from 0 to 1, as a share of the scale"),
    "noise": Bounds(0, 1, "a number from 0 to 1, as a share of the scale"),
    "lapse": Bounds(0, 1, "a share from 0 to 1"),
    "dropout": Bounds(0, 0.5, "a probability from 0 to 0.5"),
    "median_seconds": Bounds(1, 3600, "a number of seconds from 1 to 3,600"),
    "speed_sd": Bounds(0, 2, "a number from 0 to 2"),
    "target": Bounds(0.01, 1, "a half-width from 0.01 to 1"),
    "seed": Bounds(0, 2**31 - 1, "a whole number from 0 to 2,147,483,647"),
}
WHOLE = ("raters", "seed")


@dataclass(frozen=True)
class Specification:
    """What a manager chooses; ``bias_sd`` and ``noise`` are shares of the scale's length, ``target`` a half-width."""

    raters: int = 30
    arrivals_per_hour: float = 10.0
    spam_share: float = 0.1
    bias_sd: float = 0.1
    noise: float = 0.15
    lapse: float = 0.02
    dropout: float = 0.01
    median_seconds: float = 20.0
    speed_sd: float = 0.4
    target: float = 0.2
    seed: int = 1

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Specification":
        """``AnnotationError`` ties every mistake to its field."""
        known = [one.name for one in fields(cls)]
        problems = {name: [f"Unknown; accepted: {', '.join(known)}."] for name in data if name not in known}
        for name, bounds in FIELDS.items():
            value = data.get(name, getattr(cls, name))
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or not bounds.low <= value <= bounds.high or (name in WHOLE and value != int(value)):
                problems[name] = [f"Found {value!r}; accepted: {bounds.accepted}."]
        if problems:
            message = " ".join(f"{name}: {found[0]}" for name, found in problems.items())
            raise AnnotationError(message, fields=problems)
        read: dict[str, Any] = {name: int(value) if name in WHOLE else float(value) for name, value in data.items()}
        return cls(**read)


@dataclass(frozen=True)
class Extent:
    """How much there is to do, and how much of it is played through.

    ``raters`` and ``arrivals_per_hour`` are cut with the items, so that each rater meets as many screens as in the
    whole campaign; where that would leave too few raters, each meets fewer.
    """

    units: int
    places: int
    share: float
    item_limit: int | None
    raters: int
    arrivals_per_hour: float
    screens: int  # expected

    @property
    def is_cut(self) -> bool:
        return self.item_limit is not None


def extent(campaign: Campaign, specification: Specification) -> Extent:
    plan = units_plan(campaign)
    items = len({unit.item for unit in plan.units})
    units, k = len(plan.units), campaign.ratings_per_unit
    raters, arrivals = specification.raters, specification.arrivals_per_hour
    expected = _screens(campaign, units * k, raters)
    if expected <= MOST_SCREENS or items < 2:
        return Extent(units, units * k, 1.0, None, raters, arrivals, min(expected, 2 * MOST_SCREENS))
    limit = max(1, int(items * MOST_SCREENS / expected))
    share = limit / items
    cut = min(raters, max(FEWEST_RATERS, 3 * k, round(raters * share)))
    # As many raters for the work as would come to the whole campaign, or more where they are never fewer than a few.
    arrivals *= cut / (raters * share)
    return Extent(units, units * k, share, limit, cut, arrivals, _screens(campaign, int(units * share) * k, cut))


def _screens(campaign: Campaign, places: int, raters: int) -> int:
    before = len(campaign.qualification.get("training", [])) + len(campaign.qualification.get("test", []))
    return math.ceil(places * (1 + checks_per_unit(campaign))) + min(raters, places) * before


def checks_per_unit(campaign: Campaign) -> float:
    every = int(campaign.quality.get("every", 0) or 0)
    return 1 / (every - 1) if every > 1 else 0.0


class Estimate(NamedTuple):
    """What a dry run will take."""

    units: int
    places: int
    screens: int
    seconds: float


def estimate(campaign: Campaign, specification: Specification) -> Estimate:
    """Seconds of real time. 0 units where there is nothing to rate yet."""
    try:
        found = extent(campaign, specification)
    except AnnotationError:
        return Estimate(0, 0, 0, 0.0)
    return Estimate(found.units, found.places, found.screens, SECONDS_AROUND + SECONDS_PER_SCREEN * found.screens)


def suggested(campaign: Campaign) -> Specification:
    """As many raters as the campaign seems to want, at the pace that its texts' length suggests."""
    report = launch_report(campaign)
    each = campaign.max_units_per_rater or USUAL_SCREENS
    wanted = math.ceil(1.2 * report.slots / each) + 2
    raters = min(max(wanted, report.raters_at_least, 10), 200)
    return Specification(raters=raters, median_seconds=float(max(round(report.seconds), 2)))
