"""The documentation as a site: `make docs` (``scripts/docs.py``) builds it with Sphinx.

The Markdown files stay as they are read on GitHub and in the product: what they lack for a site is added here.
"""

import json
import re
import runpy
import shutil
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

ROOT = Path(__file__).resolve().parents[2]
CONTENTS = runpy.run_path(str(ROOT / "config/help/contents.py"))["CONTENTS"]

project = "Assay"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
language = "en"

extensions = ["myst_parser"]
root_doc = "docs/index"
# The root of the repository is the source, so that links to README.md and the like lead to pages, too.
include_patterns = ["docs/**", *(f"{name[3:]}.md" for _, names in CONTENTS for name in names if name.startswith("../"))]
exclude_patterns = [".*", "var", "staticfiles", "test-results"]

myst_heading_anchors = 6
highlight_language = "text"  # of blocks that name none

html_theme = "furo"
html_title = "Assay"
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_show_sphinx = False
html_copy_source = False
html_use_index = False
html_show_search_summary = False  # it reads pages by fetch, which browsers refuse for files: static/excerpts.js
html_favicon = html_logo = "../../static/img/favicon.svg"
html_theme_options = {
    "top_of_page_buttons": [],
    # Colours of static/css/assay.css.
    "light_css_variables": {
        "color-brand-primary": "#0b5a63",
        "color-brand-content": "#0b5a63",
        "color-brand-visited": "#0b5a63",
        "color-background-primary": "#ffffff",
        "color-background-secondary": "#faf8f4",
        "color-sidebar-item-background--hover": "#e2efef",
        "color-foreground-primary": "#1d2125",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6fc7cb",
        "color-brand-content": "#6fc7cb",
        "color-brand-visited": "#6fc7cb",
        "color-background-primary": "#131618",
        "color-background-secondary": "#1a1e21",
        "color-sidebar-item-background--hover": "#17363a",
        "color-foreground-primary": "#e9e6df",
    },
}
pygments_style = "default"
pygments_dark_style = "native"

PICTURE = re.compile(r' (?:href|src)="([^":]+\.(?:webp|png|svg))"')
SHOWN = re.compile(r'<p>(<img [^>]*?src="([^"]+)"[^>]*>)</p>')
# Titles in the contents, if the beginning of a page's own says too little.
SHORT = {"README": "Five minutes with Assay", "docs/methods": "Methods", "docs/api": "The API"}
ENTRANCE = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Assay</title>
<meta http-equiv="refresh" content="0; url={root_doc}.html"><a href="{root_doc}.html">Documentation</a></html>
"""
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s]+)\)")


def docname(name: str) -> str:
    """Return the name that Sphinx has for an entry of the contents."""
    path = name.removeprefix("../") if name.startswith("../") else f"docs/{name}"
    return f"{path}/README" if (ROOT / path / "README.md").is_file() else path


def pages_of(folder: str) -> list[str]:
    return sorted(f"docs/{folder}{path.stem}" for path in (ROOT / "docs" / folder).glob("*.md"))


def trees() -> dict[str, list[tuple[str, list[str]]]]:
    """Return the lists of contents of each page: title and pages. Folders stand below the page that they follow."""
    lists: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for title, names in CONTENTS:
        top: list[str] = []
        listed = {docname(name) for name in names}
        for name in names:
            if not name.endswith("/"):
                top.append(docname(name))
            elif below := [page for page in pages_of(name) if page not in listed]:
                top.extend([] if top else below)
                if top[-1] not in below:
                    lists[top[-1]].append(("", below))
        lists[root_doc].append((title, [page for page in top if page != root_doc]))
    return lists


def tree(title: str, pages: Sequence[str]) -> str:
    entries = [f"{short_title(page)} </{page}>" for page in pages]
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {title}" if title else "", "", *entries, "```", ""])


def short_title(page: str) -> str:
    """Return a page's title up to a colon: what comes after explains it."""
    with (ROOT / f"{page}.md").open(encoding="utf-8") as lines:
        return SHORT.get(page) or next(lines).removeprefix("# ").strip().partition(":")[0]


def complete(app: Sphinx, name: str, source: list[str]) -> None:
    """Add its contents to a page, name linked pages by their titles, and leave links to folders out."""
    folder = (ROOT / name).parent

    def link(match: re.Match[str]) -> str:
        text, address = match.groups()
        if text.endswith(".md"):
            return f"[]({address})"
        return text if "://" not in address and (folder / address).is_dir() else match[0]

    source[0] = LINK.sub(link, source[0]) + "".join(tree(*each) for each in TREES.get(name, ()))


TREES = trees()


def text_of(node: nodes.Node) -> str:
    """Return the text that a reader sees; words of neighbouring cells and lines stay apart."""
    if isinstance(node, nodes.raw):
        return " "
    if isinstance(node, nodes.Text | nodes.TextElement):
        return node.astext() if not any(node.findall(nodes.raw)) else "".join(map(text_of, node.children))
    return " ".join(map(text_of, node.children))


def sections(document: nodes.document) -> list[tuple[str, str, str]]:
    """Return the anchor, the title and the text of each section, without that of the sections within."""
    rows = []
    for section in document.findall(nodes.section):
        parts = [part for part in section.children if not isinstance(part, nodes.section | nodes.title)]
        text = " ".join(" ".join(text_of(part) for part in parts).split())
        rows.append((section["ids"][0], section.next_node(nodes.title).astext(), text))
    return rows


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Add what Sphinx leaves out: an entrance, pictures of HTML in Markdown, and texts for the results of a search."""
    if exception:
        return
    site = Path(app.outdir)
    (site / "index.html").write_text(ENTRANCE, encoding="utf-8")
    for page in site.rglob("*.html"):
        for address in set(PICTURE.findall(page.read_text(encoding="utf-8"))):
            source, target = (ROOT / page.relative_to(site)).parent / address, page.parent / address
            if source.is_file() and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
    texts = {name: sections(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
    script = f"const TEXTS = {json.dumps(texts, ensure_ascii=False)};\n"
    (site / "_static/texts.js").write_text(script, encoding="utf-8")


def link_pictures(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    """Let each picture lead to itself in full size: on a phone a page of the product is small."""
    if document is not None:
        context["body"] = SHOWN.sub(r'<p><a class="picture" href="\2">\1</a></p>', context["body"])


class English(SearchEnglish):
    """Finds the stem of each word once, not again on each page: a fifth of the time of a build."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = cache(super().stem)  # type: ignore[method-assign]


def setup(app: Sphinx) -> None:
    app.add_search_language(English)
    app.connect("source-read", complete)
    app.connect("html-page-context", link_pictures)
    app.connect("build-finished", finish)
