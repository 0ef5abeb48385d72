"""Changes to a running campaign from its pages: a preview, then the change."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.services.lifecycle import campaign_close
from annotation.models import Amendment, Campaign, Project, Slot, Unit, User
from annotation.quality.services.decisions import rater_exclude
from annotation.quality.services.operations import system_stop
from annotation.quality.views.operations import OPERATIONS
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next

AsUser = Callable[[User], Client]


@pytest.fixture
def campaign(project: Project) -> Campaign:
    campaign = make_campaign(make_dataset(project, items=4), item_limit=2)
    Campaign.objects.filter(pk=campaign.pk).update(payment_per_unit="0.5", payment_fee_percent=20)
    return Campaign.objects.get(pk=campaign.pk)


def url(campaign: Campaign, operation: str) -> str:
    return reverse("annotation:campaign-operation", args=[campaign.project.slug, campaign.pk, operation])


def text(response: object) -> str:
    return " ".join(response.content.decode().split())  # type: ignore[attr-defined]


FORM_DATA = {
    "extend": {"ratings_per_unit": 4},
    "top-up": {"ratings": 3, "question": "The weights of all texts"},
    "stop-system": {"system": "Ada"},
    "resume-system": {"system": "Bo"},
    "add-items": {"item_limit": 3},
    "replace-excluded": {},
    "reopen-unjudged": {"per_unit": 1},
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_only_managers_of_the_project_change_a_campaign(
    campaign: Campaign, outsider: User, viewer: User, client: Client, as_user: AsUser, operation: str
) -> None:
    address = url(campaign, operation)
    for method in ("get", "post"):
        assert getattr(as_user(outsider), method)(address, FORM_DATA[operation]).status_code == 404
        assert getattr(as_user(viewer), method)(address, FORM_DATA[operation]).status_code == 403
        assert getattr(client, method)(address).headers["Location"].startswith(reverse("login"))
    assert not Amendment.objects.exists()


def test_an_unknown_operation_is_404(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    assert as_user(manager).get(url(campaign, "explode")).status_code == 404


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_preview_changes_nothing(campaign: Campaign, manager: User, as_user: AsUser, operation: str) -> None:
    client = as_user(manager)
    assert client.get(url(campaign, operation)).status_code == 200
    assert client.get(url(campaign, operation), FORM_DATA[operation]).status_code == 200
    assert not Amendment.objects.exists()
    assert Slot.objects.count() == 12


def test_extending_shows_slots_and_costs_before_it_adds_them(
    campaign: Campaign, manager: User, as_user: AsUser
) -> None:
    client = as_user(manager)
    assert "See what will happen" in text(client.get(url(campaign, "extend")))
    page = text(client.get(url(campaign, "extend"), FORM_DATA["extend"]))
    assert "Each of the 6 items gets 2 more slots: 12 in total." in page
    assert "up to 6.00 GBP, or 7.20 with the provider&#x27;s fee" in page
    response = client.post(url(campaign, "extend"), FORM_DATA["extend"], follow=True)
    assert "The slots are added" in text(response)
    assert Slot.objects.count() == 24
    assert Amendment.objects.get().made_by == manager
    repeated = client.post(url(campaign, "extend"), FORM_DATA["extend"])  # the button is pressed twice
    assert repeated.status_code == 400
    assert "Found 4; accepted: 5 to 100" in text(repeated)
    assert Slot.objects.count() == 24


def test_a_system_is_stopped_and_resumed(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    assert "2 items with 4 unfilled slots are no longer handed out" in text(
        client.get(url(campaign, "stop-system"), FORM_DATA["stop-system"])
    )
    client.post(url(campaign, "stop-system"), FORM_DATA["stop-system"])
    assert Unit.objects.filter(stopped=True).count() == 2
    assert "2 items stopped" in text(client.get(url(campaign, "extend")))
    repeated = client.post(url(campaign, "stop-system"), FORM_DATA["stop-system"])
    assert repeated.status_code == 400
    assert "handed out again" in text(client.get(url(campaign, "resume-system"), {"system": "Ada"}))
    client.post(url(campaign, "resume-system"), {"system": "Ada"})
    assert not Unit.objects.filter(stopped=True).exists()


def test_items_are_added_up_to_a_higher_limit(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    assert "Now the first 2; the data set has 4." in text(client.get(url(campaign, "add-items")))
    preview = text(client.get(url(campaign, "add-items"), {"item_limit": 3}))
    assert "1 new item of the data set, 3 items to rate, 6 slots" in preview
    assert "accepted: 2 or more" in text(client.get(url(campaign, "add-items"), {"item_limit": 1}))
    client.post(url(campaign, "add-items"), {"item_limit": 3})
    assert Unit.objects.count() == 9


def test_excluded_raters_are_replaced(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    assert "nothing to replace" in text(client.get(url(campaign, "replace-excluded")))
    rater = join(campaign)
    rate_next(campaign, rater)
    rater_exclude(campaign=campaign, rater=rater, reason="Spam")
    assert "1 slot filled by 1 excluded rater" in text(client.get(url(campaign, "replace-excluded")))
    client.post(url(campaign, "replace-excluded"))
    assert not Unit.objects.filter(done_slots__gt=0).exists()


def test_a_closed_campaign_says_why_nothing_can_be_changed(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    campaign_close(campaign=campaign)
    client = as_user(manager)
    for operation, data in FORM_DATA.items():
        assert "The campaign is closed" in text(client.get(url(campaign, operation), data))
        assert client.post(url(campaign, operation), data).status_code == 400
    overview = reverse("annotation:campaign-detail", args=[campaign.project.slug, campaign.pk])
    assert "/change/" not in text(client.get(overview))


def test_the_overview_links_managers_to_the_operations(
    campaign: Campaign, manager: User, viewer: User, as_user: AsUser
) -> None:
    overview = reverse("annotation:campaign-detail", args=[campaign.project.slug, campaign.pk])
    assert url(campaign, "extend") in text(as_user(manager).get(overview))
    assert "/change/" not in text(as_user(viewer).get(overview))


def test_a_stopped_system_can_only_be_resumed(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    system_stop(campaign=campaign, system=campaign.dataset.systems.get(name="Bo"))
    client = as_user(manager)
    assert '<option value="Bo"' in text(client.get(url(campaign, "resume-system")))
    assert '<option value="Bo"' not in text(client.get(url(campaign, "stop-system")))
