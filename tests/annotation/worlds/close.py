"""Raters who find one system worse by far, and two others close."""

from annotation.models import Campaign, Project
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset
from tests.snapshots import recalled

NAMES = ("Ada", "Bo", "Cy")


def make_rated(project: Project) -> Campaign:
    """Return a campaign of 12 items, each output of which three raters have rated."""
    return recalled("close", project, lambda: _make_rated(project))


def _make_rated(project: Project) -> Campaign:
    campaign = make_campaign(make_dataset(project, items=12), ratings_per_unit=3)
    work(campaign, 3)
    return campaign


def value_of(name: str, item: int, rater: int) -> int:
    """Return what a rater says: Ada is worse by far; Cy is better than Bo on half of the items and worse on others."""
    if name == "Ada":
        return 1
    if name == "Bo":
        return 3 + (rater + item) % 2
    return 3 + (rater + item // 2) % 2 + (1, -1, 1, 0)[item % 4]


def work(campaign: Campaign, raters: int) -> None:
    """Let raters answer all that they are handed."""
    for _ in range(raters):
        rater, number = join(campaign), campaign.participations.count()
        while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
            texts = list(shown.unit.unit_responses.order_by("number").values_list("response__text", flat=True))
            values = {}
            for position, index in enumerate(shown.order):
                writer = next(name for name in NAMES if name.lower()[::-1] in texts[index])
                values[position, "relevance"] = value_of(writer, shown.unit.item.position, number)
            ratings_submit(token=shown.token, rater=rater, values=values)
