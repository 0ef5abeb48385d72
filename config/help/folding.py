"""Long documents show their contents first: each section is folded below its heading and a sentence."""

import re
from html import unescape

from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe

LONG = 7_700  # characters of a document that is folded; some 6,000 pixels of a phone
PICTURE, ROW = 500, 60  # characters in whose place a picture and a row of a table stand
FEWEST = 2  # sections
FEWEST_WORDS = 4  # fewer are but the name of a module
LONGEST_SENTENCE = 150
MOST_TITLES = 8

SECTION = re.compile(r'(?=<h2 id=")')
HEADING = re.compile(r"<h[34] [^>]*>(.*?)</h[34]>", re.DOTALL)
PARAGRAPH = re.compile(r"<(p|li)>(.*?)</\1>", re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-ZÀ-Þ])")


def folded(html: SafeString) -> SafeString | None:
    """Return the HTML of a document with its sections folded; None if it is short enough to be read as it is."""
    beginning, *sections = SECTION.split(html)
    length = len(strip_tags(html)) + PICTURE * html.count("<img ") + ROW * html.count("<tr>")
    if len(sections) < FEWEST or length <= LONG:
        return None
    return mark_safe(beginning + "".join(map(_folded, sections)))  # noqa: S308 - the document's own, cleaned


def _folded(section: str) -> SafeString:
    heading, end, text = section.partition("</h2>")
    return format_html(
        '<details class="fold"><summary>{}<span>{}</span></summary>{}</details>',
        mark_safe(heading + end),  # noqa: S308 - the document's own, cleaned
        _about(text),
        mark_safe(text),  # noqa: S308
    )


def _about(text: str) -> str:
    """Return what a section is about: the titles of its parts, or else the beginning of a first sentence."""
    titles = [_plain(title) for title in HEADING.findall(text)]
    if len(titles) > 1:
        more = f" and {len(titles) - MOST_TITLES} more" if len(titles) > MOST_TITLES else ""
        return ", ".join(titles[:MOST_TITLES]) + more
    sentences = (each for _, inner in PARAGRAPH.findall(text) for each in SENTENCE_END.split(_plain(inner)))
    sentence = next((each.rstrip(":") for each in sentences if len(each.split()) >= FEWEST_WORDS), "")
    return sentence if len(sentence) <= LONGEST_SENTENCE else sentence[:LONGEST_SENTENCE].rsplit(" ", 1)[0] + " …"


def _plain(html: str) -> str:
    return " ".join(unescape(strip_tags(html)).split())
