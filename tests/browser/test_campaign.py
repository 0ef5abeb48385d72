"""Campaigns are created from a template, launched, rated and closed; and cloned."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, CampaignState, Rating
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, assert_no_barrier, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_campaign_is_created_from_a_template_launched_rated_and_closed(live_server, new_page, project, manager):
    make_dataset(project, items=1, systems=["Ada", "Bo"])
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/")
    page.get_by_label("Name").fill("Which reply fits?")
    page.get_by_role("button", name="Begin: Ask my own question").click()
    expect(page.get_by_role("heading", name="What is rated")).to_be_visible()

    page.get_by_role("button", name="Save and go on").last.click()
    expect(page.get_by_role("heading", name="Screen and scale")).to_be_visible()
    frame = page.frame_locator("iframe.preview-frame")
    expect(frame.get_by_text("How good is this reply?")).to_be_visible()
    page.locator("[name=criterion-1-question]").fill("How relevant is the reply?")
    expect(frame.get_by_text("How relevant is the reply?")).to_be_visible()  # before anything is saved
    assert Campaign.objects.get().criteria.get().question == "How good is this reply?"
    page.locator("[name=criterion-1-labels]").fill("one\ntwo")
    expect(page.locator("[data-preview-status]")).to_contain_text("found 2 labels for 5 points")
    page.get_by_role("button", name="Save and go on").last.click()
    expect(page.get_by_text("found 2 labels for 5 points").first).to_be_visible()
    expect(page.locator(".criterion[open]")).to_have_count(1)  # the mistake opens no criterion that was not touched
    assert_no_barrier(page)
    page.locator("[name=criterion-1-labels]").fill("")
    page.get_by_role("button", name="Raters and payment").click()  # another step, saving this one
    page.get_by_label("Ratings of each response").fill("1")
    assert_parts_of_a_step_unfold(page)
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", name="Ready to be launched")).to_be_visible()
    expect(page.get_by_text("the agreement of raters cannot be measured")).to_be_visible()
    assert_no_barrier(page)
    remark = page.get_by_role("listitem").filter(has_text="5 s for it are short")
    remark.get_by_role("link", name="Raters and payment").click()
    expect(page.locator(".fold[open]")).to_have_count(1)
    page.get_by_label("Seconds for an answer").fill("300")
    page.get_by_role("button", name="Review").click()

    expect(page.locator("main .btn-primary:visible")).to_have_text("Launch …")
    page.get_by_role("button", name="Launch …").click()
    page.get_by_role("dialog").get_by_role("button", name="Launch").click()
    link = page.locator("#rater-link").inner_text()
    page.get_by_text("Slots filled").wait_for()
    assert_no_barrier(page)

    rater = new_page(**PHONE)
    rater.goto(link)
    rater.get_by_role("button", name="Start rating").click()
    rater.locator("label.scale-point").nth(3).click()
    rater.get_by_role("button", name="Send").click()
    rater.get_by_text("1 rated").first.wait_for()
    assert Rating.objects.get().value == 4
    rater.locator("label.scale-point").nth(1).click()
    rater.get_by_role("button", name="Send").click()
    rater.get_by_text("2 rated").first.wait_for()

    campaign_page = page.url
    page.reload()
    page.get_by_role("link", name="See the results").click()
    expect(page.locator(".results-width")).to_contain_text("Only one rater rated")
    assert_everyone_can_read(page, tallest=5_000)
    assert_results_are_downloaded(page)
    page.goto(campaign_page)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("nothing is handed out until you resume")).to_be_visible()
    page.get_by_role("button", name="Close …").click()
    page.get_by_role("dialog").get_by_role("button", name="Close it").click()
    expect(page.get_by_text("Closed: no more ratings are accepted.")).to_be_visible()
    assert Campaign.objects.get().state == CampaignState.CLOSED
    rater.reload()
    expect(rater.get_by_role("button", name="Send")).to_have_count(0)


def assert_parts_of_a_step_unfold(page: Page) -> None:
    """Assert that the folded parts say what is set, open by a key, and open by themselves for their own mistakes."""
    folds = page.locator(".fold")
    expect(folds.locator("summary")).to_contain_text(
        ["without a limit; no pause between answers", "600 seconds, then another", "No completion code."]
    )
    time = folds.filter(has_text="Time for an answer")
    time.locator("summary").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Seconds for an answer").fill("1")
    expect(time.locator("summary")).to_contain_text("Changed, not saved yet.")
    page.get_by_role("button", name="Save and go on").last.click()
    expect(page.locator(".fold[open]").get_by_text("greater than or equal to 5")).to_be_visible()
    expect(page.locator(".fold[open]")).to_have_count(1)
    assert_no_barrier(page)
    page.get_by_label("Seconds for an answer").fill("5")


FIRST_BYTES = {  # of each file: what a program that reads the format looks for first
    "CSV table": b"criterion,system,estimate",
    "JSON": b'{"campaigns"',
    "JSON Lines": b'{"criterion"',
    "Parquet": b"PAR1",
    "SVG picture": b"<svg",
    "PNG picture": b"\x89PNG",
    "PDF": b"%PDF",
}


def assert_results_are_downloaded(page: Page) -> None:
    """Assert that each link of the results' downloads gives its format."""
    downloaded = []
    for menu in page.locator("#results details.menu").all():
        for link in menu.locator("a.menu-item").all():
            menu.locator("summary").click()
            name = link.inner_text().strip()
            with page.expect_download() as file:
                link.click()
            begins = Path(file.value.path()).read_bytes()[:40]
            differences = "pairs" in file.value.suggested_filename
            expected = FIRST_BYTES[name].replace(b"system,estimate", b"first") if differences else FIRST_BYTES[name]
            assert begins.startswith(expected), (file.value.suggested_filename, begins)
            downloaded.append(name)
    assert set(downloaded) == set(FIRST_BYTES)
    with page.expect_download() as file:
        page.get_by_role("link", name="LaTeX").click()
    assert Path(file.value.path()).read_text().startswith(r"\begin{tabular}")


