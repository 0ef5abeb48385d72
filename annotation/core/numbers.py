"""Numbers for databases, files and pages."""

import math


def finite_or_none(value: float) -> float | None:
    """Return the number as a Python float, or None if it is undefined."""
    return float(value) if math.isfinite(value) else None


def card(label: str, value: int | str, hint: str = "", link: str = "") -> dict[str, str]:
    """Return what ``components/stat_card.html`` shows."""
    return {"label": label, "value": value if isinstance(value, str) else f"{value:,}", "hint": hint, "link": link}


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "unit"), counted(2000, "reply", "replies")
    ('1 unit', '2,000 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
