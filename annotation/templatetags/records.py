"""Of the datasheet's page."""

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def at(mapping: Mapping[str, Any], key: str) -> Any:
    """What stands at a key that is known only as the page is drawn; None where nothing does."""
    return mapping.get(key)
