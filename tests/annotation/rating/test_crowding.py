"""Many arrivals at once keep no one from rating for long."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import F
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Presentation, Project, Rater, Slot, SlotState
from annotation.rating.services.handout import UNPROVEN_LEASE, unit_request
from annotation.rating.services.raters import arrival_count
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset

LEASE = 600


@pytest.fixture
def campaign(project: Project) -> Campaign:
    """Twelve units of two slots each."""
    return make_campaign(make_dataset(project), lease_seconds=LEASE)


def url(name: str, campaign: Campaign) -> str:
    return reverse(f"annotation:rater-{name}", args=[campaign.link_token])


def arrive(campaign: Campaign, address: str = "203.0.113.9") -> tuple[Client, HttpResponse]:
    client = Client(REMOTE_ADDR=address)
    return client, client.post(url("consent", campaign), {"agree": "1"})


def lease_seconds(presentation: Presentation) -> float:
    return (Slot.objects.get(token=presentation.token).expires_at - presentation.shown_at).total_seconds()


def pass_time(seconds: float) -> None:
    """Let leases end as they would after so many seconds."""
    Slot.objects.filter(state=SlotState.LEASED).update(expires_at=F("expires_at") - timedelta(seconds=seconds))


def test_forty_arrivals_at_once_hold_no_slot_for_longer_than_a_minute(campaign: Campaign) -> None:
    answers = Counter()
    for _ in range(40):
        client, joined = arrive(campaign)
        answers[joined.status_code] += 1
        client.get(url("work", campaign))
    assert answers == {302: 30, 429: 10}
    assert Rater.objects.count() == 30
    assert Slot.objects.filter(state=SlotState.LEASED).count() == 24
    other, _ = arrive(campaign, "198.51.100.7")
    assert other.get(url("work", campaign)).headers["Location"] == url("finish", campaign)
    pass_time(UNPROVEN_LEASE + 1)
    assert other.get(url("work", campaign)).context["presentation"] is not None


def test_who_comes_too_soon_reads_when_to_try_again(campaign: Campaign, settings) -> None:
    settings.RATER_ARRIVALS_PER_MINUTE = 1
    arrive(campaign)
    client, refused = arrive(campaign)
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert "Many people have come from your network just now" in refused.content.decode()
    assert client.get(url("work", campaign)).headers["Location"] == url("landing", campaign)
    french = client.post(url("consent", campaign), {"agree": "1"}, headers={"Accept-Language": "fr"})
    assert "réseau" in french.content.decode()


def test_simulated_raters_are_not_limited(campaign: Campaign, settings) -> None:
    settings.RATER_ARRIVALS_PER_MINUTE = 0
    Project.objects.update(is_sandbox=True)
    campaign.project.refresh_from_db()
    arrive(campaign)
    arrival_count(project=campaign.project, address="203.0.113.9")
    assert Rater.objects.count() == 1


def test_a_browser_that_shows_the_first_item_holds_it_as_long_as_any_other(campaign: Campaign) -> None:
    client, _ = arrive(campaign)
    page = client.get(url("work", campaign))
    assert url("begin", campaign) in page.content.decode()
    shown = Presentation.objects.get()
    assert lease_seconds(shown) == UNPROVEN_LEASE
    for _ in range(2):  # the second renews nothing
        assert client.post(url("begin", campaign), {"token": str(shown.token)}).status_code == 204
        assert lease_seconds(shown) == LEASE
    client.post(url("submit", campaign), {"token": str(shown.token), "r0-relevance": "4"})
    second = client.get(url("work", campaign))
    assert url("begin", campaign) not in second.content.decode()
    assert lease_seconds(second.context["presentation"]) == LEASE


def test_an_item_that_others_have_is_not_taken_back_by_reporting_it(campaign: Campaign) -> None:
    client, _ = arrive(campaign)
    first = client.get(url("work", campaign)).context["presentation"]
    outsider, _ = arrive(campaign)
    assert outsider.post(url("begin", campaign), {"token": str(first.token)}).status_code == 404
    Slot.objects.filter(token=first.token).update(state=SlotState.OPEN, rater=None, token=None, expires_at=None)
    taken = {unit_request(campaign=campaign, rater=join(campaign)) for _ in range(24)}
    again = next(presentation for presentation in taken if presentation and presentation.slot_id == first.slot_id)
    assert client.post(url("begin", campaign), {"token": str(first.token)}).status_code == 204
    assert Slot.objects.get(pk=first.slot_id).rater == again.rater
    assert lease_seconds(again) == LEASE


def test_an_answer_without_script_counts_after_the_first_minute(campaign: Campaign) -> None:
    client, _ = arrive(campaign)
    shown = client.get(url("work", campaign)).context["presentation"]
    pass_time(UNPROVEN_LEASE + 1)
    client.post(url("submit", campaign), {"token": str(shown.token), "r0-relevance": "4"})
    shown.refresh_from_db()
    assert shown.outcome == "submitted"


def test_a_lease_shorter_than_a_minute_stays_as_it_is(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), lease_seconds=30)
    client, _ = arrive(campaign)
    shown = client.get(url("work", campaign)).context["presentation"]
    assert lease_seconds(shown) == 30
