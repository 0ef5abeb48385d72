"""The shared components of pages, for values that are put together in Python."""

from collections.abc import Mapping, Sized

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from annotation.core.leads import after_first_sentence, first_sentence
from annotation.core.problems import grouped
from annotation.core.waiting import hours_left, queue_text, time_left

register = template.Library()
FIRST = 10


@register.simple_tag
def component(name: str, values: Mapping[str, object]) -> SafeString:
    """Render a template of ``components/`` with these values."""
    return render_to_string(f"components/{name}.html", dict(values))


register.filter("after_first_sentence", after_first_sentence)
register.filter("first_sentence", first_sentence)
register.filter("grouped", grouped)
register.filter("hours_left", hours_left)
register.filter("queue_text", queue_text)
register.filter("time_left", time_left)


@register.inclusion_tag("components/show_all.html")
def show_all(rows: Sized | int | None, nouns: str, *other_pages: object, first: int = FIRST) -> dict[str, object]:
    """Fold what comes after the tenth row of the table, list or grid right before; nothing if that is one row or none.

    ``other_pages`` are the addresses of the list's other pages, if there are any. ``first`` is 10, 6 for a table
    below a chart of its rows (on phones 4 cards), or 3 for large cards: static/css/assay.css has a rule for each.
    """
    count = rows if isinstance(rows, int) else len(rows or ())
    return {"count": count, "nouns": nouns, "first": first, "is_long": count > first + 1, "is_part": any(other_pages)}
