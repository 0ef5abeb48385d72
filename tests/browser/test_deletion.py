"""An owner deletes a campaign from its menu and watches until it is gone."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Campaign, DataDeletion, Membership, Project, Role, User
from annotation.removal.services import deletion_execute
from annotation.removal.tasks import data_delete
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import DESKTOP, assert_everyone_can_read, sign_in


@pytest.fixture
def campaign(transactional_db: None) -> Campaign:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    owner = User.objects.create_user("olga-owner", password="password")
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    return make_campaign(make_dataset(project, items=2), launch=False)


def test_a_campaign_is_deleted_and_its_page_says_so_meanwhile(
    live_server, new_page, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_delete, "delay_on_commit", lambda deletion_id: None)  # the worker is busy
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, "olga-owner", "password")
    detail = live_server.url + reverse("annotation:campaign-detail", args=["chit-chat", campaign.pk])
    page.goto(f"{detail}delete/")
    page.get_by_label("The campaign's name").fill(campaign.name)
    page.get_by_role("button", name="Delete for ever").click()
    expect(page.get_by_text("is being deleted. Until that is done")).to_be_visible()
    assert_everyone_can_read(page)

    other = new_page(**DESKTOP)
    sign_in(other, live_server.url, "olga-owner", "password")
    other.goto(detail, wait_until="commit")
    expect(other.get_by_text("This campaign is being deleted.")).to_be_visible()
    assert_everyone_can_read(other)

    deletion_execute(deletion_id=DataDeletion.objects.get().pk)
    expect(page.get_by_text(f"The campaign “{campaign.name}” is deleted.")).to_be_visible()  # it renews itself
    assert_everyone_can_read(page)
    page.get_by_role("link", name="All campaigns").click()
    expect(page.get_by_role("heading", name="Campaigns")).to_be_visible()
    assert not Campaign.objects.exists()
