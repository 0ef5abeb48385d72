"""Take screenshots of pages of a running Assay.

    .venv/bin/python scripts/screenshots.py --user ada --password secret --out /tmp/shots /projects/ /styleguide/

One PNG per page, width (360 and 1280) and theme (light and dark): ``projects-360-dark.png``.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.browser.support import DESKTOP, PHONE, ConsoleErrors, launch_chromium, sign_in_by_form, theme_context

WIDTHS = {"360": PHONE, "1280": DESKTOP}
THEMES = ("light", "dark")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="paths on the server, such as /projects/")
    parser.add_argument("--base", default="http://127.0.0.1:8000", help="address of the server (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("screenshots"), help="folder to write to (%(default)s)")
    parser.add_argument("--user", help="sign in as this user first")
    parser.add_argument("--password", default="")
    parser.add_argument("--width", choices=WIDTHS, action="append", help="only this width; may be repeated")
    parser.add_argument("--theme", choices=THEMES, action="append", help="only this theme; may be repeated")
    parser.add_argument("--viewport-only", action="store_true", help="the first screen instead of the whole page")
    parser.add_argument("--scale", type=float, default=1, help="device pixels per CSS pixel (%(default)s)")
    return parser.parse_args()


def file_stem(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-") or "home"


def take(browser: Browser, options: argparse.Namespace, width: str, theme: str) -> list[str]:
    """Take a screenshot of every path at a width in a theme; return problems of console and layout."""
    errors, complaints = ConsoleErrors(), []
    context = theme_context(browser, theme=theme, **{**WIDTHS[width], "device_scale_factor": options.scale})
    page = context.new_page()
    errors.listen_to(page)
    if options.user:
        sign_in_by_form(page, options.base, options.user, options.password)
    for path in options.paths:
        response = page.goto(options.base + path)
        if response is None or not response.ok:
            complaints.append(f"{path}: no picture taken, the server answered {response and response.status}")
            continue
        page.locator("[data-chart][aria-busy]").first.wait_for(state="detached")
        page.screenshot(
            path=options.out / f"{file_stem(path)}-{width}-{theme}.png", full_page=not options.viewport_only
        )
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if overflow > 0:
            complaints.append(f"{path} at {width}: the page itself scrolls sideways by {overflow} px")
    context.close()
    return complaints + [f"{width} {theme}: {text}" for text in errors.unexpected()]


def main() -> int:
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        for width in options.width or WIDTHS:
            for theme in options.theme or THEMES:
                complaints += take(browser, options, width, theme)
        browser.close()
    sys.stderr.writelines(f"{complaint}\n" for complaint in dict.fromkeys(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
