"""The same table in another format, for the download menu."""

from django import template

register = template.Library()


@register.filter
def as_format(csv_url: str, wanted: str) -> str:
    """The address of a table's CSV, asked for in another format; '' where the address does not say its format."""
    address = str(csv_url)
    path, mark, query = address.partition("?")
    if path.endswith(".csv"):
        return f"{path.removesuffix('csv')}{wanted}{mark}{query}"
    return f"{address.removesuffix('csv')}{wanted}" if address.endswith("format=csv") else ""
