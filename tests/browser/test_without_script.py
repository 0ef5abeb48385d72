"""What a manager can do without JavaScript: act, confirm, download, sign out."""

import pytest
from playwright.sync_api import expect

from annotation.models import CampaignState
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import DESKTOP, PHONE, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def draft(project):
    return make_campaign(make_dataset(project), launch=False)


def test_a_campaign_is_launched_and_closed_after_a_confirmation(live_server, new_page, draft, manager):
    page = new_page(java_script_enabled=False, **PHONE)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{draft.pk}/")

    page.locator("details.confirm > summary", has_text="Launch …").click()
    expect(page.locator(".confirm-panel")).to_contain_text("freezes the design")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_text("Link for raters")).to_be_visible()

    page.locator("details.confirm > summary", has_text="Close …").click()
    page.get_by_role("button", name="Close it", exact=True).click()
    expect(page.get_by_text("Closed: no more ratings are accepted.")).to_be_visible()
    draft.refresh_from_db()
    assert draft.state == CampaignState.CLOSED


def test_a_table_is_downloaded_a_member_removed_and_the_session_ended(live_server, new_page, project, owner, viewer):
    page = new_page(java_script_enabled=False, **DESKTOP)
    sign_in(page, live_server.url, owner.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/members/")

    page.get_by_label("Download the members").click()
    with page.expect_download() as file:
        page.get_by_role("link", name="CSV table").click()
    assert "vera-viewer" in file.value.path().read_text()
    page.get_by_label("Download the members").click()  # the menu stays open, over the table

    row = page.get_by_role("row").filter(has_text="vera-viewer")
    row.locator("details.confirm > summary", has_text="Remove").click()
    row.get_by_role("button", name="Remove", exact=True).locator("visible=true").click()
    expect(page.get_by_role("row").filter(has_text="vera-viewer")).to_have_count(0)
    assert not project.memberships.filter(user=viewer).exists()

    page.get_by_label("Account of").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("banner").get_by_role("link", name="Sign in")).to_be_visible()
