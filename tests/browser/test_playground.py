"""The playground: scores update while typing, and rows are added and removed by keyboard."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, sign_in
from tests.metrics.played import train_models

pytestmark = pytest.mark.django_db(transaction=True)

LIKED = {
    "h": "i do not know what you mean",
    "s": "do you like my song ?",
    "r": ["i do like it , it is beautiful", "i know what you mean", "i do not know"],
    "w": ["0.9", "0.3", "-0.6"],
}


@pytest.fixture
def models(project, settings, tmp_path):
    settings.MODELS_DIR = tmp_path / "models"
    return train_models(project, "lsa", "language_model")


@pytest.fixture
def opened(live_server, new_page, project, manager):
    def open_page(query: str = "", **options):
        page = new_page(**(options or DESKTOP))
        sign_in(page, live_server.url, "max-manager", "password")
        page.goto(live_server.url + reverse("metrics:playground", args=[project.slug]) + query)
        return page

    return open_page


def typed(page, number: int, text: str, weight: str = "1") -> None:
    page.get_by_label(f"Reference {number}", exact=True).fill(text)
    page.get_by_label(f"Weight of reference {number},").fill(weight)


def first_of(held_routes, page):
    """Wait until the page has sent a request, and return its route."""
    for _ in range(1_800):
        if held_routes:
            break
        page.wait_for_timeout(50)
    return held_routes[0]


def headline(page, name: str):
    return page.locator(".play-headline .stat", has_text=name).first.locator(".stat-value")


def test_the_page_is_accessible(opened, models):
    page = opened(**PHONE)
    assert_everyone_can_read(page)
    page.get_by_role("link", name="Liked and disliked").click()
    page.get_by_role("heading", name="n-gram by n-gram").wait_for()
    page.locator("#play-scores-title").wait_for()
    for summary in ("How n-grams are counted", "Adequacy, fluency, embeddings"):
        page.get_by_text(summary, exact=True).click()
    assert_everyone_can_read(page)


def test_scores_update_while_typing_and_the_url_keeps_the_texts(opened, models, live_server):
    page = opened()
    page.get_by_label("Output").first.press_sequentially("i hope you find her")
    typed(page, 1, "i hope you find her soon", "0.8")
    expect(headline(page, "ΔBLEU")).to_have_text("0.819")
    expect(page.locator("#play-said")).to_contain_text("ΔBLEU 0.819")
    expect(page).to_have_url(re.compile(re.escape("h=i+hope+you+find+her")))
    # The focus stays in the field.
    assert page.evaluate("document.activeElement.id") == "weight-1"
    page.reload()
    expect(headline(page, "ΔBLEU")).to_have_text("0.819")
    # N-grams are highlighted on hover, also in fragments that were loaded later.
    page.get_by_label("Output").first.fill("i hope you find him")
    expect(headline(page, "ΔBLEU")).not_to_have_text("0.819")
    page.locator('.gram-text a[aria-label^="hope you: "]').hover()
    expect(page.locator("#r1 .is-lit")).to_have_text(["hope", "you"])


def test_rows_are_added_and_removed_by_keyboard(opened, models):
    page = opened("?h=a+b&r=a+b&w=0.5")
    page.get_by_role("button", name="Add a reference").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Reference 2", exact=True)).to_be_focused()
    page.keyboard.type("a b c")
    expect(page.locator("#r2")).to_be_visible()
    page.get_by_role("button", name="Remove reference 1").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Reference 1", exact=True)).to_have_value("a b c")
    expect(page.locator("#r2")).to_have_count(0)


def test_a_row_added_right_after_typing_appears_and_keeps_the_typed_text(opened, models):
    page = opened("?h=a+b&r=a+b&w=0.5")
    console_messages, held_routes = [], []
    page.on("console", lambda message: console_messages.append(message.text))
    page.route("**/playground/", lambda route: held_routes.append(route) if not held_routes else route.continue_())
    # In one step: on a busy machine the form's delay after typing could end before a click of its own.
    page.get_by_role("button", name="Add a reference").evaluate(
        """(button, weight) => {
            weight.value = "-0.4";
            weight.dispatchEvent(new Event("input", {bubbles: true}));
            weight.dispatchEvent(new Event("change", {bubbles: true}));
            button.click();
        }""",
        page.get_by_label("Weight of reference 1,").element_handle(),
    )
    page.wait_for_timeout(600)  # longer than the form's delay after typing
    first_of(held_routes, page).continue_()
    expect(page.get_by_label("Reference 2", exact=True)).to_be_focused()
    expect(page.get_by_label("Weight of reference 1,")).to_have_value("-0.4")
    assert [text for text in console_messages if "htmx" in text] == []
    # Scores update again.
    page.keyboard.type("a b c")
    expect(page.locator("#r2")).to_be_visible()


def test_text_typed_before_a_row_is_loaded_is_kept_and_scored(opened, models):
    page = opened("?h=a+b&r=a+b&r=c&w=0.5&w=0.2")
    held_routes = []
    page.route("**/playground/", lambda route: held_routes.append(route) if not held_routes else route.continue_())
    page.get_by_role("button", name="Add a reference").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("a b d")
    page.get_by_label("Weight of reference 2,").fill("-0.3")
    page.wait_for_timeout(400)  # nothing answered yet
    first_of(held_routes, page).continue_()
    expect(page.locator("#r3")).to_be_visible()
    expect(page.get_by_label("Reference 3", exact=True)).to_have_value("a b d")
    expect(page.get_by_label("Weight of reference 2,")).to_have_value("-0.3")
    expect(page.get_by_label("Weight of reference 2,")).to_be_focused()
    # Rows move up while text is typed in them.
    held_routes.clear()
    page.get_by_role("button", name="Remove reference 1").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Reference 3", exact=True).press_sequentially(" e")
    first_of(held_routes, page).continue_()
    expect(page.get_by_label("Reference 3", exact=True)).to_have_count(0)
    expect(page.get_by_label("Reference 2", exact=True)).to_have_value("a b d e")
    expect(page.get_by_label("Reference 2", exact=True)).to_be_focused()
    expect(page.locator("#r2 .ref-text")).to_have_text("a b d e")


def test_an_error_is_shown_at_its_field_and_the_text_is_kept(opened, models):
    page = opened("?h=a+b&r=a+b")
    page.get_by_label("Weight of reference 1,").fill("3")
    expect(page.locator("#weight-1-errors")).to_have_text("Found “3”; accepted: a number from −1 to 1.")
    expect(page.get_by_role("alert")).to_contain_text("cannot be scored")
    page.get_by_label("Weight of reference 1,").fill("0.3")
    expect(page.locator("#weight-1-errors")).to_have_text("")
    expect(headline(page, "ΔBLEU")).to_have_text("1.000")


def test_another_reference_can_be_compared_word_by_word(opened, models):
    page = opened("?h=that+movie+was+great&r=it+was+a+good+film&r=what+do+you+think")
    page.get_by_role("group", name="AM with each reference alone").get_by_label("Reference 2:").click()
    expect(page.locator("#choose-am-2")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("versus=2"))
    expect(page.get_by_role("columnheader", name="Reference 2")).to_be_visible()


def test_chinese_without_spaces_can_be_split(opened, models):
    page = opened("?h=猫在屋顶上&r=我的猫在屋顶上睡觉")
    page.get_by_role("button", name="Split with “zh”").click()
    expect(page.locator(".gram-text .tok")).to_have_count(5)
    expect(page.locator("#id_tokenize")).to_have_value("zh")


def test_without_script_the_button_scores_and_rows_can_be_added(opened, models):
    page = opened(java_script_enabled=False, **DESKTOP)
    page.get_by_label("Output").first.fill("i hope you find her")
    typed(page, 1, "i hope you find her soon", "0.8")
    page.get_by_role("button", name="Add a reference").click()
    typed(page, 2, "no idea", "-0.5")
    page.get_by_role("button", name="Score", exact=True).click()
    assert headline(page, "ΔBLEU").inner_text() == "0.819"
    assert "w=-0.5" in page.url
