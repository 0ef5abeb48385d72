"""The same table in another format, for the download menu."""

from django import template

register = template.Library()


@register.filter
def as_format(csv_url: str, file_format: str) -> str:
    """Return a table's CSV address for another format; '' if the address does not name its format."""
    address = str(csv_url)
    path, mark, query = address.partition("?")
    if path.endswith(".csv"):
        return f"{path.removesuffix('csv')}{file_format}{mark}{query}"
    return f"{address.removesuffix('csv')}{file_format}" if address.endswith("format=csv") else ""
