"""The browse page of a release, with 6,400 references or, if size does not matter, with a few."""

import re
import time
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import expect

from benchmarks.references import RARE, made_release
from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, assert_no_barrier, sign_in

pytestmark = pytest.mark.django_db(transaction=True)

IN_PAGE = "[...document.querySelectorAll('[data-reference]')].map((one) => Number(one.id.replace('reference-', '')))"
FOCUSED = "document.activeElement.id"


@pytest.fixture
def large(project, manager):
    return made_release(project, 400, 16)


@pytest.fixture
def few(project, manager):
    return made_release(project, 12, 16)


def address(live_server, release, query=""):
    return f"{live_server.url}/p/chit-chat/references/{release.reference_set.slug}/v1/browse/{query}"


def in_order(release):
    return list(release.weights.order_by("item_position", "-weight", "id").values_list("response_id", flat=True))


def query_of(page):
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def total(page):
    return page.locator("#browse-total").inner_text()


def settle(page, text):
    page.wait_for_function("(text) => document.getElementById('browse-total')?.textContent.includes(text)", arg=text)


def test_many_thousand_references_can_be_scrolled_searched_and_filtered(live_server, page_desktop, large):
    page, expected = page_desktop, in_order(large)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(address(live_server, large))
    assert total(page) == "6,400 references of 400 items"
    scroll_down_and_back(page, expected)
    use_keys(page, expected)
    search(page)
    drag_over_the_distribution(page)
    page.goto(address(live_server, large, f"?at={expected[5_600]}"))
    assert page.evaluate(IN_PAGE)[0] == expected[5_600]
    page.get_by_role("link", name="Earlier items").click()
    page.wait_for_url(re.compile("before="))
    assert expected[5_599] in page.evaluate(IN_PAGE)
    sort_by_width(page, large)


def scroll_down_and_back(page, expected):
    """While scrolling, the page always holds consecutive references of the release."""
    furthest, most_held = 0, 0
    ends = time.monotonic() + 90  # a busy machine loads pages slowly
    while time.monotonic() < ends:
        ids = page.evaluate(IN_PAGE)
        at = expected.index(ids[0])
        assert ids == expected[at : at + len(ids)]
        furthest, most_held = max(furthest, at + len(ids)), max(most_held, len(ids))
        if furthest >= 900:
            break
        page.mouse.wheel(0, 2500)
        page.wait_for_timeout(40)
    assert furthest >= 900
    assert most_held < 700  # pages far above are removed
    # Scrolling back loads them again.
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_selector(f"#reference-{expected[0]}")
    assert page.evaluate(IN_PAGE)[:16] == expected[:16]  # the first item's


def use_keys(page, expected):
    """Keys select references and items, open the conversation, and open the reference's page."""
    page.mouse.wheel(0, 1500)  # a page of the list may end with the first item
    page.wait_for_selector(f"#reference-{expected[17]}", state="attached")
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == f"reference-{expected[2]}"
    page.keyboard.press("k")
    assert page.evaluate(FOCUSED) == f"reference-{expected[1]}"
    page.keyboard.press("n")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == f"reference-{expected[17]}"
    conversation = page.locator(f"#reference-{expected[17]} details.mined")
    if conversation.count():
        page.keyboard.press("c")
        assert conversation.evaluate("(one) => one.open")
        page.keyboard.press("c")
        assert not conversation.evaluate("(one) => one.open")
    page.keyboard.press("o")
    page.wait_for_url(re.compile(rf"/responses/{expected[17]}/"))
    page.go_back()
    page.wait_for_selector(f"#reference-{expected[17]}")
    assert page.locator(f"#reference-{expected[17]}").bounding_box()["y"] < 800


def search(page):
    """A key focuses the field, matches are marked, a chip removes the filter."""
    page.keyboard.press("/")
    page.keyboard.type(RARE)
    page.keyboard.press("Enter")
    settle(page, "7 references of 7 items")
    assert query_of(page) == {"text": RARE}
    assert set(page.locator(".reference mark").all_text_contents()) == {RARE}
    page.get_by_role("link", name=f"Remove the filter “{RARE}”").click()
    settle(page, "6,400 references")


def drag_over_the_distribution(page):
    """It filters, updates the fields, and adds to the history."""
    plot = page.locator(".brush-plot svg").first.bounding_box()
    across = lambda weight: plot["x"] + plot["width"] * (weight + 1.025) / 2.05  # noqa: E731
    page.mouse.move(across(-0.9), plot["y"] + 30)
    page.mouse.down()
    page.mouse.move(across(-0.5), plot["y"] + 30, steps=5)
    page.mouse.up()
    settle(page, "More than 1,000 references")
    assert query_of(page) == {"low": "-0.9", "high": "-0.5"}
    weights = page.evaluate("[...document.querySelectorAll('.reference .weight')].map((one) => one.textContent)")
    assert {-0.9 <= float(weight.replace("−", "-")) <= -0.5 for weight in weights} == {True}
    page.go_back()
    settle(page, "6,400 references")
    assert page.locator("#browse_low").input_value() == ""
    page.go_forward()
    settle(page, "More than 1,000 references")
    assert query_of(page) == {"low": "-0.9", "high": "-0.5"}


