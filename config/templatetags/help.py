"""What the header's help says about the page, and addresses in the documents."""

from django import template
from django.template import Context
from django.urls import reverse

from config.help.pages import Page, page_of

register = template.Library()


@register.simple_tag(takes_context=True)
def about_page(context: Context) -> Page | None:
    """Return what help says of the page that is shown, or None."""
    match = getattr(context.get("request"), "resolver_match", None)
    return page_of(match.view_name) if match else None


@register.filter
def document_url(source: str) -> str:
    """Return the address of ``document#heading`` in the product."""
    name, _, anchor = source.partition("#")
    return reverse("help-document", args=[name]) + (f"#{anchor}" if anchor else "")
