"""The last two answers of a campaign, sent at the same moment."""

import pytest

from annotation.models import Campaign, Membership, Notification, NotificationSettings, Presentation, Project, User
from annotation.rating.services.handout import unit_request
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset
from tests.races import race

pytestmark = pytest.mark.django_db(transaction=True)


def shown(campaign: Campaign, name: str) -> Presentation:
    presentation = unit_request(campaign=campaign, rater=join(campaign, name))
    assert presentation is not None
    return presentation


@pytest.mark.parametrize(("items", "ratings"), [(1, 2), (2, 1)])
def test_of_two_last_answers_one_finds_the_campaign_full(
    project: Project, owner: User, items: int, ratings: int
) -> None:
    """To the same item, and to two."""
    NotificationSettings.objects.create(
        membership=Membership.objects.get(project=project, user=owner),
        by_email=["campaign_full"],
        site="https://a.example/",
    )
    campaign = make_campaign(make_dataset(project, items=items, systems=["Ada"]), ratings_per_unit=ratings)
    first, second = (shown(campaign, name) for name in ("ann", "bob"))
    race(lambda: answer(first), lambda: answer(second))
    assert not campaign.slots.exclude(state="done").exists()
    assert [row.kind for row in Notification.objects.all()] == ["campaign_full"]
