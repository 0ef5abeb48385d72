"""Raters write references, others rate them, and they are released with weights."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, JobState, Release, WrittenText
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import DESKTOP, EVERY_IMPACT, PHONE, assert_everyone_can_read, sign_in

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


def launch(page: Page) -> str:
    page.get_by_role("button", name="Launch …").click()
    page.get_by_role("dialog").get_by_role("button", name="Launch").click()
    return page.locator("#rater-link").inner_text()


def write(page: Page, text: str) -> None:
    page.get_by_label("Write a reply of your own.").fill(text)
    page.get_by_role("button", name="Send").click()


def test_a_reference_is_written_rated_by_another_rater_and_released(
    worker, live_server, new_page, project, manager, console_errors
) -> None:
    console_errors.allow("status of 400")  # a copy is warned of
    draft = make_campaign(make_dataset(project, items=1, systems=["Ada"]), launch=False, ratings_per_unit=2)
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, manager.username, "password")
    campaigns = f"{live_server.url}/p/chit-chat/campaigns/"
    page.goto(f"{campaigns}{draft.pk}/edit/screen/")
    page.locator("[name=criterion-1-remove]").check()
    page.get_by_text("Raters write a text").click()
    page.get_by_label("A reference: they see the item, and no response").check()
    page.locator("[name=writing-question]").fill("Write a reply of your own.")
    frame = page.frame_locator("iframe.preview-frame")
    expect(frame.get_by_label("Write a reply of your own.")).to_be_visible()  # before anything is saved
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Review").click()
    link = launch(page)

    raters = []
    for name in ("Ann", "Bob"):
        rater = new_page(**PHONE)
        rater.goto(link)
        rater.get_by_label("Name or nickname").fill(name)
        rater.get_by_role("button", name="Start rating").click()
        expect(rater.get_by_text("is what ada would pick")).to_have_count(0)
        write(rater, "A book about the number 0. Do you like numbers?")
        expect(rater.get_by_text("This almost repeats the conversation.")).to_be_visible()
        assert_everyone_can_read(rater, impacts=EVERY_IMPACT)
        rater.get_by_label("Write a reply of your own.").fill(f"{name} likes them very much.")
        rater.reload()  # what was typed is still there
        expect(rater.get_by_label("Write a reply of your own.")).to_have_value(f"{name} likes them very much.")
        rater.get_by_role("button", name="Send").click()
        expect(rater.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
        raters.append(rater)
    assert WrittenText.objects.count() == 2

    page.goto(f"{campaigns}{draft.pk}/written/")
    expect(page.get_by_role("row", name=re.compile("Ann likes them very much."))).to_be_visible()
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Rate what was written").click()
    expect(page.get_by_text("No rater gets their own text.")).to_be_visible()
    second = Campaign.objects.exclude(pk=draft.pk).get()
    Campaign.objects.filter(pk=second.pk).update(consent="", instructions="", ratings_per_unit=1, min_units_per_rater=0)
    page.reload()
    link = launch(page)
    for rater, text in zip(raters, ("Bob likes", "Ann likes"), strict=True):
        rater.goto(link)
        rater.get_by_role("button", name="Start rating").click()
        expect(rater.get_by_text(text)).to_be_visible()  # not one's own
        rater.locator("label.scale-point").nth(4).click()
        rater.get_by_role("button", name="Send").click()
        expect(rater.get_by_role("heading", name="Done. Thank you!")).to_be_visible()

    second.refresh_from_db()
    reference_set_create(dataset=second.dataset, name="Written", campaigns=[second], source_kinds=["human"])
    page.goto(f"{live_server.url}/p/chit-chat/references/written/")
    page.get_by_role("button", name="Build release").click()
    page.get_by_role("navigation", name="Release").wait_for(timeout=60_000)
    release = Release.objects.get()
    assert release.state == JobState.DONE
    weighed = set(release.weights.values_list("response__text", "weight"))
    assert {("Ann likes them very much.", 1.0), ("Bob likes them very much.", 1.0)} <= weighed
