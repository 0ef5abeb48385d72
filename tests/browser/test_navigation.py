"""The navigation of a project on a phone, where the tasks are a menu."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import DESKTOP, EVERY_IMPACT, FITS, PHONE, assert_no_barrier, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_on_a_phone_a_menu_leads_from_task_to_task(live_server, new_page, project, owner):
    page = new_page(**PHONE)
    sign_in(page, live_server.url, owner.username, "password")
    page.goto(live_server.url + reverse("annotation:campaign-list", args=[project.slug]))
    tasks = page.get_by_role("navigation", name="Project")
    menu, audit = tasks.locator("summary"), tasks.get_by_role("link", name="Audit log")
    expect(menu).to_contain_text("Rate")
    expect(tasks.get_by_role("link", name="Campaigns")).to_have_attribute("aria-current", "page")
    expect(audit).to_be_hidden()

    menu.focus()
    page.keyboard.press("Enter")
    expect(audit).to_be_visible()
    assert_no_barrier(page, include=".tasks")
    assert page.evaluate(FITS)
    page.keyboard.press("Escape")
    expect(audit).to_be_hidden()

    menu.click()
    audit.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Audit log")
    expect(menu).to_contain_text("Members")
    expect(audit).to_have_attribute("aria-current", "page")


def test_on_a_phone_the_pages_of_a_campaign_are_a_menu(live_server, new_page, project, owner):
    campaign = make_campaign(make_dataset(project))
    page = new_page(**PHONE)
    sign_in(page, live_server.url, owner.username, "password")
    page.goto(live_server.url + reverse("annotation:campaign-design", args=[campaign.project.slug, campaign.pk]))
    pages = page.get_by_role("navigation", name="Campaign", exact=True)
    menu, records = pages.locator("summary"), pages.get_by_role("link", name="Records")
    expect(menu).to_contain_text("Design")
    expect(records).to_be_hidden()

    menu.click()
    expect(pages.get_by_role("link", name="Design")).to_have_attribute("aria-current", "page")
    assert_no_barrier(page, include=".subnav", impacts=EVERY_IMPACT)
    assert page.evaluate(FITS)
    records.click()
    expect(menu).to_contain_text("Records")

    page.set_viewport_size(DESKTOP["viewport"])
    expect(menu).to_be_hidden()
    expect(records).to_have_attribute("aria-current", "page")
