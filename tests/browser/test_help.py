"""Help from any page: what the page is for, the glossary, a document with its pictures, all on one journey."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Project, User
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, assert_no_barrier, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_help_is_in_reach_of_every_page(
    project: Project, viewer: User, live_server, new_page: Callable[..., Page]
) -> None:
    page = new_page(**PHONE)
    sign_in(page, live_server.url, viewer.username, "password")
    page.goto(f"{live_server.url}/p/{project.slug}/references/")
    menu = page.locator("details.help-menu")
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(menu).to_contain_text("A reference set says which responses are references")
    expect(menu.locator(".help-panel")).to_be_in_viewport(ratio=1)
    assert_everyone_can_read(page)

    page.keyboard.press("Escape")
    expect(menu.get_by_text("About this page", exact=True)).to_be_hidden()
    menu.locator("summary").click()
    menu.get_by_role("link", name="Weight", exact=True).click()
    expect(page).to_have_url(re.compile("/help/glossary/#weight$"))
    assert_everyone_can_read(page)

    page.get_by_role("link", name="More about Weight").click()
    expect(page).to_have_url(re.compile("/help/docs/methods/#ratings-to-weights$"))
    expect(page.get_by_role("heading", name="Ratings to weights")).to_be_in_viewport()
    expect(page.locator(".fold[open]")).to_have_count(1)  # the link unfolds its section and no other
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Unfold all sections").click()
    page.get_by_role("button", name="Fold all sections").click()
    expect(page.locator(".fold[open]")).to_have_count(0)
    assert_everyone_can_read(page, tallest=3_500)
    page.goto(f"{live_server.url}/help/docs/tour/")
    assert_everyone_can_read(page, tallest=3_500)
    page.get_by_role("button", name="Unfold all sections").click()
    picture = page.get_by_role("img", name="A corpus: how many triples").first
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 300
    assert_everyone_can_read(page)

    page.goto(f"{live_server.url}/help/")
    page.get_by_role("searchbox").fill("krippendorff")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Alpha (Krippendorff)").click()
    expect(page).to_have_url(re.compile("#alpha-krippendorff$"))


def test_headers_explain_themselves_on_focus_on_hover_and_as_a_list_on_a_phone(
    project: Project, viewer: User, live_server, new_page: Callable[..., Page]
) -> None:
    make_campaign(make_dataset(project, items=1))
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, viewer.username, "password")
    page.goto(f"{live_server.url}/p/{project.slug}/campaigns/")
    header, note = page.get_by_role("button", name="Items"), page.get_by_role("tooltip")
    before = header.bounding_box()
    header.focus()
    expect(note).to_contain_text("Items of the data set about which")
    expect(header).to_have_accessible_description(re.compile("Items of the data set about which"))
    assert header.bounding_box() == before
    assert_no_barrier(page)
    page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    page.get_by_role("button", name="Slots filled").hover()
    expect(note).to_contain_text("How many answers there are")

    page.set_viewport_size(PHONE["viewport"])
    page.get_by_text("What the columns mean").click()
    expect(page.get_by_text("Items of the data set about which")).to_be_visible()
    assert_everyone_can_read(page)
