"""Search in texts by words or as a substring, and mark the matches."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.contrib.postgres.search import SearchHeadline, SearchQuery
from django.db.models import Manager, Value
from django.db.models.functions import Left
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from annotation.core import sql
from annotation.models import Item, Response

SHOWN_CHARACTERS = 600
# Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
# Of Unicode's private use area, which readable texts do not use.
_OPEN, _CLOSE = "\ue0f0", "\ue0f1"
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")


def read_as_words(text: str) -> bool:
    """Return whether to search by words: not in scripts without spaces, and not without a word."""
    return bool(re.search(r"[^\W_]", text)) and not _UNSPACED.search(text) and _has_word(text)


@lru_cache(maxsize=256)
def _has_word(text: str) -> bool:
    """Ask the database: signs such as ² or ½ are letters to Python but not words to PostgreSQL."""
    return bool(sql.row("SELECT numnode(websearch_to_tsquery('simple', %s)) > 0", [text])[0])


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1].rstrip() + "…"


def marked_responses(text: str, responses: Sequence[Response]) -> dict[int, SafeString]:
    """Return each response's text as HTML with the matches marked."""
    return _marked(Response.objects, responses, "text", text)


def marked_messages(text: str, items: Sequence[Item]) -> dict[int, SafeString]:
    """Return each item's message as HTML with the matches marked."""
    return _marked(Item.objects, items, "message", text)


def _marked(manager: Manager[Any], rows: Sequence[Any], field: str, text: str) -> dict[int, SafeString]:
    """Mark substrings; or let the database mark words, which depend on its reading of search and text."""
    if not read_as_words(text):
        return {row.pk: _marked_substring(text, shortened(getattr(row, field))) for row in rows}
    headline = SearchHeadline(
        Left(field, SHOWN_CHARACTERS + 1),
        SearchQuery(text, config="simple", search_type="websearch"),
        config=Value("simple"),
        start_sel=_OPEN,
        stop_sel=_CLOSE,
        highlight_all=True,
    )
    matches = manager.filter(pk__in=[row.pk for row in rows]).order_by()
    headlines = matches.annotate(headline=headline).values_list("pk", "headline")
    return {pk: _as_html(marked) for pk, marked in headlines}


def _as_html(marked: str) -> SafeString:
    plain = len(marked) - marked.count(_OPEN) - marked.count(_CLOSE)
    if plain > SHOWN_CHARACTERS:
        marked = marked[:-1].rstrip() + "…"
    return mark_safe(_MARKED.sub(r"<mark>\1</mark>", escape(marked)))  # noqa: S308 - escaped: no other tags


def _marked_substring(search: str, text: str) -> SafeString:
    return _as_html(re.sub(re.escape(search), lambda match: f"{_OPEN}{match[0]}{_CLOSE}", text, flags=re.IGNORECASE))
