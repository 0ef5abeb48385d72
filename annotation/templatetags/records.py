"""A filter for the datasheet's page."""

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def at(mapping: Mapping[str, Any], key: str) -> Any:
    """Return the value at a key that only the template knows, or None."""
    return mapping.get(key)
