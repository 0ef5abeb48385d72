"""The same table in another format, for the download menu."""

from django import template

register = template.Library()
ENDINGS = ("format=csv", ".csv")


@register.filter
def as_format(csv_url: str, wanted: str) -> str:
    """The address of a table's CSV, asked for in another format; '' where the address does not say its format."""
    for ending in ENDINGS:
        if str(csv_url).endswith(ending):
            return f"{str(csv_url).removesuffix('csv')}{wanted}"
    return ""
