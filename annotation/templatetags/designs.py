"""Values of a design, for people to read."""

import json

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def design_value(value: object) -> str | SafeString:
    """Text as it is written, lists in a line, whole objects as JSON; what is empty says so."""
    if value is None or value in ("", [], {}):
        return format_html('<span class="muted">{}</span>', "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return format_html('<span class="design-text">{}</span>', value)
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(map(str, value))
    if isinstance(value, list | dict):
        return format_html('<code class="design-json">{}</code>', json.dumps(value, ensure_ascii=False, indent=1))
    return str(value)