def test_a_campaign_is_cloned_given_a_gold_screen_launched_and_closed(live_server, new_page, project, manager):
    make_campaign(make_dataset(project, items=2, systems=["Ada", "Bo"]), name="First round")
    page = new_page(**PHONE)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{Campaign.objects.get().pk}/design/")
    page.get_by_role("link", name="Clone").click()
    page.get_by_label("Name").fill("Second round")
    page.get_by_role("button", name="Clone").click()
    page.get_by_role("link", name="Quality").last.click()
    page.get_by_label("One check in every so many responses").fill("5")
    page.get_by_label("Gold: the answer is known").fill("1")
    page.get_by_text("Checks that you write").click()
    page.get_by_role("button", name="Save, and add an item: Gold").click()
    assert_no_barrier(page)
    page.get_by_label("Find a text in chat").fill("about the number 1")
    page.get_by_role("radio", name="Number 1 is what ada").check()
    assert_no_barrier(page)
    page.get_by_role("button", name="Use this text").click()
    expect(page.get_by_label("Item")).to_have_value("item-1")
    expect(page.get_by_label("Text to rate")).to_have_value("Number 1 is what ada would pick.")
    page.get_by_label("relevance: expected").fill("5")
    page.get_by_label("±").fill("1")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("link", name="Number 1 is what ada would pick.")).to_be_visible()
    assert_no_barrier(page)
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Launch …").click()
    page.get_by_role("dialog").get_by_role("button", name="Launch").click()
    expect(page.get_by_text("Launched: the design is frozen.")).to_be_visible()
    page.get_by_role("button", name="Close …").click()
    page.get_by_role("dialog").get_by_role("button", name="Close it").click()
    clone = Campaign.objects.get(name="Second round")
    assert clone.state == CampaignState.CLOSED
    assert clone.quality["gold"][0]["texts"][0]["expected"] == {"relevance": [4.0, 5.0]}
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/compare/?left={clone.pk}&right={clone.pk - 1}")
    expect(page.get_by_role("heading", name="fields differ")).to_be_visible()


def test_an_example_project_is_made_in_one_click(live_server, new_page, outsider):
    page = new_page(**PHONE)
    sign_in(page, live_server.url, outsider.username, "password")
    page.goto(f"{live_server.url}/projects/")
    page.get_by_role("link", name="Example projects").click()
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Make the example: Is the output faithful to the meaning?").click()
    expect(page.get_by_role("heading", name="Ready to be launched")).to_be_visible()
    expect(page.get_by_role("button", name="Launch …")).to_be_visible()


def test_the_steps_work_without_script(live_server, new_page, project, manager):
    draft = make_campaign(make_dataset(project, items=1), launch=False)
    page = new_page(**DESKTOP, java_script_enabled=False)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{draft.pk}/edit/screen/")
    expect(page.frame_locator("iframe.preview-frame").get_by_text("How relevant is the response?")).to_be_visible()
    page.get_by_text("Add a criterion").first.click()
    page.locator("[name=criterion-2-question]").fill("Is it kind?")
    page.locator("[name=criterion-2-name]").fill("kind")
    page.get_by_role("button", name="Save and go on").last.click()
    expect(page.get_by_role("heading", name="Words")).to_be_visible()
    assert list(draft.criteria.values_list("name", flat=True)) == ["relevance", "kind"]
