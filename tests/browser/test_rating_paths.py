"""Every scale and presentation, training and test, a lost connection, and right-to-left pages."""

import re
from dataclasses import replace

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Request, expect

from annotation.models import AnswerDraft, Campaign, Item, Participation, Presentation, Project, Rating, Stage
from tests.annotation.worlds import rating_screens
from tests.browser.rater_screens import assert_fits_all_sizes
from tests.browser.support import DESKTOP, EVERY_IMPACT, PHONE, assert_everyone_can_read


@pytest.fixture
def project(transactional_db: None) -> Project:
    return Project.objects.create(name="Chit-chat", slug="chit-chat")


def begin(page: Page, base: str, campaign: Campaign, *, look: bool = False) -> None:
    """Go from the landing page to the first item; if ``look``, check the accessibility of every page on the way."""
    check = assert_accessible if look else lambda page: None
    page.goto(base + reverse("annotation:rater-landing", args=[campaign.link_token]))
    check(page)
    page.locator("form[action$='/consent/'] button[type=submit]").click()
    if campaign.instructions:
        page.wait_for_url("**/instructions/")
        check(page)
        page.locator(".rater-actions .btn-primary").click()
    page.wait_for_url("**/work/")
    check(page)


def assert_accessible(page: Page) -> None:
    """Assert that the page has no violation of any impact, no sideways scrolling and no target below 44 pixels.

    On an item's page, texts are in sight with their questions at every size, and the bars cover nothing.
    """
    assert_everyone_can_read(page, impacts=EVERY_IMPACT)
    if page.locator("#rating").count():
        assert_fits_all_sizes(page)
    small = page.evaluate(
        """() => Array.from(document.querySelectorAll("main button, main a.btn, .rater-bar .btn, .scale-point, select"))
            .filter((target) => target.checkVisibility() && Math.min(target.offsetWidth, target.offsetHeight) < 44)
            .map((target) => target.outerHTML)"""
    )
    assert small == []


def shown_token(page: Page) -> str:
    return page.locator("#rating input[name=token]").input_value()


def send(page: Page) -> None:
    """Send the answer by keyboard, and wait for the next screen."""
    token = shown_token(page)
    page.keyboard.press("Enter")
    page.wait_for_function("token => document.querySelector('#rating input[name=token]')?.value !== token", arg=token)


def values() -> list[tuple[int, str, float | None]]:
    ratings = Rating.objects.order_by("presentation", "criterion__position", "position")
    return list(ratings.values_list("position", "criterion__name", "value"))


def test_a_forced_choice_is_one_key(live_server, new_page, project: Project) -> None:
    page = new_page(**PHONE)
    begin(page, live_server.url, rating_screens.choices(project), look=True)
    page.keyboard.press("1")  # the first is much better
    send(page)
    page.keyboard.press("=")
    send(page)
    assert values() == [(0, "better", 2.0), (1, "better", -2.0), (0, "better", 0.0), (1, "better", 0.0)]


def test_both_texts_are_rated_and_compared_on_one_screen(live_server, new_page, project: Project) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.choices(project, rating_screens.RELEVANT))
    for key in ("4", "2", "5"):
        page.keyboard.press(key)
    send(page)
    assert values() == [(0, "relevance", 4.0), (1, "relevance", 2.0), (0, "better", -2.0), (1, "better", 2.0)]


def test_a_slider_has_no_value_before_it_is_touched(live_server, new_page, project: Project) -> None:
    page = new_page(**PHONE)
    begin(page, live_server.url, rating_screens.sliders(project), look=True)
    slider, number = page.get_by_role("slider"), page.locator("input[type=number]")
    expect(slider).to_have_attribute("aria-valuetext", "not set yet")
    page.keyboard.press("Enter")
    expect(page.locator("#rater-status")).to_contain_text("Not answered yet")
    slider.focus()
    page.keyboard.press("End")
    page.keyboard.press("PageDown")
    expect(number).to_have_value("90")
    assert_accessible(page)
    send(page)
    page.keyboard.type("37")  # a digit goes to the number
    expect(page.locator("input[type=number]")).to_have_value("37")
    send(page)
    assert [value for _, _, value in values()] == [90.0, 37.0]


