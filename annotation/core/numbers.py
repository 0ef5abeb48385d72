"""Numbers as a database, a file or a page takes them."""

import math


def finite_or_none(value: float) -> float | None:
    """The number as Python's own; None where it is undefined."""
    return float(value) if math.isfinite(value) else None
