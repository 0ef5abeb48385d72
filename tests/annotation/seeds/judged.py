"""Seeds with their ratings, and selections of them."""

from typing import Any

from annotation.models import (
    Campaign,
    Dataset,
    Response,
    SeedSelection,
)
from annotation.seeds.services.selections import SelectionRules, seeds_select
from tests.annotation.worlds.rated import make_item, make_response, rate

HALVES = {"dev": 0.5, "test": 0.5}


def make_seed(dataset: Dataset, name: str) -> Response:
    return make_response(make_item(dataset, name), f"Seed of {name}.", "seed")


def judged(campaign: Campaign, ratings: dict[str, list[float]]) -> dict[str, Response]:
    """Rate a seed for each name; each of its ratings is by another rater."""
    seeds = {name: make_seed(campaign.dataset, name) for name in ratings}
    for name, values in ratings.items():
        for number, value in enumerate(values):
            rate(campaign, f"rater {number}", seeds[name], value)
    return seeds


FIVE = {  # three ratings each, worked by hand: means 5, 4, 11/3, 4.5 of two, none, 1
    "a": [5, 5, 5],
    "b": [3, 4, 5],
    "c": [3, 4, 4],
    "d": [4, 5],
    "e": [],
    "f": [1, 1, 1],
}


def select(campaign: Campaign, **options: Any) -> SeedSelection:
    more = {name: options.pop(name) for name in ("again", "by") if name in options}
    usual = {"dataset": campaign.dataset, "campaigns": [campaign], "threshold": 4.0, "shares": HALVES, "seed": 1}
    return seeds_select(rules=SelectionRules.of(**{**usual, **options}), **more)


def names(selection: SeedSelection) -> list[str]:
    return sorted(selection.members.values_list("item__external_id", flat=True))
