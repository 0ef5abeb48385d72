"""Take the screenshots of docs/screens: pages of the whole product at 360 and 1280 pixels, in both themes.

    ASSAY_DEMO=1 DEBUG=1 ASSAY_DATA_DIR=/tmp/assay-book .venv/bin/python manage.py up --port 8123     # elsewhere
    ASSAY_DEMO=1 DEBUG=1 ASSAY_DATA_DIR=/tmp/assay-book .venv/bin/python scripts/book.py --base http://127.0.0.1:8123

It creates campaigns in that demo (use a throw-away one), takes the screenshots and writes the README.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from scripts import book_answers, book_references, book_scores  # noqa: E402 - the root must be on the path first
from scripts.book_pages import AREAS, JOURNEYS, MANAGED  # noqa: E402
from scripts.book_shots import Shot  # noqa: E402
from tests.browser.support import DESKTOP, PHONE, ConsoleErrors, launch_chromium, sign_in_by_form, theme_context  # noqa: E402

WIDTHS: dict[str, dict[str, Any]] = {"360": PHONE | {"device_scale_factor": 1}, "1280": DESKTOP}
THEMES = ("light", "dark")
PAGES = [*book_answers.ANSWERED, *MANAGED, *book_references.REFERENCES, *book_scores.SCORED]
TALLEST = 1600  # longer pages are cut off
WIDEST, QUALITY = 1024, 38  # some 500 pictures have to stay within 16 MB


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="http://127.0.0.1:8000", help="address of the server (%(default)s)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screens", help="folder (%(default)s)")
    parser.add_argument("--user", default="manager")
    parser.add_argument("--password", default="assay-demo")
    parser.add_argument("--width", choices=WIDTHS, action="append", help="only this width; may be repeated")
    parser.add_argument("--theme", choices=THEMES, action="append", help="only this theme; may be repeated")
    parser.add_argument("--only", action="append", default=[], help="only pages whose name begins so; may be repeated")
    parser.add_argument("--world", type=Path, help="read what was prepared from here, or write it there")
    return parser.parse_args()


@contextmanager
def prepared(options: argparse.Namespace) -> Iterator[dict[str, dict[str, str]]]:
    """Create the pages to show; the fake Prolific answers until the last screenshot is taken."""
    if options.world and options.world.exists():
        yield json.loads(options.world.read_text())
        return
    import django  # settings come from the environment

    django.setup()
    from annotation.models import User
    from scripts.book_answered import answered
    from scripts.book_scored import scored
    from scripts.book_tour import walked
    from scripts.book_world import build, wait_for_dry_runs
    from tests.annotation.recruitment.providers.prolific.fake import FakeProlific

    with FakeProlific() as fake:
        demo_world = build(fake, base=options.base)
        wait_for_dry_runs()
        user = User.objects.get(username=options.user)
        paths = demo_world.paths | walked(user) | scored(user) | answered()
        world = {"paths": paths, "links": demo_world.links}
        if options.world:
            options.world.write_text(json.dumps(world, indent=1))
        yield world


class Photographer:
    """One browser window of a width and a theme."""

    def __init__(self, browser: Browser, options: argparse.Namespace, width: str, theme: str) -> None:
        self.browser, self.options, self.width, self.theme = browser, options, width, theme
        self.complaints: list[str] = []

    def window(self, **more: Any) -> Page:
        self.errors = ConsoleErrors()
        page = theme_context(self.browser, theme=self.theme, **{**WIDTHS[self.width], **more}).new_page()
        page.set_default_timeout(45_000)
        self.errors.listen_to(page)
        return page

    def wanted(self, shot: Shot) -> bool:
        return not self.options.only or shot.name.startswith(tuple(self.options.only))

    def managed(self, paths: dict[str, str]) -> None:
        page = self.window()
        sign_in_by_form(page, self.options.base, self.options.user, self.options.password)
        for shot in filter(self.wanted, PAGES):
            try:
                page.goto(self.options.base + shot.address(paths))
                if shot.act:
                    shot.act(page)
                self.take(page, shot)
            except Exception as error:  # noqa: BLE001 - a page that fails must not stop the others
                self.complaints.append(f"{shot.name}-{self.width}-{self.theme}: {error}")
        page.context.close()

    def journeys(self, links: dict[str, str]) -> None:
        for journey in JOURNEYS:
            last = max((index for index, shot in enumerate(journey.shots) if self.wanted(shot)), default=-1)
            page = self.window(**({"locale": journey.locale} if journey.locale else {}))
            try:
                for index, shot in enumerate(journey.shots[: last + 1]):
                    if index == 0:
                        page.goto(self.options.base + links[journey.campaign])
                    if shot.act:
                        shot.act(page)
                    if self.wanted(shot):
                        self.take(page, shot)
            except Exception as error:  # noqa: BLE001 - as above
                self.complaints.append(f"{journey.campaign}: {shot.name}-{self.width}-{self.theme}: {error}")
            page.context.close()

    def take(self, page: Page, shot: Shot) -> None:
        page.wait_for_load_state("networkidle")
        page.locator("[data-chart][aria-busy]").first.wait_for(state="detached")
        page.locator(".htmx-request").first.wait_for(state="detached")
        name = f"{shot.name}-{self.width}-{self.theme}"
        # As tall as the page, so that sticky elements are at its top and bottom.
        usual = WIDTHS[self.width]["viewport"]
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": usual["width"], "height": min(max(usual["height"], height), TALLEST)})
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_load_state("networkidle")
        page.locator("[data-chart][aria-busy]").first.wait_for(state="detached")
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            self.complaints.append(f"{name}: the page itself scrolls sideways by {overflow} px")
        self.complaints += [f"{name}: {text}" for text in self.errors.unexpected()]
        self.errors.seen.clear()
        store(page.screenshot(), self.options.out / f"{name}.webp")
        page.set_viewport_size(usual)


def store(picture: bytes, path: Path) -> None:
    with Image.open(io.BytesIO(picture)) as image:
        cut = image.convert("RGB").crop((0, 0, image.width, min(image.height, TALLEST)))
        if cut.width > WIDEST:
            cut = cut.resize((WIDEST, round(cut.height * WIDEST / cut.width)), Image.Resampling.LANCZOS)
        cut.save(path, quality=QUALITY, method=6)


def table(out: Path) -> str:
    """Return the README of the folder: for each area a sentence and four pictures per page."""
    lines = [
        "# Pages, in pictures",
        "",
        "Pages of projects, results, studies, campaigns, reference sets and metrics, on a phone (360 pixels)",
        "and on a desk (1280), light and dark. Made by `scripts/book.py` from the demo with simulated raters; Prolific",
        "is played by the tests' copy.",
        f"Long pages are cut at {TALLEST:,} pixels.",
    ]
    shots = [*PAGES, *(shot for journey in JOURNEYS for shot in journey.shots)]
    for area in (*book_answers.AREAS, *AREAS, *book_references.AREAS, *book_scores.AREAS):
        lines += [
            "",
            f"## {area}",
            "",
            "| Page | 360 light | 360 dark | 1280 light | 1280 dark |",
            "| --- | --- | --- | --- | --- |",
        ]
        for shot in shots:
            if shot.area == area and shot.text:
                cells = [cell(out, f"{shot.name}-{width}-{theme}", shot.title) for width in WIDTHS for theme in THEMES]
                lines.append(f"| **{shot.title}**<br>{shot.text} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cell(out: Path, stem: str, title: str) -> str:
    width = 120 if "-360-" in stem else 240
    if not (out / f"{stem}.webp").exists():
        return ""
    return f'<a href="{stem}.webp"><img src="{stem}.webp" width="{width}" alt="{title}"></a>'


def main() -> int:
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    complaints: list[str] = []
    with prepared(options) as world, sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        for width in options.width or WIDTHS:
            for theme in options.theme or THEMES:
                photographer = Photographer(browser, options, width, theme)
                photographer.managed(world["paths"])
                photographer.journeys(world["links"])
                complaints += photographer.complaints
        browser.close()
    (options.out / "README.md").write_text(table(options.out))
    sys.stderr.writelines(f"{complaint}\n" for complaint in dict.fromkeys(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
