"""The shared components of pages, for values that are put together in Python."""

from collections.abc import Mapping

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def component(name: str, values: Mapping[str, object]) -> SafeString:
    """Render a template of ``components/`` with these values."""
    return render_to_string(f"components/{name}.html", dict(values))
