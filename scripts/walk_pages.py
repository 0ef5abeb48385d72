"""Open every page of a running Assay, and report what axe, the console and the layout say about it.

    .venv/bin/python -m scripts.walk_pages --user manager --password assay-demo --out /tmp/walk

The walk begins at the front page and follows links: of each address pattern the first pages are looked at, on a light
desktop and on a dark phone, as a member and then without an account. Each campaign's link that it passes is followed
as a rater, who joins and answers, so run it on throw-away data. With ``--out``, a picture of each page is written.
At the end come the tallest pages on a phone, and the patterns that no link led to.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urldefrag, urlsplit

import django
from django.urls import Resolver404, get_resolver, resolve
from django.urls.resolvers import URLResolver
from playwright.sync_api import Browser, Error, Page, sync_playwright

from scripts.screenshots import file_stem
from tests.browser.support import (
    DESKTOP,
    EVERY_IMPACT,
    PHONE,
    ConsoleErrors,
    assert_no_barrier,
    cut_words,
    launch_chromium,
    sign_in_by_form,
    theme_context,
)

RATER_LINK = re.compile(r"/r/[0-9a-f-]{36}/")
NOT_PAGES = re.compile(r"download|export|-file$|-chart$|^admin:|^api:|api-schema|logout|record-table|figure$|spectrum$")
EVERY_PAGE = {"help-document"}  # one pattern, yet each is a page of its own
RATER_STEPS = 8  # pages of a rater: consent, instructions, training, items
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HEIGHT = "document.documentElement.scrollHeight"
LINKS = "Array.from(document.querySelectorAll('a[href]'), (link) => link.href)"
# A rater's answer: the middle of every scale, every box ticked, something in every text field.
ANSWER = """() => {
    const form = document.querySelector("main form");
    for (const name of new Set(Array.from(form.querySelectorAll("[type=radio]"), (radio) => radio.name))) {
        const points = form.querySelectorAll(`[type=radio][name="${CSS.escape(name)}"]`);
        points[Math.floor(points.length / 2)].click();
    }
    for (const box of form.querySelectorAll("[type=checkbox]:not(:checked)")) if (box.required) box.click();
    for (const field of form.querySelectorAll("[type=text], textarea, [type=number]")) {
        if (field.checkVisibility() && !field.value) field.value = field.type === "number" ? "50" : "Walker";
    }
}"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="http://127.0.0.1:8000", help="address of the server (%(default)s)")
    parser.add_argument("--user", required=True, help="whose pages are walked; signs in by the form")
    parser.add_argument("--password", required=True)
    parser.add_argument("--out", type=Path, help="folder for a picture of each page; none by default")
    parser.add_argument("--each", type=int, default=1, help="pages of each address pattern (%(default)s)")
    parser.add_argument("--only", type=re.compile, help="look only at patterns that match; all are followed")
    parser.add_argument("--raters", type=int, default=3, help="campaigns to enter as a rater (%(default)s)")
    return parser.parse_args()


def patterns(resolver: URLResolver, namespace: str = "") -> Iterator[str]:
    """Yield the name of every address."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry, f"{entry.namespace}:" if entry.namespace else namespace)
        elif entry.name:
            yield f"{namespace}{entry.name}"


def pattern_of(address: str) -> str | None:
    """Return the name of the pattern of a page's address, with the names of its parameters; None for no page."""
    parts = urlsplit(address)
    try:
        name = resolve(parts.path).view_name
    except Resolver404:
        return None
    asked = parse_qs(parts.query)
    if not name or "format" in asked or NOT_PAGES.search(name):
        return None
    return "?".join([name, *sorted(asked)])


