"""Parameters of a request's query."""

from django.http import HttpRequest, QueryDict

MOST_DIGITS = 18  # fits the id of any row


def whole_number(request: HttpRequest, name: str) -> int | None:
    """Return a parameter as a whole number, or None if it is missing or too long for an id."""
    text = request.GET.get(name, "")
    return int(text) if is_whole(text) else None


def whole_numbers(data: QueryDict, name: str) -> set[int]:
    """Return the values of a parameter that are whole numbers, such as the ids of ticked rows."""
    return {int(text) for text in data.getlist(name) if is_whole(text)}


def is_whole(text: str) -> bool:
    """Return whether a text is the whole number of a row, or can be."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
