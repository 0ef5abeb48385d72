"""Values of a design, for people to read."""

import json
from collections.abc import Sequence
from decimal import Decimal

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
MOST_ENTRIES = 40  # that are written out


def _says_nothing(value: object) -> bool:
    return value is None or value is False or value in ("", [], {})


@register.filter
def design_value(value: object) -> str | SafeString:
    """Text as it is written, lists in a line, objects by their fields, the rest as JSON; what is empty says so."""
    if value is None or value in ("", [], {}):
        return format_html('<span class="muted">{}</span>', "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return format_html('<span class="design-text">{}</span>', value)
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)
    if isinstance(value, dict):
        lines = ((name.replace("_", " "), design_value(one)) for name, one in value.items() if not _says_nothing(one))
        return format_html_join(mark_safe("<br>"), '<span class="muted">{}:</span> {}', lines)
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return format_html_join("", '<div class="design-one">{}</div>', ((design_value(one),) for one in value))
    if isinstance(value, list) and len(value) > MOST_ENTRIES:
        return f"{len(value):,} entries, the first {json.dumps(value[0], ensure_ascii=False)}"
    if isinstance(value, list):
        return format_html('<code class="design-json">{}</code>', json.dumps(value, ensure_ascii=False, indent=1))
    return f"{value:g}" if isinstance(value, float) else str(value)


@register.filter
def design_path(path: Sequence[str]) -> str:
    return " › ".join(part.replace("_", " ") for part in path)


@register.filter
def plainly(number: Decimal) -> str:
    """Without zeros that say nothing: 0.12 for 0.1200, and 20 for 20.00, which ``normalize`` alone writes as 2E+1."""
    return f"{number.normalize():f}"
