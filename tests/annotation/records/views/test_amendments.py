"""The page and the command report whether the amendments are intact, and which one is not."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Amendment, Campaign, Project, User
from annotation.quality.services.operations import campaign_extend
from tests.annotation.worlds.campaigns import make_campaign, make_dataset


@pytest.fixture
def campaign(project: Project, manager: User) -> Campaign:
    campaign = make_campaign(make_dataset(project, items=1))
    for ratings in (4, 5, 6):
        campaign_extend(campaign=campaign, ratings_per_unit=ratings, by=manager)
    return campaign


@pytest.fixture
def viewer_client(viewer: User, as_user) -> Client:
    return as_user(viewer)


def bypass_trigger() -> None:
    """Bypass the append-only trigger, as only the database's owner can."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL assay.purge = 'on'")


def page(client: Client, campaign: Campaign) -> str:
    answer = client.get(reverse("annotation:campaign-record-amendments", args=[campaign.project.slug, campaign.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def verify(campaign: Campaign) -> str:
    out = StringIO()
    call_command("verify_campaign", "--project", campaign.project.slug, "--campaign", campaign.name, stdout=out)
    return out.getvalue().strip()


def test_an_intact_record_is_reported(viewer_client: Client, campaign: Campaign) -> None:
    sentence = "The record is intact: 3 amendments, each hash follows from the one before."
    assert sentence in page(viewer_client, campaign)
    assert verify(campaign) == sentence


def test_a_campaign_without_amendments_is_intact(viewer_client: Client, project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    assert "The record is intact: there are no amendments." in page(viewer_client, campaign)
    assert verify(campaign) == "The record is intact: there are no amendments."


def test_a_changed_entry_is_named(viewer_client: Client, campaign: Campaign) -> None:
    bypass_trigger()
    Amendment.objects.filter(campaign=campaign, number=2).update(data={"places": 0, "ratings_per_unit": [4, 9]})
    sentence = "The record was changed: the hash of amendment 2 does not follow from the entry before."
    assert sentence in page(viewer_client, campaign)
    with pytest.raises(CommandError, match=sentence) as refused:
        verify(campaign)
    assert refused.value.returncode == 1


def test_a_missing_entry_is_named(viewer_client: Client, campaign: Campaign) -> None:
    bypass_trigger()
    Amendment.objects.filter(campaign=campaign, number=2).delete()
    sentence = "The record was changed: amendment 2 is missing."
    assert sentence in page(viewer_client, campaign)
    with pytest.raises(CommandError, match=sentence):
        verify(campaign)
