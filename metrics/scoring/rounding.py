"""Rounding of parts to a rounded sum."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np


def rounded_parts(parts: Sequence[float], digits: int) -> list[float]:
    """Round the parts of a sum so that they add up to the rounded sum, by the largest remainders.

    Each is off by less than one in the last digit.

    Parameters
    ----------
    parts : sequence of finite floats
    digits : int
        After the point.

    Raises
    ------
    ValueError
        A part is not finite.

    References
    ----------
    Balinski, Young: Fair Representation. Yale University Press 1982, chapter 3 (Hamilton's method).

    Examples
    --------
    >>> rounded_parts([1 / 3, 1 / 3, 1 / 3], 2)
    [0.34, 0.33, 0.33]
    """
    values = np.asarray(parts, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"parts: found {list(parts)}; accepted: finite numbers")
    scaled = values * 10.0**digits
    whole = np.floor(scaled)
    up = int(np.rint(scaled.sum())) - int(whole.sum())
    whole[np.argsort(-(scaled - whole), kind="stable")[:up]] += 1
    return [float(Decimal(int(units)).scaleb(-digits)) for units in whole]
