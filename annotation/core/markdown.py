"""Markdown as safe HTML, and texts as Markdown that shows them as they are."""

import re
from functools import cache, lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = {
    "a",
    "blockquote",
    "br",
    "code",
    "em",
    "h2",
    "h3",
    "h4",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")


@lru_cache(maxsize=512)  # a rater's page shows the same few texts again and again
def markdown(text: str) -> SafeString:
    """Return HTML without scripts, styles, images or frames; a heading of the first level becomes one of the second."""
    html = _parser().render(text).replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    clean = nh3.clean(
        html, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https", "mailto"}, link_rel="noopener noreferrer"
    )
    return mark_safe(clean)  # noqa: S308 - cleaned in the line above


# "[a](b)", "[a][b]" and "[a]: b" are links, "[0.1, 0.9]" is an interval; "&lt;" is a character, "A & B" is none.
SIGNS = re.compile(r"[\\`*_<>|~$]|\](?=[(\[:])|&(?=[#a-zA-Z])")
LINE_START = re.compile(r"(\d{1,9})(?=[.)])|(?=[#+=-])")


def plain(text: str) -> str:
    """Return Markdown of which any reader makes the text itself, line by line: no HTML, link, heading or list."""
    return "\n".join(_plain_line(line) for line in text.splitlines())


def _plain_line(line: str) -> str:
    escaped = SIGNS.sub(r"\\\g<0>", line.lstrip())
    start = LINE_START.match(escaped)
    return f"{start[1] or ''}\\{escaped[start.end() :]}" if start else escaped