class Walk:
    """Pages that were seen, and what is wrong with them."""

    def __init__(self, browser: Browser, options: argparse.Namespace) -> None:
        self.browser, self.options = browser, options
        self.seen: Counter[str] = Counter()
        self.problems: list[str] = []
        self.heights: dict[str, int] = {}
        self.rater_links: dict[str, None] = {}

    def new_page(self) -> tuple[Page, ConsoleErrors]:
        context = theme_context(self.browser, **DESKTOP)
        page, errors = context.new_page(), ConsoleErrors()
        errors.listen_to(page)
        return page, errors

    def follow(self, page: Page, errors: ConsoleErrors, who: str) -> None:
        """Look at pages from the front page on, breadth first."""
        waiting, queued, visited = deque([f"{self.options.base}/"]), {f"{self.options.base}/"}, Counter[str]()
        while waiting:
            address = waiting.popleft()
            pattern = pattern_of(address)
            name = (pattern or "").partition("?")[0]
            if pattern is None or (visited[pattern] >= self.options.each and name not in EVERY_PAGE):
                continue
            visited[pattern] += 1
            self.seen[name] += 1
            try:
                response = page.goto(address)
            except Error as error:
                if "Download is starting" in str(error):
                    continue
                self.report(f"{who} {address}: {str(error).splitlines()[0]}")
                continue
            if response is None or response.status >= 400:
                self.report(f"{who} {address}: status {response and response.status}")
                continue
            if "html" not in response.headers.get("content-type", ""):
                continue
            self.rater_links.update(dict.fromkeys(RATER_LINK.findall(page.content())))
            if not self.options.only or self.options.only.search(pattern):
                self.look_at(page, errors, f"{who} {address}")
            for link in {urldefrag(link)[0] for link in page.evaluate(LINKS)} - queued:
                if link.startswith(self.options.base) and link not in queued and not RATER_LINK.search(link):
                    queued.add(link)
                    waiting.append(link)

    def look_at(self, page: Page, errors: ConsoleErrors, label: str) -> None:
        """Examine the page on a light desktop and a dark phone; it then has the desktop's size again."""
        for width, device, theme in (("1280", DESKTOP, "light"), ("360", PHONE, "dark")):
            page.set_viewport_size(device["viewport"])
            page.emulate_media(color_scheme=theme)
            page.locator("[data-chart][aria-busy]").first.wait_for(state="detached")
            page.locator("main").first.wait_for(state="attached")  # that of the API's page comes with its script
            try:
                assert_no_barrier(page, impacts=EVERY_IMPACT)
            except AssertionError as error:
                self.report(f"{label}\n{error}")
            if (overflow := page.evaluate(OVERFLOW)) > 0:
                self.report(f"{label} at {width}: the page itself scrolls sideways by {overflow} px")
            if cut := cut_words(page):
                self.report(f"{label} at {width}: cut in two lines: {', '.join(cut[:5])}")
            if self.options.out:
                who, _, address = label.partition(" ")
                stem = file_stem(address.removeprefix(self.options.base))
                page.screenshot(path=self.options.out / f"{who}-{stem[:120]}-{width}-{theme}.png", full_page=True)
        self.heights[label] = page.evaluate(HEIGHT)
        print(f"{self.heights[label]:7,} {label}", flush=True)
        for text in errors.unexpected():
            self.report(f"{label}: {text}")
        errors.seen.clear()
        page.set_viewport_size(DESKTOP["viewport"])
        page.emulate_media(color_scheme="light")

    def rate(self, link: str) -> None:
        """Join a campaign by its link and go from page to page, answering what is asked."""
        page, errors = self.new_page()
        page.goto(f"{self.options.base}{link}")
        for step in range(RATER_STEPS):
            self.seen[(pattern_of(page.url) or "").partition("?")[0]] += 1
            self.look_at(page, errors, f"rater {urldefrag(page.url)[0]}?step={step}")
            if not page.locator("main form, main a.btn-primary").count():
                break
            if page.locator("main form").count():
                page.evaluate(ANSWER)
            page.locator("main :is(button.btn-primary, a.btn-primary)").last.click()
            page.wait_for_load_state("networkidle")
        page.context.close()

    def report(self, problem: str) -> None:
        """Keep a problem, and print it at once."""
        self.problems.append(problem)
        print(f"! {problem}", flush=True)

    def conclude(self) -> None:
        print(f"{sum(self.seen.values())} pages of {len(self.seen)} patterns, {len(self.problems)} problems")
        print("\nTallest on a phone:")
        for label, height in sorted(self.heights.items(), key=lambda pair: -pair[1])[:40]:
            print(f"{height:7,} {label}")
        missed = {name for name in patterns(get_resolver()) if not NOT_PAGES.search(name)} - self.seen.keys()
        print("\nNo link led to (actions included):", " ".join(sorted(missed)))


def main() -> int:
    options = arguments()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        walk = Walk(launch_chromium(playwright), options)
        page, errors = walk.new_page()
        sign_in_by_form(page, options.base, options.user, options.password)
        walk.follow(page, errors, "member")
        page, errors = walk.new_page()
        walk.follow(page, errors, "visitor")
        for link in list(walk.rater_links)[: options.raters]:
            walk.rate(link)
        walk.browser.close()
    walk.conclude()
    return 1 if walk.problems else 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    os.environ.setdefault("DEBUG", "1")
    os.environ.setdefault("DATABASE_URL", "postgresql://unused@127.0.0.1/unused")
    django.setup()
    sys.exit(main())
