"""Rating by keyboard on a desktop and by touch on a phone, with reloads, corrections and double clicks."""

import re
from uuid import UUID

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.campaigns.fields.table import CriterionDraft
from annotation.models import Campaign, Presentation, PresentationOutcome, Project, Rating, Slot, SlotState, Unit
from tests.annotation.worlds.campaigns import INFORMATIVENESS, RELEVANCE, make_campaign, make_dataset
from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, assert_no_barrier


@pytest.fixture
def project(transactional_db: None) -> Project:
    return Project.objects.create(name="Chit-chat", slug="chit-chat")


@pytest.fixture
def singles(project: Project) -> Campaign:
    return make_campaign(
        make_dataset(project, items=1),
        criteria=[RELEVANCE, INFORMATIVENESS],
        instructions="Read *everything*.",
        consent="I agree.",
        completion_code="DONE-1",
    )


@pytest.fixture
def pairs(project: Project) -> Campaign:
    return make_campaign(make_dataset(project, items=1, systems=["Ada", "Bo"]), presentation="pair", ratings_per_unit=1)


def begin(page: Page, base: str, campaign: Campaign) -> None:
    page.goto(base + reverse("annotation:rater-landing", args=[campaign.link_token]))
    if campaign.consent:
        page.get_by_label("I have read this and agree").check()
    page.get_by_role("button", name=re.compile("Continue|Start rating")).click()
    if campaign.instructions:
        page.wait_for_url("**/instructions/")
        page.get_by_role("link", name="Begin").click()
    page.wait_for_url("**/work/")


def shown_token(page: Page) -> str:
    return page.locator("input[name=token]").first.input_value()


def chosen(page: Page) -> list[str]:
    return [radio.get_attribute("value") or "" for radio in page.locator("input[type=radio]:checked").all()]


def test_single_responses_are_rated_with_digits_and_enter_alone(live_server, new_page, singles) -> None:
    page = new_page(**DESKTOP)
    with page.expect_response("**/begin/") as reported:
        begin(page, live_server.url, singles)
    assert reported.value.status == 204
    assert_no_barrier(page)
    expect(page.locator("#rater-progress")).to_have_text("0 rated, up to 3 left")
    for done in range(3):
        token = shown_token(page)
        page.keyboard.press("4")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.wait_for_function("token => document.querySelector('input[name=token]')?.value !== token", arg=token)
        assert Presentation.objects.filter(outcome=PresentationOutcome.SUBMITTED).count() == done + 1
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    expect(page.locator("#completion-code")).to_have_text("DONE-1")
    assert_no_barrier(page)
    assert sorted(Rating.objects.values_list("criterion__name", "value")) == [
        *[("informativeness", 2.0)] * 3,
        *[("relevance", 4.0)] * 3,
    ]


def test_a_key_opens_the_instructions_and_enter_sends_no_incomplete_answer(live_server, new_page, singles) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, singles)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Instructions")
    expect(dialog).to_contain_text("Read everything.")
    expect(dialog).to_contain_text("Next question, previous question")
    expect(dialog).not_to_contain_text("Move a slider")
    expect(dialog.get_by_text("Back to your answer before")).to_be_hidden()  # there is none yet
    page.keyboard.press("5")  # nothing is rated behind the dialog
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert chosen(page) == []
    page.keyboard.press("3")
    page.keyboard.press("k")  # back to the first question; Enter then finds the second unanswered
    page.keyboard.press("Enter")
    expect(page.locator("#rater-status")).to_contain_text("Not answered yet: How informative")
    open_question = page.get_by_role("group", name="How informative")
    message = open_question.get_by_text("Please choose an answer.")
    expect(message).to_be_in_viewport()
    expect(open_question.locator("input").first).to_be_focused()
    assert_no_barrier(page)
    page.keyboard.press("j")  # the mouse meets the same message
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Please choose an answer.")).to_have_count(1)
    assert Rating.objects.count() == 0
    page.keyboard.press("4")
    expect(message).to_have_count(0)


def test_a_reload_keeps_the_unit_its_order_and_the_unsent_answers(live_server, new_page, pairs) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, pairs)
    texts = page.locator("blockquote").all_inner_texts()
    token = shown_token(page)
    page.keyboard.press("5")
    page.reload()
    assert shown_token(page) == token
    assert page.locator("blockquote").all_inner_texts() == texts
    assert chosen(page) == ["5"]
    page.keyboard.press("1")  # goes on with the second response
    assert chosen(page) == ["5", "1"]
    page.keyboard.press("Enter")
    page.wait_for_url("**/finish/")
    assert {(rating.position, rating.response.text): rating.value for rating in Rating.objects.all()} == {
        (0, texts[0]): 5.0,
        (1, texts[1]): 1.0,
    }


