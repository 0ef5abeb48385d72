"""A manager makes a campaign by its form, launches it, a rater rates, the manager pauses and closes it."""

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, CampaignState, Rating
from tests.annotation.campaigns import make_dataset
from tests.browser.support import DESKTOP, PHONE, axe, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_campaign_from_its_form_to_its_end(live_server, new_page, project, manager):
    make_dataset(project, items=1, systems=["Ada", "Bo"])
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/datasets/chat/")
    page.get_by_role("link", name="New campaign").first.click()
    axe(page)
    page.get_by_label("Name", exact=True).first.fill("Which reply fits?")
    page.get_by_label("Ratings of each unit").fill("1")
    page.locator("[name=criterion-1-name]").fill("relevance")
    page.locator("[name=criterion-1-question]").fill("How relevant is the reply?")
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.get_by_role("heading", name="Which reply fits?")).to_be_visible()
    axe(page)

    page.get_by_role("button", name="Launch …").click()
    page.get_by_role("dialog").get_by_role("button", name="Launch").click()
    link = page.locator("#rater-link").inner_text()
    page.get_by_text("Slots filled").wait_for()
    axe(page)

    rater = new_page(**PHONE)
    rater.goto(link)
    rater.get_by_role("button", name="Start rating").click()
    rater.wait_for_url("**/work/")
    axe(rater)
    rater.locator("label.scale-point").nth(3).click()
    rater.get_by_role("button", name="Send").click()
    expect(rater.locator("#rater-progress")).to_have_text("1 rated, up to 1 left")
    assert Rating.objects.get().value == 4

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("nothing is handed out until you resume")).to_be_visible()
    page.get_by_role("button", name="Close …").click()
    page.get_by_role("dialog").get_by_role("button", name="Close it").click()
    expect(page.get_by_text("Closed: no more ratings are accepted.")).to_be_visible()
    page.get_by_role("heading", name="Agreement").wait_for()
    axe(page)
    assert Campaign.objects.get().state == CampaignState.CLOSED
    rater.reload()
    expect(rater.get_by_role("button", name="Send")).to_have_count(0)
