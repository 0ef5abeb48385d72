"""Build the documentation as a site in var/docs, and check that it is whole and needs no network: `make docs`.

Sphinx fails on links, contents and references that lead nowhere; this adds what only the finished pages show.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.cmd.build import main as sphinx_build

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "var/docs"
LOADED = {"script": "src", "link": "href", "img": "src", "source": "srcset", "iframe": "src", "use": "href"}
IN_STYLE = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")


class Page(HTMLParser):
    """What a page loads, where it leads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.anchors = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if LOADED.get(tag) in values:
            self.loads.append(values[LOADED[tag]])
        if tag == "a" and "href" in values:
            self.leads.append(values["href"])


def build() -> int:
    shutil.rmtree(SITE, ignore_errors=True)
    trees = SITE / ".doctrees"
    strict = ["--fail-on-warning", "--keep-going", "--fresh-env", "--quiet", "--jobs", "auto"]
    code: int = sphinx_build([*strict, "-c", str(ROOT / "docs/site"), "-d", str(trees), str(ROOT), str(SITE)])
    shutil.rmtree(trees, ignore_errors=True)
    return code


def problems() -> Iterator[str]:
    pages = {path: Page(path) for path in sorted(SITE.rglob("*.html"))}
    for page in pages.values():
        yield from broken_addresses(page, pages)
    for path in sorted(SITE.rglob("*.css")):
        for address in (first or second for first, second in IN_STYLE.findall(path.read_text(encoding="utf-8"))):
            if not address.startswith(("data:", "#")) and not (path.parent / urlsplit(address).path).is_file():
                yield f"{path.relative_to(SITE)} loads {address}"
    yield from missing_from_the_search(pages)


def broken_addresses(page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    where = page.path.relative_to(SITE)
    for address in page.loads:
        parts = urlsplit(address)
        if parts.scheme != "data" and (parts.netloc or parts.scheme):
            yield f"{where} loads {address}: everything it needs must be in the site"
    for address in {*page.loads, *page.leads}:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
        if not target.is_file():
            yield f"{where} names {address}, which is not there"
        elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield f"{where} names {address}, a heading that is not there"


def missing_from_the_search(pages: dict[Path, Page]) -> Iterator[str]:
    """Compare the titles that the search knows, and where its results lead, with the pages."""
    index = (SITE / "searchindex.js").read_text(encoding="utf-8").removeprefix("Search.setIndex(").removesuffix(")")
    known = json.loads(index)["alltitles"]
    texts = (SITE / "_static/texts.js").read_text(encoding="utf-8").removeprefix("const TEXTS = ").rstrip(";\n")
    for page, sections in json.loads(texts).items():
        for anchor, title, _ in sections:
            if title not in known:
                yield f"{page}: the search does not know “{title}”"
            if anchor not in pages[SITE / f"{page}.html"].anchors:
                yield f"{page}: the search leads to #{anchor}, a heading that is not there"


def main() -> int:
    if code := build():
        return code
    problem_list = list(problems())
    entrance = (SITE / "index.html").relative_to(ROOT)
    print("\n".join(problem_list) or f"The documentation is in {entrance}: open it in a browser.")
    return 1 if problem_list else 0


if __name__ == "__main__":
    sys.exit(main())
