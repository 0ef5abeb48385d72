"""A process remembers the campaign of a link, and never an old one."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from annotation.models import Campaign, Project, ProjectDeletion
from annotation.rating.selectors import arrivals
from annotation.rating.selectors.arrivals import campaign_of_link
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project))


def test_a_campaign_is_read_again_as_soon_as_it_or_its_project_or_data_set_changes(
    campaign: Campaign, django_assert_num_queries: Callable[[int], object]
) -> None:
    def found() -> Campaign:
        of_link = campaign_of_link(campaign.link_token)
        assert of_link is not None
        return of_link

    name = found().project.name
    with django_assert_num_queries(1):  # type: ignore[attr-defined]
        assert found().project.name == name
    for change in ("One", "Another"):  # twice in one transaction, too
        Campaign.objects.filter(pk=campaign.pk).update(name=change)
        assert found().name == change
    Project.objects.filter(pk=campaign.project_id).update(name="Renamed")
    assert found().project.name == "Renamed"
    type(campaign.dataset).objects.filter(pk=campaign.dataset_id).update(language="fr")
    assert found().dataset.language == "fr"
    ProjectDeletion.objects.create(project=campaign.project, name="Renamed", slug="renamed")
    assert campaign_of_link(campaign.link_token) is None


def test_a_change_of_what_was_returned_is_not_remembered(campaign: Campaign) -> None:
    first = campaign_of_link(campaign.link_token)
    assert first is not None
    first.name = "Changed in memory"
    again = campaign_of_link(campaign.link_token)
    assert again is not None
    assert again.name == campaign.name
    assert again is not campaign_of_link(campaign.link_token)


def test_no_link_leads_nowhere_and_the_memory_is_bounded(
    campaign: Campaign, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert campaign_of_link(uuid4()) is None
    arrivals._remembered.clear()
    monkeypatch.setattr(arrivals, "REMEMBERED", 1)
    other = make_campaign(campaign.dataset, name="Other")
    for each in (campaign, other, campaign):
        assert campaign_of_link(each.link_token) == each
        assert list(arrivals._remembered)[-1] == each.link_token
        assert len(arrivals._remembered) == 1


def test_campaigns_beside_each_other_are_remembered(campaign: Campaign) -> None:
    other = make_campaign(campaign.dataset, name="Other")
    for each in (campaign, other):
        campaign_of_link(each.link_token)
    assert {campaign.link_token, other.link_token} <= set(arrivals._remembered)