def test_a_click_on_the_middle_of_a_slider_is_an_answer(live_server, new_page, project: Project) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.sliders(project))
    page.get_by_role("slider").click()
    expect(page.locator("input[type=number]")).to_have_value("50")


def test_a_magnitude_is_given_beside_its_standard(live_server, new_page, project: Project) -> None:
    page = new_page(**PHONE)
    begin(page, live_server.url, rating_screens.magnitudes(project), look=True)
    expect(page.get_by_role("region", name="The text to compare with")).to_contain_text("I prefer")
    expect(page.get_by_text("counts as 100")).to_be_visible()
    page.locator("input[type=number]").fill("0")
    page.keyboard.press("Enter")
    expect(page.locator("#rater-status")).to_contain_text("Not answered yet")
    page.locator("input[type=number]").fill("250.5")
    send(page)
    assert [value for _, _, value in values()] == [250.5]


def test_an_unfinished_list_is_saved_and_continues_in_another_browser(live_server, new_page, project: Project) -> None:
    page = new_page(**PHONE)
    lists = rating_screens.lists(project, cannot_judge_reasons=rating_screens.REASONS)
    begin(page, live_server.url, lists, look=True)
    with page.expect_response("**/draft/") as saved:
        for key in ("5", "4", "3"):
            page.keyboard.press(key)
    assert saved.value.status == 204
    expect(page.locator("#rater-count")).to_have_text("3 of 6")
    assert len(AnswerDraft.objects.get().fields) == 3

    second_browser = new_page(**DESKTOP)  # another browser, with the same signed cookie
    second_browser.context.add_cookies(page.context.cookies())
    second_browser.goto(page.url)
    expect(second_browser.locator("#rater-count")).to_have_text("3 of 6")
    for key in ("1", "1", "1"):
        second_browser.keyboard.press(key)
    send(second_browser)
    assert [value for _, _, value in values()] == [5.0, 4.0, 3.0, 1.0, 1.0, 1.0]

    second_browser.keyboard.press("x")
    first = second_browser.get_by_label("Why not?").first
    with second_browser.expect_response("**/draft/"):
        first.select_option(rating_screens.REASONS[0])
    expect(second_browser.locator("#rater-count")).to_have_text("1 of 6")
    first.select_option("")
    second_browser.reload()  # before the change of mind is sent
    expect(second_browser.locator("#rater-count")).to_have_text("0 of 6")
    expect(second_browser.locator("[data-cannot-judge]").first).to_have_value("")


def test_cannot_judge_needs_only_a_reason(live_server, new_page, project: Project) -> None:
    page = new_page(**DESKTOP)
    reasons = rating_screens.REASONS
    campaign = rating_screens.singles(project, rating_screens.SOUND, cannot_judge_reasons=reasons, comment="optional")
    begin(page, live_server.url, campaign)
    page.keyboard.press("x")
    page.get_by_label("Why not?").select_option(reasons[1])
    assert_accessible(page)
    page.get_by_label("Comment").fill("No words in it.\nNone.")
    token = shown_token(page)
    page.keyboard.press("Control+Enter")
    page.wait_for_function("token => document.querySelector('#rating input[name=token]')?.value !== token", arg=token)
    assert set(Rating.objects.values_list("value", "cannot_judge")) == {(None, reasons[1])}
    assert Presentation.objects.get(token=token).comments.get().text == "No words in it.\nNone."


