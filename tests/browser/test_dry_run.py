"""The pages of dry runs, on a desktop and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.annotation.dry_runs.test_views import make_run
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import PHONE, assert_everyone_can_read, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_dry_run_is_read_and_compared_with_another(live_server, new_page, project, manager):
    campaign = make_campaign(make_dataset(project), launch=False)
    make_run(campaign)
    latest = make_run(campaign, spam_share=0.3)
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{campaign.pk}/dry-runs/")
    assert_everyone_can_read(page)

    page.get_by_role("link", name=f"Dry run {latest.pk}").click()
    page.wait_for_selector("[data-chart] svg.marks")
    expect(page.locator("[data-chart][aria-busy]")).to_have_count(
        0
    )  # charts that are drawn late move what is below them
    page.get_by_text("raters with answers").click()
    page.get_by_text("gold accuracy 0.20 of 5 answers").wait_for()
    assert_everyone_can_read(page)

    page.get_by_role("button", name="Compare").click()
    page.get_by_role("row", name="Spammers (differs)").wait_for()
    assert_everyone_can_read(page)
