"""Find, start and observe a real Chromium, for the browser tests and scripts/screenshots.py."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Container
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, expect

DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}

SERIOUS = frozenset({"serious", "critical"})
EVERY_IMPACT = SERIOUS | {"minor", "moderate"}
THEME = "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'"
TALLEST = 6_000  # pixels of a page on a phone: some eight screens
FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
# Rules of other impacts are disabled: they take half of the time.
RUN_AXE = """([root, impacts]) => axe.run(root || document, {
    resultTypes: ["violations"],
    rules: Object.fromEntries(axe._audit.rules
        .filter((rule) => rule.enabled && !impacts.includes(rule.impact)).map((rule) => [rule.id, {enabled: false}])),
})"""

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
]


def chromium_path() -> str | None:
    """Return the path in ASSAY_CHROMIUM, else of an installed Chromium, else None for Playwright's download."""
    named = os.environ.get("ASSAY_CHROMIUM")
    if named:
        return named
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


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
    for size, theme in ((DESKTOP["viewport"], "light"), (PHONE["viewport"], "dark")):
        if page.viewport_size != size:
            page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme)
        expect(page.locator("[data-chart][aria-busy]")).to_have_count(0)
        assert_no_barrier(page, impacts=impacts)
        page.wait_for_function(FITS)
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height <= tallest, f"{page.url} takes {height} pixels on a phone: what comes first, and what can be folded?"
    page.set_viewport_size(previous_size)
    page.emulate_media(color_scheme=previous_theme)


def assert_no_barrier(page: Page, *, include: str | None = None, impacts: Container[str] = SERIOUS) -> None:
    """Assert that axe-core finds no violation of these impacts, in the whole page or in ``include``."""
    if page.evaluate("!window.axe"):
        page.evaluate(AXE_SCRIPT)
    results = page.evaluate(RUN_AXE, [include, list(impacts)])
    violations = [violation for violation in results["violations"] if violation["impact"] in impacts]
    report = "\n".join(
        f"{violation['id']} ({violation['impact']}): {violation['help']}\n  "
        + "\n  ".join(f"{' '.join(map(str, node['target']))}  {node['failureSummary']}" for node in violation["nodes"])
        for violation in violations
    )
    assert not violations, f"{page.url}, {page.viewport_size}, {page.evaluate(THEME)}\n{report}"


def theme_context(browser: Browser, *, theme: str = "light", **options: Any) -> BrowserContext:
    return browser.new_context(color_scheme=theme, reduced_motion="reduce", **options)
