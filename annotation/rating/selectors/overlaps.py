"""Campaigns in which the same raters rated the same responses: a mean over both counts these raters twice."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from django.db.models import Count, Max

from annotation.core.caching import cached
from annotation.core.numbers import counted
from annotation.models import Campaign, Rating

MOST_CAMPAIGNS = 8  # of which every two are compared
KEPT_SECONDS = 3600


class Overlap(NamedTuple):
    """Two campaigns, how many raters rated a response in each of them, and of how many items."""

    first: str
    second: str
    raters: int
    items: int

    @property
    def sentence(self) -> str:
        raters, items = counted(self.raters, "rater"), counted(self.items, "item")
        return (
            f"{raters} rated the same responses to {items} in “{self.first}” and in “{self.second}”: chosen together, "
            "these raters count twice there."
        )


def overlaps(campaigns: Sequence[Campaign]) -> list[Overlap]:
    """Return every two of the campaigns in which raters rated the same responses."""
    found = (_overlap(a, b) for a, b in combinations(campaigns[:MOST_CAMPAIGNS], 2))
    return [each for each in found if each.items]


def _overlap(first: Campaign, second: Campaign) -> Overlap:
    both = Rating.objects.filter(campaign__in=[first.pk, second.pk]).order_by()
    last = both.aggregate(last=Max("pk"))["last"]

    def count() -> tuple[int, int]:
        rows = both.values("rater", "response").annotate(n=Count("campaign", distinct=True)).filter(n=2)
        twice = list(rows.values_list("rater", "response__item"))
        return len({rater for rater, _ in twice}), len({item for _, item in twice})

    return Overlap(first.name, second.name, *cached(f"overlap-{first.pk}-{second.pk}-{last}", count, KEPT_SECONDS))
