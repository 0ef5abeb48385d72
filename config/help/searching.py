"""Find words in the glossary and in the documents, section by section."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from typing import NamedTuple

from django.urls import reverse
from django.utils.html import strip_tags

from config.help.documents import Document, document, names
from config.help.glossary import TERMS

MOST = 20
WORDS = 20
AROUND = 90  # characters shown on each side of the first word found


class Found(NamedTuple):
    title: str
    url: str
    excerpt: str


@dataclass(frozen=True)
class _Section:
    title: str
    url: str
    text: str

    @cached_property
    def searched(self) -> str:
        return f"{self.title} {self.text}".lower()


def search(query: str) -> list[Found]:
    """Return the sections that hold every word of the query; those that name one in their title come first.

    Of a longer query the first ``WORDS`` different words count: anyone may search, and each word costs time.
    """
    words = list(dict.fromkeys(query.lower().split()))[:WORDS]
    hits = [section for section in _sections() if all(word in section.searched for word in words)]
    hits.sort(key=lambda section: -sum(word in section.title.lower() for word in words))
    return [Found(section.title, section.url, _excerpt(section.text, words)) for section in hits[:MOST]]


def _sections() -> Iterator[_Section]:
    for term in TERMS.values():
        yield _Section(f"{term.name} (glossary)", f"{reverse('help-glossary')}#{term.anchor}", term.definition)
    for name in names():
        if chosen := document(name):
            yield from _sections_of(chosen)


@lru_cache(maxsize=256)
def _sections_of(chosen: Document) -> list[_Section]:
    """Return the parts of a document between its headings."""
    beginning, *parts = re.split(r'<h\d id="([^"]*)">', chosen.html)
    titles = {heading.anchor: heading.text for heading in chosen.headings}
    return [
        _Section(chosen.title, chosen.url, _plain(beginning)),
        *(
            _Section(f"{chosen.title} › {titles[anchor]}", f"{chosen.url}#{anchor}", _plain(html.partition("\n")[2]))
            for anchor, html in zip(parts[::2], parts[1::2], strict=True)
        ),
    ]


def _plain(html: str) -> str:
    return " ".join(unescape(strip_tags(html)).split())


def _excerpt(text: str, words: list[str]) -> str:
    place = min((at for word in words if (at := text.lower().find(word)) >= 0), default=0)
    start, end = max(0, place - AROUND), place + AROUND
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")