def test_a_key_goes_back_to_correct_an_answer(live_server, new_page, singles) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, singles)
    first = shown_token(page)
    for key in ("1", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#rater-back")).to_be_visible()
    second = shown_token(page)
    page.keyboard.press("z")
    page.wait_for_url(re.compile(f"unit={first}"))
    assert chosen(page) == ["1", "1"]
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your earlier answer has been changed.")).to_be_visible()
    assert shown_token(page) == second
    current = Rating.objects.filter(presentation__token=first, criterion__name="relevance").order_by("revision")
    assert list(current.values_list("value", flat=True)) == [1.0, 5.0]


def test_a_second_tab_says_that_the_screen_was_answered_and_loses_nothing(
    live_server, new_page, singles, console_errors
) -> None:
    console_errors.allow("status of 409")
    first_tab = new_page(**DESKTOP)
    begin(first_tab, live_server.url, singles)
    second_tab = first_tab.context.new_page()
    console_errors.listen_to(second_tab)
    second_tab.goto(first_tab.url)
    token = shown_token(second_tab)
    for key in ("1", "2"):
        second_tab.keyboard.press(key)
    for key in ("5", "5", "Enter"):
        first_tab.keyboard.press(key)
    expect(second_tab.get_by_text("You have just answered this item in another tab.")).to_be_visible()
    assert chosen(second_tab) == ["1", "2"]
    second_tab.keyboard.press("Enter")
    expect(second_tab.get_by_role("alert")).to_contain_text("You have already answered this item")
    expect(second_tab.get_by_role("alert")).to_be_focused()
    assert_no_barrier(second_tab)
    assert chosen(second_tab) == ["1", "2"]
    assert set(Rating.objects.values_list("value", flat=True)) == {5.0}
    second_tab.get_by_role("button", name="Save the change").click()
    expect(second_tab.get_by_text("Your earlier answer has been changed.")).to_be_visible()
    assert set(Rating.objects.filter(presentation__token=token, revision=1).values_list("value", flat=True)) == {
        1.0,
        2.0,
    }


def test_the_browsers_back_button_carries_no_answer_over_to_another_unit(live_server, new_page, singles) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, singles)
    first = shown_token(page)
    for key in ("5", "5", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("token => document.querySelector('input[name=token]')?.value !== token", arg=first)
    second = shown_token(page)
    page.go_back()  # to the answer just given, as the button does
    page.wait_for_url(re.compile(f"unit={first}"))
    expect(page.locator("input[type=radio]:checked")).to_have_count(2)
    page.go_forward()
    page.wait_for_url("**/work/")
    expect(page.locator("#rating input[name=token]")).to_have_value(second)
    assert chosen(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("#rater-status")).to_contain_text("Not answered yet")
    assert set(Rating.objects.values_list("presentation__token", flat=True)) == {UUID(first)}


def test_going_back_and_sending_again_or_clicking_twice_counts_once(live_server, new_page, singles) -> None:
    page = new_page(**DESKTOP)
    begin(page, live_server.url, singles)
    first = shown_token(page)
    page.keyboard.press("3")
    page.keyboard.press("3")
    page.get_by_role("button", name="Send").dblclick()
    page.wait_for_function("token => document.querySelector('input[name=token]')?.value !== token", arg=first)
    page.go_back()
    page.wait_for_load_state()
    if shown_token(page) == first:  # the browser kept the page: send it once more
        page.get_by_role("button", name=re.compile("Send|Save")).click()
        page.wait_for_load_state()
    assert Rating.objects.filter(presentation__token=first).count() == 2
    assert Unit.objects.get(presentations__token=first).done_slots == 1
    assert Slot.objects.filter(state=SlotState.DONE).count() == 1


def test_a_pair_is_rated_with_one_thumb_on_a_phone(live_server, new_page, pairs) -> None:
    page = new_page(**PHONE)
    begin(page, live_server.url, pairs)
    assert_everyone_can_read(page)
    for target in page.locator(".scale-point, .rater-actions .btn, .rater-bar .btn").all():
        box = target.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_in_viewport()  # sticky: no scrolling to reach it
    cards = page.locator(".response-card")
    cards.nth(0).locator(".scale-point").nth(3).tap()
    cards.nth(1).locator(".scale-point").nth(0).tap()
    send.tap()
    page.wait_for_url("**/finish/")
    assert list(Rating.objects.order_by("position").values_list("value", flat=True)) == [4.0, 1.0]


def test_the_best_and_the_worst_are_chosen_by_keyboard_on_a_narrow_screen(live_server, new_page, project) -> None:
    question = CriterionDraft("quality", "Which reply is the best, and which the worst?", kind="best_worst")
    dataset = make_dataset(project, items=1, systems=["Ada", "Bo", "Cy", "Di"])
    campaign = make_campaign(
        dataset, criteria=[question], presentation="list", target="outputs", ratings_per_unit=1, name="Replies"
    )
    page = new_page(viewport={"width": 360, "height": 640})
    page.goto(live_server.url + reverse("annotation:rater-landing", args=[campaign.link_token]))
    expect(page.get_by_text("You read a list of texts and choose the best and the worst of them.")).to_be_visible()
    begin(page, live_server.url, campaign)
    assert_no_barrier(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    expect(page.locator("#rater-count")).to_have_text("0 of 2")
    page.keyboard.press("2")
    assert chosen(page) == ["1"]
    expect(page.locator("#rater-count")).to_have_text("1 of 2")
    page.keyboard.press("3")
    assert chosen(page) == ["1", "2"]
    expect(page.locator("#rater-count")).to_have_text("2 of 2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Done. Thank you!")).to_be_visible()
    assert list(Rating.objects.order_by("position").values_list("value", flat=True)) == [0.0, 1.0, -1.0, 0.0]


def test_everything_works_without_javascript(live_server, new_page, singles, console_errors) -> None:
    console_errors.allow("status of 400")
    page = new_page(**DESKTOP, java_script_enabled=False)
    page.goto(live_server.url + reverse("annotation:rater-landing", args=[singles.link_token]))
    page.get_by_label("I have read this and agree").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Begin").click()
    page.locator("input[name^='r0-relevance'][value='5']").check()
    page.locator("form#rating").evaluate("form => form.noValidate = true")  # what an older browser does
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("one answer below is still needed")
    expect(page.locator("input[name^='r0-informativeness']").first).to_be_focused()
    for _ in range(2):
        page.locator("input[name^='r0-relevance'][value='5']").check()
        page.locator("input[name^='r0-informativeness'][value='1']").check()
        page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Skip").click()
    expect(page.get_by_role("button", name="Rate what you skipped")).to_be_visible()
    assert Rating.objects.count() == 4
    assert Presentation.objects.filter(outcome=PresentationOutcome.RETURNED).count() == 1
