"""Numbers as a report writes them."""

from django import template

register = template.Library()
MINUS = "−"


@register.filter
def percent(share: float | None) -> str:
    """A share in whole percent; what is not nothing is never written as 0."""
    if share is None:
        return "–"
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


@register.filter
def signed(value: float | None, places: int = 3) -> str:
    """With its sign, and a minus that is one; an undefined difference is a dash."""
    return "–" if value is None else f"{value:+.{places}f}".replace("-", MINUS)