def test_a_rater_passes_training_fails_and_repeats_the_test_works_and_gets_the_code(
    live_server, new_page, project: Project
) -> None:
    page = new_page(**PHONE)
    begin(page, live_server.url, rating_screens.qualified(project), look=True)
    expect(page.get_by_text("Training 1 of 1")).to_be_visible()
    page.keyboard.press("1")
    send(page)
    expect(page.get_by_role("heading", name="One answer differs from what was expected")).to_be_visible()
    expect(page.get_by_text("A reply to the question is relevant.")).to_be_visible()
    assert_accessible(page)
    page.reload()
    expect(page.get_by_role("heading", name="One answer differs from what was expected")).to_be_visible()

    page.get_by_role("link", name="Go on").click()
    answer_test(page, right=False)
    expect(page.get_by_role("heading", name="Not quite yet")).to_be_visible()
    expect(page.get_by_text("You can try once more.")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="Try again").click()
    answer_test(page, right=True)
    expect(page.get_by_role("heading", name="Passed. Welcome!")).to_be_visible()
    assert_accessible(page)
    assert Participation.objects.get().stage == Stage.WORK

    page.get_by_role("link", name="Start rating").click()
    for _ in range(2):
        page.wait_for_selector("#rating")
        page.wait_for_load_state()
        page.keyboard.press("3")
        send(page)
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    expect(page.locator("#completion-code")).to_have_text("DONE-7")
    assert_accessible(page)


def answer_test(page: Page, *, right: bool) -> None:
    for number in (1, 2):
        expect(page.get_by_text(f"Test {number} of 2")).to_be_visible()
        page.wait_for_load_state()  # the script that takes the keys has run
        known = {"I am well.": "5", "Seven is a prime.": "1"}[page.locator("blockquote").inner_text()]
        page.keyboard.press(known if right else "3")
        send(page)


def _request_name(request: Request) -> str:
    """Return the method and the last part of the URL's path."""
    return f"{request.method} {request.url.rsplit('/', 2)[1]}"


def test_an_answer_takes_one_request(live_server, new_page, project: Project) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.sliders(project))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(_request_name(request)) if "/r/" in request.url else None)
    page.keyboard.type("50")
    send(page)
    assert requests == ["POST submit"]
    expect(page.locator("#rater-title")).to_be_focused()  # a screen reader starts at the new screen


def test_an_answer_survives_a_lost_connection(live_server, new_page, project: Project, console_errors) -> None:
    console_errors.allow("ERR_INTERNET_DISCONNECTED")
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.sliders(project))
    page.context.set_offline(True)
    token = shown_token(page)
    page.keyboard.type("64")
    page.keyboard.press("Enter")
    expect(page.locator("#rater-state")).to_contain_text("Saved here. It will be sent when the connection is back.")
    assert Rating.objects.count() == 0
    page.context.set_offline(False)
    page.wait_for_function("token => document.querySelector('#rating input[name=token]')?.value !== token", arg=token)
    assert [value for _, _, value in values()] == [64.0]


def test_an_unsent_answer_is_sent_by_the_next_page(live_server, new_page, project: Project, console_errors) -> None:
    console_errors.allow("ERR_FAILED|503")
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.sliders(project))
    failures = iter(["503", "cut"])

    def refuse(route):
        kind = next(failures, "cut")
        route.fulfill(status=503, body="busy") if kind == "503" else route.abort()

    page.route("**/submit/", refuse)
    token = shown_token(page)
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Try now")).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())  # confirm leaving with an unsent answer
    page.unroute("**/submit/")
    page.goto(page.url)
    page.wait_for_function("token => document.querySelector('#rating input[name=token]')?.value !== token", arg=token)
    assert [value for _, _, value in values()] == [12.0]
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.startsWith('assay-outbox'))")


def test_a_page_runs_from_right_to_left(live_server, new_page, project: Project) -> None:
    page = new_page(**PHONE, locale="ar")
    begin(page, live_server.url, rating_screens.choices(project, rating_screens.SOUND), look=True)
    assert page.evaluate("getComputedStyle(document.documentElement).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.querySelector('blockquote')).direction") == "ltr"  # its own
    expect(page.get_by_role("button", name="إرسال", exact=True)).to_be_visible()
    for key in ("4", "2", "3"):
        page.keyboard.press(key)
    send(page)
    assert [value for _, _, value in values()] == [4.0, 2.0, 0.0, 0.0]


