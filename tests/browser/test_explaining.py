"""The explanation of ΔBLEU by pointer, keyboard and touch, and without JavaScript."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, assert_no_barrier, sign_in
from tests.metrics.conversations import ARABIC, Conversations, make_conversations

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def talk(project) -> Conversations:
    return make_conversations(project)


def item_url(live_server, conversations: Conversations, query: str = "") -> str:
    args = [conversations.project.slug, conversations.reference_set.slug, 1, conversations.items[0].pk]
    return live_server.url + reverse("metrics:release-item", args=args) + query


def highlighted(page, number: int) -> list[str]:
    """Return the highlighted tokens of a reference."""
    return page.locator(f"#r{number} .ref-text .is-lit").all_inner_texts()


def mark(page, hypothesis: str, words: str):
    return page.locator(".hypothesis", has=page.get_by_role("heading", name=hypothesis)).locator(
        f'.gram-text a[aria-label^="{words}: "]'
    )


def test_the_pages_are_accessible(live_server, new_page, talk, manager):
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    for query in ("?order=4", "?reference=1"):
        page.goto(item_url(live_server, talk, query))
        assert_everyone_can_read(page)
    page.locator(".matches summary").first.click()
    assert_no_barrier(page, include=".hypothesis")
    liked = talk.reference(0, "you should not have let her out")
    page.goto(f"{live_server.url}{reverse('annotation:response-detail', args=['chit-chat', liked.pk])}")
    page.get_by_text("negative ones").wait_for()
    page.get_by_role("heading", name="Score runs and studies").click()
    page.get_by_text("No score run and no study uses").wait_for()
    assert_everyone_can_read(page)


def test_hovering_an_n_gram_marks_its_winner_and_other_holders(live_server, page_desktop, talk, manager):
    page = page_desktop
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(item_url(live_server, talk))

    mark(page, "Echo = Twin", "you find").hover()
    assert highlighted(page, 1) == ["you", "find"]
    tray = page.get_by_label("What is pointed at")
    assert "2-gram of Echo = Twin" in tray.inner_text()
    assert "1 × 0.8 = +0.8 of at most 0.8" in tray.inner_text()

    mark(page, "Bore", "i").hover()
    assert highlighted(page, 1) == highlighted(page, 4) == ["i"]
    assert page.locator("#r1 [data-note]").inner_text() == "wins"
    assert page.locator("#r4 [data-note]").inner_text() == "would give 0.0"
    assert page.locator("#r6 [data-note]").inner_text() == "would give −0.7"

    page.get_by_role("heading", name="Item 1").hover()
    assert tray.is_hidden()
    assert highlighted(page, 1) == []


def test_choosing_a_reference_marks_its_n_grams_and_updates_the_url(live_server, page_desktop, talk, manager):
    page = page_desktop
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(item_url(live_server, talk))

    page.get_by_role("link", name="Everything that reference 5 won").click()
    marked = page.locator(".gram-text .is-on").all_inner_texts()
    assert marked == ["not", "not"]
    assert highlighted(page, 5) == ["not"]
    expect(page).to_have_url(re.compile("reference=5"))

    page.reload()
    assert page.locator(".gram-text .is-on").all_inner_texts() == ["not", "not"]
    page.keyboard.press("Escape")
    assert page.locator(".is-on").count() == 0
    expect(page).not_to_have_url(re.compile("reference="))


def test_arrow_keys_move_between_n_grams(live_server, page_desktop, talk, manager):
    page = page_desktop
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(item_url(live_server, talk))

    def focused_words() -> str:
        return page.evaluate("document.activeElement.getAttribute('aria-label')").split(":")[0]

    page.get_by_role("link", name="Echo = Twin").focus()
    page.keyboard.press("Tab")
    assert focused_words() == "i"
    assert highlighted(page, 1) == ["i"]
    page.keyboard.press("ArrowRight")
    assert focused_words() == "hope"
    page.keyboard.press("ArrowDown")
    assert focused_words() == "i hope"
    assert highlighted(page, 1) == ["i", "hope"]
    page.keyboard.press("ArrowRight")
    assert focused_words() == "you find"
    page.keyboard.press("ArrowUp")
    assert focused_words() == "you"
    page.keyboard.press("End")
    assert focused_words() == "her"
    # Each text is one tab stop: the next Tab leaves it.
    page.keyboard.press("Tab")
    assert not page.evaluate("Boolean(document.activeElement.closest('.gram-text'))")
    # Enter pins the choice, so that its link can be shared.
    mark(page, "Echo = Twin", "hope").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#h2-g2"))
    page.reload()
    assert highlighted(page, 1) == ["hope"]


def test_in_arabic_the_right_arrow_moves_back(live_server, page_desktop, project, manager):
    conversations = make_conversations(project, ARABIC, language="ar", slug="ar")
    page = page_desktop
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(item_url(live_server, conversations))
    words = page.locator(".gram-text").first.locator("a.gram")
    offsets = [box["x"] for box in (word.bounding_box() for word in words.all())]
    # Arabic runs from right to left; the English name within it from left to right.
    assert offsets[0] > offsets[1] > offsets[2] > offsets[4] > offsets[3]
    words.first.focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == words.nth(1).inner_text()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == words.first.inner_text()


def test_a_tap_on_a_phone_describes_an_n_gram_and_offers_longer_ones(live_server, page_phone, talk, manager):
    page = page_phone
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(item_url(live_server, talk))

    mark(page, "Echo = Twin", "hope").tap()
    tray = page.get_by_label("What is pointed at")
    assert tray.bounding_box()["y"] + tray.bounding_box()["height"] <= 741
    tray.get_by_role("button", name="hope you").tap()
    assert "2-gram of Echo = Twin" in tray.inner_text()
    assert highlighted(page, 1) == ["hope", "you"]
    tray.get_by_role("button", name="Clear the choice").tap()
    assert tray.is_hidden()


def test_without_script_every_mark_links_to_its_row(live_server, new_page, talk, manager):
    page = new_page(java_script_enabled=False, **DESKTOP)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(item_url(live_server, talk))
    key = mark(page, "Echo = Twin", "hope you").get_attribute("href")
    assert page.locator(key).get_by_text("reference 1").count() == 1
    with page.expect_navigation():
        page.get_by_role("link", name="Everything that reference 5 won").click()
    assert page.get_by_text("Marked: the 2 n-grams that reference 5 won, −0.8 in all.").is_visible()
    assert page.locator(".gram-text .is-on").count() == 2
    liked = talk.reference(0, "i like cats")
    page.goto(f"{live_server.url}{reverse('annotation:response-detail', args=['chit-chat', liked.pk])}")
    with page.expect_navigation():
        page.get_by_role("link", name="All n-gram matches with outputs").click()
    assert page.get_by_role("heading", name="i like cats").is_visible()
