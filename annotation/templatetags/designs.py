"""Values of a design, for people to read."""

import json
from collections.abc import Sequence
from decimal import Decimal

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
MOST_ENTRIES = 40  # a longer list shows its length and first entry


def _is_empty(value: object) -> bool:
    return value is None or value is False or value in ("", [], {})


@register.filter
def design_value(value: object) -> str | SafeString:
    """Show text as it is, lists in a line, objects by their fields, the rest as JSON, and empty values as “none”."""
    if value is None or value in ("", [], {}):
        return format_html('<span class="muted">{}</span>', "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return format_html('<span class="design-text">{}</span>', value)
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        return ", ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in value)
    if isinstance(value, dict):
        lines = ((name.replace("_", " "), design_value(part)) for name, part in value.items() if not _is_empty(part))
        return format_html_join(mark_safe("<br>"), '<span class="muted">{}:</span> {}', lines)
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return format_html_join("", '<div class="design-one">{}</div>', ((design_value(part),) for part in value))
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
    """Drop trailing zeros: 0.12 for 0.1200, and 20 for 20.00, which ``normalize`` alone writes as 2E+1."""
    return f"{number.normalize():f}"