def test_a_rater_chooses_another_language_and_keeps_the_answers(live_server, new_page, project: Project) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.sliders(project))
    page.keyboard.type("42")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.get_by_role("button", name="Senden")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("input[type=number]")).to_have_value("42")


def test_the_pause_between_screens_counts_down_and_ends_by_itself(live_server, new_page, project: Project) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.sliders(project, seconds_between_units=4))
    page.keyboard.type("42")
    send(page)
    expect(page.get_by_role("heading", name="A moment, please")).to_be_visible()
    assert_accessible(page)
    expect(page.locator("#rating")).to_be_visible(timeout=8000)


def test_a_break_is_suggested_and_leaving_gives_the_code(live_server, new_page, project: Project) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, rating_screens.sliders(project, break_every_units=1, completion_code="DONE-3"))
    page.keyboard.type("42")
    send(page)
    expect(page.get_by_role("heading", name="Time for a break?")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="I am done for now").click()
    expect(page.locator("#completion-code")).to_have_text("DONE-3")
    assert_accessible(page)
    page.get_by_role("link", name=re.compile("Go on rating")).click()
    expect(page.locator("#rating")).to_be_visible()


@pytest.mark.parametrize("make", [rating_screens.sliders, rating_screens.magnitudes, rating_screens.choices])
def test_every_scale_works_without_javascript(live_server, new_page, project: Project, make) -> None:
    page = new_page(**DESKTOP, java_script_enabled=False)
    campaign = make(project)
    page.goto(live_server.url + reverse("annotation:rater-landing", args=[campaign.link_token]))
    page.get_by_role("button", name="Start rating").click()
    number = page.locator("input[type=number]")
    if number.count():
        expect(page.locator("input[type=range]")).to_be_hidden()
        number.fill("60")
    else:
        page.get_by_label("A much better").check()
    token = shown_token(page)
    page.get_by_role("button", name="Send").click()
    assert shown_token(page) != token
    assert Rating.objects.exists()


def test_on_a_small_phone_both_texts_and_their_scales_are_in_reach(live_server, new_page, project: Project) -> None:
    """One question and two short answers at 360 by 640: nothing but the scale stands below an answer."""
    labelled = replace(rating_screens.RELEVANT, labels=["Bad", "Poor", "Fair", "Good", "Excellent"])
    campaign = rating_screens.choices(
        project,
        criteria=[labelled],
        cannot_judge_reasons=rating_screens.REASONS,
        instructions="Read both texts with care, please.\n\n" * 40,
    )
    Item.objects.update(context=[], message="How can I sleep better in summer?")
    page = new_page(**{**PHONE, "viewport": {"width": 360, "height": 640}})
    begin(page, live_server.url, campaign)
    ends = page.evaluate(
        "() => Array.from(document.querySelectorAll('.scale'), (one) => one.getBoundingClientRect().bottom)"
    )
    assert len(ends) == 2
    assert max(ends) <= page.locator("#rating .rater-actions").bounding_box()["y"]
    Item.objects.update(
        message="I think of moving to a smaller town near the coast. What would you do in my place? " * 4
    )
    page.reload()
    marked = page.locator(".scale.is-current").bounding_box()  # begins in sight: its last label is not under Send
    assert marked["y"] + marked["height"] <= page.locator("#rating .rater-actions").bounding_box()["y"]
    edges = page.locator(".scale-points").first.bounding_box()
    assert edges["x"] >= 16  # within the text's margin
    assert edges["x"] + edges["width"] <= 344
    expect(page.get_by_label("Why not?").first).to_be_hidden()
    page.locator(".cannot-judge > summary").first.click()
    expect(page.get_by_label("Why not?").first).to_be_visible()
    page.locator("[data-dialog-open='instructions']").click()
    dialog = page.locator("#instructions")
    expect(dialog).to_be_visible()
    assert dialog.evaluate("(one) => one.scrollHeight > one.clientHeight && one.scrollTop === 0")
    expect(dialog.get_by_role("heading", name="Instructions")).to_be_focused()
