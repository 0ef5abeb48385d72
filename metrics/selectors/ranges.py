"""The range of a metric's scores in words."""

import math


def range_words(low: float, high: float) -> str:
    """Return ``−1 to 1``, ``0 and more``, ``at most 0`` or ``unbounded``."""
    least, most = (f"{bound:g}".replace("-", "−") for bound in (low, high))
    if math.isinf(low):
        return "unbounded" if math.isinf(high) else f"at most {most}"
    return f"{least} and more" if math.isinf(high) else f"{least} to {most}"
