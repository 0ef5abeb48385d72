"""Whole dialogues: imported, asked about turn by turn and at the end, rated on a phone by keys, in the results."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Rating
from tests.annotation.worlds.dialogues import dialogues_file
from tests.browser.support import DESKTOP, EVERY_IMPACT, assert_everyone_can_read, sign_in

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]
SMALL_PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}


def imported(page: Page, address: str, file: Path) -> None:
    page.goto(f"{address}/imports/new/")
    page.get_by_label("Name of the data set").fill("Bookings")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/datasets/bookings/")


def designed(page: Page, address: str) -> str:
    """Design and launch a campaign with a criterion for turns and one for the whole; return the rater link."""
    page.goto(f"{address}/campaigns/")
    page.get_by_label("Name").fill("Which assistant books better?")
    page.get_by_role("button", name="Begin: Ask my own question").click()
    page.get_by_role("button", name="Save and go on").last.click()
    page.locator("[name=criterion-1-question]").fill("Does this turn make sense?")
    page.locator("[name=criterion-1-scope]").select_option(
        label="Each turn of the system in a dialogue, below the turn"
    )
    frame = page.frame_locator("iframe.preview-frame")
    expect(frame.get_by_role("group", name="Does this turn make sense?")).to_have_count(2)  # before anything is saved
    page.locator(".criterion.is-unused > summary").first.click()
    page.locator("[name=criterion-2-question]").fill("How good is it as a whole?")
    page.locator("[name=criterion-2-name]").fill("whole")
    page.get_by_role("button", name="Raters and payment").click()
    page.get_by_label("Ratings of each response").fill("1")
    page.get_by_role("button", name="Review").click()
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Launch …").click()
    page.get_by_role("dialog").get_by_role("button", name="Launch").click()
    return page.locator("#rater-link").inner_text()


def test_dialogues_are_imported_rated_turn_by_turn_and_at_the_end_and_compared(
    worker, live_server, new_page, project, manager, console_errors, tmp_path
) -> None:
    console_errors.allow("status of 400")
    file = tmp_path / "bookings.jsonl"
    file.write_bytes(dialogues_file())
    page, address = new_page(**DESKTOP), f"{live_server.url}/p/chit-chat"
    sign_in(page, live_server.url, manager.username, "password")
    imported(page, address, file)
    link = designed(page, address)

    rater = new_page(**SMALL_PHONE)
    rater.goto(link)
    rater.get_by_role("button", name="Start rating").click()
    expect(rater.locator(".dialogue-turn")).to_have_count(4)
    expect(rater.locator("#rater-count")).to_have_text("0 of 3")
    assert_everyone_can_read(rater, impacts=EVERY_IMPACT)
    rater.keyboard.press("4")
    expect(rater.locator("#rater-count")).to_have_text("1 of 3")
    with rater.expect_response("**/draft/"):
        rater.keyboard.press("5")
    rater.keyboard.press("Enter")
    expect(rater.locator(".errorlist")).to_have_text(["Please choose an answer."])  # of the whole
    expect(rater.locator("#rater-status")).to_contain_text("Not answered yet: How good is it as a whole?")
    rater.evaluate("localStorage.clear()")
    rater.reload()  # the server has the draft
    expect(rater.locator("#rater-count")).to_have_text("2 of 3")
    rater.keyboard.press("3")
    rater.keyboard.press("Enter")
    expect(rater.get_by_text("1 rated").first).to_be_visible()
    rater.get_by_role("link", name="Back").click()
    rater.locator("[data-turn]").first.locator("label.scale-point").nth(0).click()
    rater.get_by_role("button", name="Save the change").click()
    expect(rater.get_by_text("Your earlier answer has been changed.")).to_be_visible()
    assert sorted(Rating.objects.values_list("turn", "revision", "value"), key=str) == [
        (1, 0, 4),
        (1, 1, 1),
        (3, 0, 5),
        (None, 0, 3),
    ]
    for done in (2, 3, 4):
        for key in "225":
            rater.keyboard.press(key)
        rater.keyboard.press("Enter")
        if done < 4:
            expect(rater.get_by_text(f"{done} rated").first).to_be_visible()
    expect(rater.get_by_role("heading", name="Done. Thank you!")).to_be_visible()

    campaign = Campaign.objects.get()
    page.goto(f"{address}/campaigns/{campaign.pk}/results/")
    expect(page.get_by_role("heading", name="Whole", exact=True)).to_be_visible()
    # One dialogue has (1 + 5) / 2 and all others (2 + 2) / 2: its system has 2.5, the other one 2.
    expect(page.locator(".results-sentence")).to_contain_text("apart: +0.50 on a scale of")
    expect(page.locator(".results-systems").first).to_contain_text("2.50")
    expect(page.get_by_text("the mean over the turns of its system").first).to_be_visible()
    assert_everyone_can_read(page)
    page.goto(f"{address}/campaigns/{campaign.pk}/ratings/")
    expect(page.get_by_text("turn 4").first).to_be_visible()
