"""Two-sided intervals, and Fisher's z interval of a correlation."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy import special


class Interval(NamedTuple):
    """A two-sided interval; both ends NaN where it is undefined."""

    low: float
    high: float


NOWHERE = Interval(math.nan, math.nan)
LEVELS = (0.5 - 0.95 / 2, 0.5 + 0.95 / 2)  # of the ends of a 95% interval


def fisher_z_interval(r: float, n: float, *, confidence: float = 0.95) -> Interval:
    """Return the interval of a correlation through Fisher's z, with standard error 1 / sqrt(n - 3).

    Parameters
    ----------
    r : float
        The coefficient, in [-1, 1]; Pearson's, Spearman's or, as in [2], Kendall's.
    n : float
        Number of observations.
    confidence : float
        Strictly between 0 and 1.

    Returns
    -------
    Interval
        Within [-1, 1]; NaN where ``r`` is NaN or n <= 3; both ends equal to ``r`` where it is -1 or 1.

    Raises
    ------
    ValueError
        If ``r`` lies outside [-1, 1] or ``confidence`` outside (0, 1).

    References
    ----------
    [1] Fisher, "On the 'probable error' of a coefficient of correlation deduced from a small sample", Metron 1921.
    [2] Galley et al., "deltaBLEU: a discriminative metric for generation tasks with intrinsically diverse targets",
        ACL 2015, Table 2, whose intervals follow with n = 528.

    Examples
    --------
    >>> low, high = fisher_z_interval(0.484, 528)
    >>> round(low, 3), round(high, 3)
    (0.416, 0.547)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}: it must lie strictly between 0 and 1, for example 0.95")
    if math.isnan(r) or n <= 3:
        return NOWHERE
    if not -1 <= r <= 1:
        raise ValueError(f"r is {r!r}: a correlation lies in [-1, 1]")
    if abs(r) == 1:
        return Interval(r, r)
    reach = float(special.ndtri(0.5 + confidence / 2)) / math.sqrt(n - 3)
    z = math.atanh(r)
    return Interval(math.tanh(z - reach), math.tanh(z + reach))
