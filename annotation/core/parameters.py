"""Parameters of a request's query."""

from django.http import HttpRequest

MOST_DIGITS = 18  # fits the id of any row


def whole_number(request: HttpRequest, name: str) -> int | None:
    """Return a parameter as a whole number, or None if it is missing or too long for an id."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
