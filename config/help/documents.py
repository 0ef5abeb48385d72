"""The Markdown files of ``docs/`` as pages of the product: an index, and safe HTML whose links lead somewhere."""

import os.path
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import count, pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import nh3
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from annotation.core.markdown import ATTRIBUTES, TAGS
from config.help.contents import CONTENTS

ROOT = Path(settings.BASE_DIR) / "docs"
PICTURES = {".png": "image/png", ".webp": "image/webp", ".svg": "image/svg+xml"}
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")  # HTML of our own, cleaned below
SUMMARY_LENGTH = 180
SUMMARY_ENOUGH = 40
SHOWN_TITLES = 3


class Heading(NamedTuple):
    level: int
    text: str
    anchor: str


class Document(NamedTuple):
    name: str
    title: str
    summary: str
    headings: Sequence[Heading]
    html: SafeString

    @property
    def url(self) -> str:
        return reverse("help-document", args=[self.name])

    @property
    def anchors(self) -> set[str]:
        return {heading.anchor for heading in self.headings}


def names() -> list[str]:
    """Return the name of each document: its path in ``docs/`` without ``.md``, and of a README its folder."""
    return sorted(name for name, path in _files(ROOT).items() if path.suffix == ".md")


@cache
def _files(root: Path) -> dict[str, Path]:
    """Return the files that are served, documents by name, pictures by path: nothing else is ever opened."""
    found = (path for path in sorted(root.rglob("*.*")) if path.suffix == ".md" or path.suffix in PICTURES)
    return {_name(path) if path.suffix == ".md" else path.relative_to(root).as_posix(): path for path in found}


def _name(path: Path) -> str:
    plain = os.path.relpath(path, ROOT).removesuffix(".md")
    return plain.removesuffix("/README")


def document(name: str) -> Document | None:
    path = _files(ROOT).get(name)
    return _document(name, path, path.stat().st_mtime_ns) if path and path.suffix == ".md" else None


def picture(name: str) -> tuple[Path, str] | None:
    """Return the file of a picture in ``docs/`` and its type, or None."""
    path = _files(ROOT).get(name)
    return (path, PICTURES[path.suffix]) if path and path.suffix in PICTURES else None


def index() -> list[tuple[str, list[Document]]]:
    """Return the documents by section of the contents, each once."""
    left, sections = names(), []
    for title, wanted in CONTENTS:
        chosen = list(dict.fromkeys(name for entry in wanted for name in _of_entry(entry, left)))
        left = [name for name in left if name not in chosen]
        sections.append((title, [each for name in chosen if (each := document(name))]))
    return sections


def first_titles(documents: Sequence[Document]) -> str:
    """Return what a section of the index holds, in a line."""
    titles = [each.title.partition(":")[0] for each in documents]
    more = f", and {len(titles) - SHOWN_TITLES} more" if len(titles) > SHOWN_TITLES else ""
    return f"{', '.join(titles[:SHOWN_TITLES])}{more}"


def _of_entry(entry: str, left: Sequence[str]) -> list[str]:
    """Return the documents of an entry: one by its name, or those of a folder; none of what lies outside ``docs/``."""
    return [name for name in left if name == entry or (entry.endswith("/") and name.startswith(entry))]


@lru_cache(maxsize=256)
def _document(name: str, path: Path, changed: int) -> Document:
    """Return a file as a document; ``changed`` is the time of its last change, after which it is read again."""
    tokens = PARSER.parse(path.read_text(encoding="utf-8"))
    headings = tuple(with_anchors(tokens))
    folder = path.parent.relative_to(ROOT).as_posix()
    _name_documents(tokens, folder)
    title = headings[0].text if headings else name
    rest = tokens[3:] if tokens and tokens[0].type == "heading_open" else tokens  # the page shows the title above
    html = _clean(PARSER.renderer.render(rest, PARSER.options, {}), folder)
    return Document(name, title, _summary(rest), headings, html)


def with_anchors(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give each heading the anchor that GitHub gives it, so that one link works in both places."""
    taken: dict[str, Iterator[int]] = {}
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = _text(inline)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        if anchor in taken:
            anchor = f"{anchor}-{next(taken[anchor])}"
        else:
            taken[anchor] = count(1)
        opening.attrSet("id", anchor)
        yield Heading(int(opening.tag[1]), text, anchor)


def _name_documents(tokens: Sequence[Token], folder: str) -> None:
    """Let links whose text is a file's name show the title of the document."""
    for opening, text in (pair for token in tokens for pair in pairwise(token.children or ())):
        if opening.type == "link_open" and text.content.endswith(".md"):
            path = ROOT / folder / urlsplit(str(opening.attrs["href"])).path
            if path.is_file():
                with path.open(encoding="utf-8") as lines:
                    text.content = next(lines).removeprefix("# ").strip()


def _text(inline: Token) -> str:
    blank = {"softbreak", "hardbreak", "html_inline"}
    return "".join(" " if child.type in blank else child.content for child in inline.children or ())


def _summary(tokens: Sequence[Token]) -> str:
    """Return the first sentence of a document's first paragraph, or a few short ones."""
    paragraphs = (after for before, after in pairwise(tokens) if before.type == "paragraph_open")
    first = next((_text(inline) for inline in paragraphs), "")
    summary = ""
    for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-ZÀ-Þ])", first):
        if len(summary) > SUMMARY_ENOUGH:
            break
        summary = f"{summary} {sentence}".strip()
    if len(summary) > SUMMARY_LENGTH:
        summary = summary[:SUMMARY_LENGTH].rsplit(" ", 1)[0] + " …"
    return summary.rstrip(":")


def _clean(html: str, folder: str) -> SafeString:
    """Return HTML of known elements only, whose links lead to pages of the product or out of it."""

    def kept(tag: str, attribute: str, value: str) -> str | None:
        return link_target(value, folder) if attribute in {"href", "src"} else value

    headings = {f"h{level}": {"id"} for level in range(2, 6)}
    clean = nh3.clean(
        html,
        tags={*TAGS, *headings, "img"},
        attributes={**ATTRIBUTES, **headings, "img": {"src", "alt", "width"}, "code": {"class"}},
        attribute_filter=kept,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    number = count(1)
    scrolling = '<div class="table-scroll" tabindex="0" role="group" aria-label="Table {}"><table class="table">'
    # After the cleaning no table, pre or img has an attribute that is not from here.
    clean = re.sub("<table>", lambda _: format_html(scrolling, next(number)), clean)
    clean = clean.replace("<th></th>", "<td></td>")  # a corner is no header
    clean = clean.replace("</table>", "</table></div>").replace("<th>", '<th scope="col">')
    return mark_safe(clean.replace("<pre>", '<pre tabindex="0">').replace("<img ", '<img loading="lazy" '))  # noqa: S308 - cleaned above


def link_target(href: str, folder: str) -> str | None:
    """Return where a link of a document in ``folder`` leads in the product; None if it names another file."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc or not parts.path:
        return href
    path = os.path.normpath(f"{folder}/{unquote(parts.path)}")
    name = _name(ROOT / path) if path.endswith(".md") else path
    if name not in _files(ROOT):
        return None
    if path.endswith(".md"):
        return reverse("help-document", args=[name]) + (f"#{parts.fragment}" if parts.fragment else "")
    return reverse("help-picture", args=[name])