def sort_by_width(page, release):
    """By reference, far down: the next page is loaded there, too."""
    page.get_by_role("link", name="By reference").click()
    page.wait_for_url(re.compile("view=references"))  # a choice made in the page that is left would be lost with it
    page.get_by_label("Order").select_option("Widest interval first")
    page.wait_for_url(re.compile("sort=-width"))
    page.mouse.wheel(0, 4000)
    page.wait_for_function("() => document.querySelectorAll('[data-reference]').length >= 48")
    widths = dict(release.weights.values_list("response_id", "high"))
    lows = dict(release.weights.values_list("response_id", "low"))
    ids = page.evaluate(IN_PAGE)
    assert len(set(ids)) == len(ids)
    shown = [widths[pk] - lows[pk] for pk in ids]
    assert shown == sorted(shown, reverse=True)


def test_the_distribution_can_be_brushed_by_keyboard_and_touch(live_server, page_phone, few):
    page = page_phone
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(address(live_server, few))
    page.get_by_text("Filters", exact=True).click()
    page.get_by_role("slider", name="Weight from").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"low=-0\.95"))
    page.get_by_role("link", name="Remove the filter Weight from −0.95").wait_for()
    page.goto(address(live_server, few))
    page.get_by_text("Filters", exact=True).click()
    plot = page.locator(".brush-plot svg").first
    box = plot.bounding_box()
    touch = {"pointerType": "touch", "pointerId": 7, "bubbles": True, "button": 0, "clientY": box["y"] + 20}
    plot.evaluate("(one) => (one.setPointerCapture = () => {})")  # synthetic pointers cannot be captured
    for kind, share in (("pointerdown", 0.55), ("pointermove", 0.7), ("pointermove", 0.9), ("pointerup", 0.9)):
        plot.dispatch_event(kind, touch | {"clientX": box["x"] + share * box["width"]})
    page.wait_for_url(re.compile("low=0.1&high=0.8"))
    held = few.weights.filter(weight__gte=0.1, weight__lte=0.8).count()
    assert 0 < held < few.weights.count()
    settle(page, f"{held} references of")


def test_a_copied_link_opens_its_reference(live_server, new_page, few):
    chosen = in_order(few)[100]
    page = new_page(**DESKTOP, permissions=["clipboard-read", "clipboard-write"])
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(address(live_server, few, f"?at={chosen}"))
    row = page.locator(f"#reference-{chosen}")
    row.hover()
    row.get_by_role("button", name="Copy the link to this reference").click()
    link = page.wait_for_function("() => navigator.clipboard.readText()").json_value()  # it is written a moment later
    page.goto("about:blank")
    page.goto(link)
    expect(row).to_be_focused()
    assert 0 <= row.bounding_box()["y"] < 800


def test_everything_works_without_script(live_server, new_page, few):
    page, expected = new_page(**DESKTOP, java_script_enabled=False), in_order(few)
    sign_in(page, live_server.url, "max-manager", "password")
    page.goto(address(live_server, few))
    ids = []
    while True:
        names = page.locator(".reference").evaluate_all("(all) => all.map((one) => one.id)")
        ids += [int(name.removeprefix("reference-")) for name in names]
        following = page.get_by_role("link", name="Next items")
        if not following.count():
            break
        with page.expect_navigation():
            following.click()
    assert ids == expected
    page.get_by_role("spinbutton", name="Weight from").fill("0.5")
    page.get_by_label("Sign").select_option("Positive")
    with page.expect_navigation():
        page.get_by_role("button", name="Apply filters").click()
    n = few.weights.filter(weight__gte=0.5).count()
    assert total(page).startswith(f"{n} reference")
    mined = page.locator("details.mined").first
    mined.get_by_text("From another conversation").click()
    assert mined.locator(".turn").first.is_visible()
    with page.expect_navigation():
        page.get_by_role("link", name="As a table").click()
    assert page.locator(".table-one .seed").count() > 0
    with page.expect_download() as download:
        page.get_by_role("link", name="LaTeX").click()
    assert download.value.suggested_filename == "chit-chat-references-192-v1-table.tex"


def test_the_pages_are_accessible(live_server, new_page, few):
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    for query in ("", "?view=references&text=rain&low=-0.5&sort=-spread&sign=positive", "?view=table"):
        page.goto(address(live_server, few, query))
        page.get_by_text("Filters", exact=False).first.click()
        for mined in page.locator("details.mined > summary").all()[:1]:
            mined.click()
        assert_everyone_can_read(page)
    page.keyboard.press("?")
    assert page.get_by_role("heading", name="Keyboard").is_visible()
    assert_no_barrier(page, include="#keyboard-help")
