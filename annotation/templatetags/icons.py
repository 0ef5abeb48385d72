"""Icons, in every template without loading: a page shows twenty and more of them."""

from functools import lru_cache

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
@lru_cache(maxsize=512)
def icon(name: str, css_class: str = "") -> SafeString:
    """Return an icon by its name in the sprite, and a space. Screen readers skip it: a text stands beside it."""
    address = static("vendor/bootstrap-icons/icons.svg")
    classes = f"icon {css_class}".rstrip()
    return format_html(
        '<svg class="{}" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>\n', classes, address, name
    )
