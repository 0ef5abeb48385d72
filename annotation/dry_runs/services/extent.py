"""How much of a campaign a dry run simulates, how long that takes, and which settings suit the campaign."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from annotation.campaigns.services.launch import units_plan
from annotation.campaigns.services.readiness import launch_report
from annotation.core.errors import AnnotationError
from annotation.dry_runs.specification import DryRunSpecification
from annotation.models import Campaign

MOST_SCREENS = 2000  # in a dry run; of a larger campaign only the first items are simulated
SECONDS_PER_SCREEN = 0.06  # of real time on an idle machine: 0.04 of Python, the rest the database
SECONDS_AROUND = 8.0  # making and removing the copy, the forecast
FEWEST_RATERS = 20  # in a part of a campaign: with fewer, shares of detected raters say nothing
USUAL_SCREENS = 40  # that a rater answers before leaving, if the campaign sets no limit


@dataclass(frozen=True)
class Extent:
    """The work of a campaign, and the part of it that a dry run simulates.

    ``raters`` and ``arrivals_per_hour`` are cut with the items, so that each rater meets as many screens as in the
    whole campaign. If that would leave too few raters, each meets fewer.
    """

    units: int
    places: int
    share: float
    item_limit: int | None
    raters: int
    arrivals_per_hour: float
    screens: int  # expected


def extent(campaign: Campaign, specification: DryRunSpecification) -> Extent:
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
    # As many raters per slot as in the whole campaign, or more where the least number of raters applies.
    arrivals *= cut / (raters * share)
    return Extent(units, units * k, share, limit, cut, arrivals, _screens(campaign, int(units * share) * k, cut))


def _screens(campaign: Campaign, places: int, raters: int) -> int:
    before = len(campaign.qualification.get("training", [])) + len(campaign.qualification.get("test", []))
    return math.ceil(places * (1 + checks_per_unit(campaign))) + min(raters, places) * before


def checks_per_unit(campaign: Campaign) -> float:
    every = int(campaign.quality.get("every", 0) or 0)
    return 1 / (every - 1) if every > 1 else 0.0


class Estimate(NamedTuple):
    """The expected size and duration of a dry run."""

    units: int
    places: int
    screens: int
    seconds: float


def estimate(campaign: Campaign, specification: DryRunSpecification) -> Estimate:
    """Estimate a dry run, in seconds of real time; 0 units if there is nothing to rate yet."""
    try:
        chosen = extent(campaign, specification)
    except AnnotationError:
        return Estimate(0, 0, 0, 0.0)
    seconds = SECONDS_AROUND + SECONDS_PER_SCREEN * chosen.screens
    return Estimate(chosen.units, chosen.places, chosen.screens, seconds)


def suggested(campaign: Campaign) -> DryRunSpecification:
    """Suggest settings: as many raters as the campaign needs, at the pace that the length of its texts suggests."""
    report = launch_report(campaign)
    each = campaign.max_units_per_rater or USUAL_SCREENS
    needed = math.ceil(1.2 * report.slots / each) + 2
    raters = min(max(needed, report.raters_at_least, 10), 200)
    return DryRunSpecification(raters=raters, median_seconds=float(max(round(report.seconds), 2)))
