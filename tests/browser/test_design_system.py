import pytest

from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, assert_no_barrier

pytestmark = [pytest.mark.urls("tests.browser.urls"), pytest.mark.django_db]

CHART_TEXT_COLOUR = "document.querySelector('[data-chart] svg .role-axis-label text')?.getAttribute('fill')"
LOADED_FONTS = """async () => {
    await document.fonts.ready;
    const loaded = [...document.fonts].filter((face) => face.status === "loaded");
    return loaded.map((face) => face.family.replaceAll('"', ""));
}"""
NUMBER_WIDTHS = """() => ["11111", "08648"].map((digits) => {
    const cell = document.querySelector("td.num").appendChild(document.createElement("span"));
    cell.textContent = digits;
    return cell.getBoundingClientRect().width;
})"""
PALE = """<!doctype html><html lang="en"><title>Pale</title><main><h1>Pale</h1>
    <p id="paragraph" style="color: #ccc">Hard to read</p>
    <p style="color: #ccc"><!-- no text of its own --><b id="within">Hard to read</b></p>
    <input id="field" aria-label="Name" value="Hard to read" style="color: #ccc; background: #fff"></main></html>"""
FOCUSED = "document.activeElement.innerText.trim().split(/\\s+/)[0]"


@pytest.fixture
def styleguide(live_server):
    def visit(page):
        page.goto(f"{live_server.url}/styleguide/")
        page.wait_for_selector("[data-chart] svg.marks")
        return page

    return visit


def test_every_component_is_accessible_and_fits_the_screen(new_page, styleguide):
    assert_everyone_can_read(styleguide(new_page(**PHONE)))


def test_a_text_of_too_little_contrast_is_found_wherever_it_is(page_desktop):
    page_desktop.set_content(PALE)
    with pytest.raises(AssertionError, match="color-contrast") as found:
        assert_no_barrier(page_desktop)
    assert [name for name in ("#paragraph", "#within", "#field") if name not in str(found.value)] == []


def test_its_own_fonts_are_used_with_digits_of_one_width(page_desktop, styleguide):
    page = styleguide(page_desktop)
    assert {"Source Sans 3 Variable", "Source Serif 4 Variable"} <= set(page.evaluate(LOADED_FONTS))
    ones, others = page.evaluate(NUMBER_WIDTHS)
    assert ones == pytest.approx(others)


def test_charts_draw_without_evaluating_strings_and_follow_the_theme(page_desktop, styleguide):
    policy = []
    page_desktop.on("response", lambda response: policy.append(response.headers.get("content-security-policy")))
    page = styleguide(page_desktop)
    assert "script-src 'self';" in policy[0]
    light = page.evaluate(CHART_TEXT_COLOUR)

    page.get_by_role("button", name="Dark theme").click()

    page.wait_for_function(f"light => ![light, undefined].includes({CHART_TEXT_COLOUR})", arg=light)


def test_the_theme_follows_the_system_until_one_is_chosen_and_remembered(new_page, styleguide):
    page = styleguide(new_page(theme="dark", **DESKTOP))
    toggle = page.get_by_role("button", name="Dark theme")
    assert toggle.get_attribute("aria-pressed") == "true"

    toggle.click()
    page.reload()
    assert toggle.get_attribute("aria-pressed") == "false"

    toggle.click()
    page.emulate_media(color_scheme="light")
    # A function: the content security policy lets no later frame evaluate a bare expression.
    page.wait_for_function("() => document.documentElement.dataset.bsTheme === 'light'")


def test_j_and_k_move_between_rows_and_enter_opens_them(page_desktop, styleguide):
    page = styleguide(page_desktop)

    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == "81c0"
    page.keyboard.press("k")
    assert page.evaluate(FOCUSED) == "7f3a"
    page.keyboard.press("Enter")

    page.wait_for_url("**/#tables")


def test_keys_typed_into_a_field_are_text_not_commands(page_desktop, styleguide):
    page = styleguide(page_desktop)

    page.get_by_label("Name").press_sequentially("jk?")

    assert page.get_by_label("Name").input_value() == "jk?"
    assert page.get_by_role("dialog").count() == 0


def test_question_mark_opens_the_help_and_escape_closes_it(page_desktop, styleguide):
    page = styleguide(page_desktop)

    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keyboard").is_visible()
    page.keyboard.press("Escape")

    assert page.get_by_role("dialog").count() == 0


def test_confirmation_focuses_the_safe_choice_and_returns_the_focus(page_desktop, styleguide):
    page = styleguide(page_desktop)
    trigger = page.get_by_role("button", name="Close campaign")

    trigger.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUSED) == "Keep"
    page.keyboard.press("Enter")

    assert page.get_by_role("dialog").count() == 0
    assert trigger.evaluate("element => element === document.activeElement")


def test_the_sign_in_page_shows_errors_at_the_form(page_phone, live_server):
    page_phone.goto(f"{live_server.url}/accounts/login/")
    page_phone.get_by_label("Username").fill("nobody")
    page_phone.get_by_label("Password").fill("wrong")
    page_phone.keyboard.press("Enter")

    page_phone.get_by_role("alert").get_by_text("Please enter a correct username and password").wait_for()
    assert_no_barrier(page_phone)


def test_api_docs_are_drawn_inside_the_page_under_the_same_policy(page_desktop, live_server):
    page_desktop.goto(f"{live_server.url}/api/docs/")

    page_desktop.get_by_text("No operations defined in spec").wait_for()  # as tests.browser.urls has none
    assert page_desktop.get_by_role("link", name="Assay", exact=True).is_visible()


def test_a_menu_opens_with_enter_and_closes_with_escape_or_a_click_outside(page_desktop, styleguide):
    page = styleguide(page_desktop)
    trigger, entry = page.get_by_label("Download the references"), page.get_by_role("link", name="CSV table").first

    trigger.focus()
    page.keyboard.press("Enter")
    assert entry.is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert entry.is_hidden()
    assert trigger.evaluate("element => element === document.activeElement")

    page.keyboard.press("Space")
    assert entry.is_visible()
    page.get_by_role("heading", level=1).click()
    assert entry.is_hidden()
