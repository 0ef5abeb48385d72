"""What the query of an address asks for."""

from django.http import HttpRequest

MOST_DIGITS = 18  # fits the id of any row


def whole_number(request: HttpRequest, name: str) -> int | None:
    """The whole number of this name; None where there is none, or one that no row could have."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
