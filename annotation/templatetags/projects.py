"""The tabs of a project's pages."""

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag(takes_context=True)
def tab(context: Context, url_name: str, label: str, *view_names: str) -> SafeString:
    """Return a link to a list; it is the current one on pages whose view name contains one of ``view_names``."""
    match = context["request"].resolver_match
    view_name = match.view_name if match else ""
    current = any(part in view_name for part in view_names)
    mark = mark_safe(' aria-current="page"') if current else ""
    url = reverse(url_name, args=[context["project"].slug])
    return format_html('<li><a href="{}"{}>{}</a></li>', url, mark, label)
