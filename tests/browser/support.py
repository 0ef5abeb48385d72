"""Find, start and observe a real Chromium, for the browser tests and scripts/screenshots.py."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Container, Mapping
from typing import Any, Literal, cast

from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, ViewportSize

from tests.browser.contrast import PassedStyles

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}

SERIOUS = frozenset({"serious", "critical"})
EVERY_IMPACT = SERIOUS | {"minor", "moderate"}
THEME = "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'"
SHOWN_THEME = f"document.documentElement.dataset.bsTheme ?? ({THEME})"
TALLEST = 6_000  # pixels of a page on a phone: some eight screens
LOOKS = ((DESKTOP["viewport"], "light"), (PHONE["viewport"], "dark"))
FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
DRAWN = "() => !document.querySelector('[data-chart][aria-busy]')"
# A changed size is drawn with the next frame, and charts begin to draw themselves anew. Scripts hear of a changed theme
# one frame later.
STATE = f"""async () => {{
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    return {{ axe: Boolean(window.loadAxe), theme: {SHOWN_THEME}, drawn: ({DRAWN})(), fits: ({FITS})() }};
}}"""
# Axe-core is sent once for all later pages of a context; each compiles it only if it is looked at.
OFFER_AXE = f"window.loadAxe = () => {{\n{AXE_SCRIPT}\n}};"
# Rules of other impacts are disabled: they take half of the time. Contrast takes most of the rest: a text passes
# without being measured if another passed whose element and classes, letters and everything behind it, to the first
# background that hides what is below, are alike. To decide whether a text is to be measured takes as long as to measure
# it, so that is asked of no such text either.
RUN_AXE = """([root, impacts, known]) => {
    if (!window.axe) loadAxe();
    const layers = new Map(), passed = new Set(known.split("\\n")), fresh = [];
    const layersTo = (node) => {
        if (!node) return { behind: "", opacity: 1 };
        if (layers.has(node)) return layers.get(node);
        const above = layersTo(node.parentElement), style = getComputedStyle(node);
        const { backgroundColor, backgroundImage, opacity, position } = style;
        const plain = backgroundColor === "rgba(0, 0, 0, 0)" && backgroundImage === "none" && position === "static";
        const hides = /^rgb\\(/.test(backgroundColor) && backgroundImage === "none";
        const own = plain ? "" : `${backgroundColor} ${backgroundImage} ${position};`;
        const found = { style, behind: (hides ? "" : above.behind) + own, opacity: above.opacity * opacity };
        layers.set(node, found);
        return found;
    };
    const styleOf = (node) => {
        const { style, behind, opacity } = layersTo(node);
        const name = [node.localName, ...node.classList].join(".");
        return [name, style.color, style.fontSize, style.fontWeight, opacity, behind].join("|");
    };
    const contrast = axe._audit.checks["color-contrast"];
    const measure = contrast.evaluate;
    const rule = axe._audit.rules.find((rule) => rule.id === "color-contrast");
    const isMeasured = rule.matches;
    const field = new Set(["input", "select", "textarea"]);
    const hasText = (node) => field.has(node.localName)
        || [...node.childNodes].some((each) => each.nodeType === Node.TEXT_NODE && each.data.trim());
    rule.matches = function (node, ...rest) {
        return hasText(node) && !passed.has(styleOf(node)) && isMeasured.call(this, node, ...rest);
    };
    contrast.evaluate = function (node, ...rest) {
        const style = styleOf(node);
        if (passed.has(style)) return true;
        const enough = measure.call(this, node, ...rest);
        if (enough === true) {
            passed.add(style);
            fresh.push(style);
        }
        return enough;
    };
    const others = axe._audit.rules.filter((rule) => rule.enabled && !impacts.includes(rule.impact));
    const rules = Object.fromEntries(others.map((rule) => [rule.id, { enabled: false }]));
    return axe.run(root || document, { resultTypes: ["violations"], rules })
        .then(({ violations }) => ({ violations, passed: fresh.join("\\n") }))
        .finally(() => { contrast.evaluate = measure; rule.matches = isMeasured; });
}"""
passed_styles = PassedStyles()

# The headless shell has no window: it takes a fifth of the time of a full browser.
HEADLESS_SHELL = "chromium-headless-shell"
CHROMIUM_NAMES = (HEADLESS_SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No page lives long enough to be worth the machine code of V8's two optimising compilers.
    "--js-flags=--no-opt --no-maglev",
]


def chromium_path() -> str | None:
    """Return the path in ASSAY_CHROMIUM, else of an installed Chromium, else None for Playwright's download."""
    named = os.environ.get("ASSAY_CHROMIUM")
    if named:
        return named
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


# Words of up to twenty Latin letters and digits that go on in the next line, as in a cell that is too narrow.
CUT_WORDS = """() => {
    const cut = new Set(), range = document.createRange();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode;
        if (!text.parentElement.checkVisibility() || text.parentElement.closest("pre, code, textarea, svg")) continue;
        for (const word of text.data.matchAll(/(?<!\\S)[\\p{Script=Latin}\\d]{2,20}[….,:;]?(?!\\S)/gu)) {
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            if (new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top))).size > 1) cut.add(word[0]);
        }
    }
    return [...cut];
}"""


def launch_chromium(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)


def sign_in(page: Page, base_url: str, username: str, password: str) -> None:
    """Give the page's context a session of the user, without the form."""
    client = Client()
    if not client.login(username=username, password=password):
        raise ValueError(f"{password!r} is not the password of {username!r}.")
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": base_url}])


def sign_in_by_form(page: Page, base_url: str, username: str, password: str) -> None:
    page.goto(f"{base_url}/accounts/login/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_load_state()
    if "/accounts/login/" in page.url:
        raise ValueError(f"{base_url} did not accept the password of {username!r}.")


def cut_words(page: Page) -> list[str]:
    """Return the short words of the page that go on in the next line."""
    words: list[str] = page.evaluate(CUT_WORDS)
    return words


class ConsoleErrors:
    """Collect a page's console errors, including violations of the Content-Security-Policy, and uncaught exceptions."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.allowed: list[re.Pattern[str]] = []

    def listen_to(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.seen.append(f"uncaught: {error}"))

    def allow(self, pattern: str) -> None:
        """Allow an error that a test provokes: ``console_errors.allow("status of 404")``."""
        self.allowed.append(re.compile(pattern))

    def unexpected(self) -> list[str]:
        return [text for text in self.seen if not any(pattern.search(text) for pattern in self.allowed)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.seen.append(f"{message.text} ({message.location.get('url', '')})")


def assert_everyone_can_read(page: Page, *, impacts: Container[str] = SERIOUS, tallest: float = math.inf) -> None:
    """Assert that the page is accessible and does not scroll sideways, on a light desktop and on a dark phone.

    On the phone it must not be taller than ``tallest``, in pixels.

    Afterwards the page has its previous size and colours.
    """
    previous_size, previous_theme = page.viewport_size, page.evaluate(THEME)
    # Each change of size draws the page anew, so the look in its own size comes first.
    for size, theme in sorted(LOOKS, key=lambda look: look[0] != previous_size):
        _show_as(page, size, theme)
        state = page.evaluate(STATE)
        assert state["theme"] == theme
        if not state["drawn"]:
            page.wait_for_function(DRAWN)
        if not (state["drawn"] and state["fits"]):
            page.wait_for_function(FITS)
        assert_no_barrier(page, impacts=impacts, state=state)
        if size == PHONE["viewport"] and tallest < math.inf:
            height = page.evaluate("document.documentElement.scrollHeight")
            assert height <= tallest, f"{page.url} takes {height} pixels on a phone: what can be folded?"
    _show_as(page, previous_size, previous_theme)


def _show_as(page: Page, size: ViewportSize | None, theme: str) -> None:
    if size and page.viewport_size != size:
        page.set_viewport_size(size)
    page.emulate_media(color_scheme=cast(Literal["dark", "light"], theme))


def assert_no_barrier(
    page: Page,
    *,
    include: str | None = None,
    impacts: Container[str] = SERIOUS,
    state: Mapping[str, Any] | None = None,
) -> None:
    """Assert that axe-core finds no violation of these impacts, in the whole page or in ``include``.

    ``state`` is the page's ``STATE`` if it is known.
    """
    state = state or page.evaluate(STATE)
    if not state["axe"]:
        page.context.add_init_script(OFFER_AXE)
        page.evaluate(OFFER_AXE)
    look = f"{page.viewport_size} {state['theme']}"
    # Playwright takes long over lists, and hundreds of styles pass in a run: they travel as one text.
    results = page.evaluate(RUN_AXE, [include, list(impacts), "\n".join(passed_styles.of(look))])
    violations = [violation for violation in results["violations"] if violation["impact"] in impacts]
    report = "\n".join(
        f"{violation['id']} ({violation['impact']}): {violation['help']}\n  "
        + "\n  ".join(f"{' '.join(map(str, node['target']))}  {node['failureSummary']}" for node in violation["nodes"])
        for violation in violations
    )
    assert not violations, f"{page.url}, {page.viewport_size}, {state['theme']}\n{report}"
    passed_styles.add(look, results["passed"].splitlines())


def theme_context(browser: Browser, *, theme: str = "light", **options: Any) -> BrowserContext:
    context = browser.new_context(color_scheme=theme, reduced_motion="reduce", **options)
    context.set_default_timeout(90_000)  # milliseconds; a busy machine answers slowly
    return context
