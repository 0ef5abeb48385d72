"""Numbers for databases, files and pages."""

import math


def finite_or_none(value: float) -> float | None:
    """Return the number as a Python float, or None if it is undefined."""
    return float(value) if math.isfinite(value) else None


def decimals(value: float, digits: int = 2, *, plus: bool = False) -> str:
    """Return a number with so many decimals and a true minus sign; what is rounded to 0 has no sign.

    >>> decimals(-0.314), decimals(0.2, plus=True), decimals(-0.001), decimals(0.001, plus=True)
    ('−0.31', '+0.20', '0.00', '0.00')
    """
    text = f"{value:z,.{digits}f}"
    return f"+{text}" if plus and value > 0 and float(text.replace(",", "")) else text.replace("-", "−")


def card(label: str, value: int | str, hint: str = "", link: str = "") -> dict[str, str]:
    """Return what ``components/stat_card.html`` shows."""
    return {"label": label, "value": value if isinstance(value, str) else f"{value:,}", "hint": hint, "link": link}


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "unit"), counted(2000, "reply", "replies")
    ('1 unit', '2,000 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
