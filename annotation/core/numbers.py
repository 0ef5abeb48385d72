"""Numbers for databases, files and pages."""

import math

MORE_DIGITS = 7  # at most, of an end that is nearly 0


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


def end_digits(low: float, high: float, digits: int = 2) -> tuple[int, int]:
    """Return with how many decimals to write the ends of an interval: more if one rounds to 0 and leaves 0 out.

    >>> end_digits(0.004, 0.19), end_digits(-0.004, 0.19), end_digits(-0.3, -0.0004)
    ((3, 2), (2, 2), (2, 4))
    """
    if not (low > 0 or high < 0):
        return digits, digits
    low_digits, high_digits = (
        next((n for n in range(digits, digits + MORE_DIGITS) if float(f"{end:.{n}f}")), digits) for end in (low, high)
    )
    return low_digits, high_digits


def ends_in_words(low: float, high: float) -> tuple[str, str]:
    """Return both ends with two decimals, or with as many as show that the interval leaves out 0.

    >>> ends_in_words(-0.31, -0.004)
    ('−0.31', '−0.004')
    """
    of_low, of_high = end_digits(low, high)
    return decimals(low, of_low), decimals(high, of_high)


def in_brackets(ends: tuple[float, float] | None) -> str:
    """Return an interval as it stands behind its estimate, after a space; empty if there is none.

    >>> in_brackets((-0.31, -0.004)), in_brackets(None)
    (' [−0.31, −0.004]', '')
    """
    return f" [{', '.join(ends_in_words(*ends))}]" if ends else ""


def card(label: str, value: int | str, hint: str = "", link: str = "") -> dict[str, str]:
    """Return what ``components/stat_card.html`` shows."""
    return {"label": label, "value": value if isinstance(value, str) else f"{value:,}", "hint": hint, "link": link}


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "unit"), counted(2000, "reply", "replies")
    ('1 unit', '2,000 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
