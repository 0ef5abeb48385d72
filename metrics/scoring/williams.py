"""Williams' test of two dependent correlations."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from scipy import special


class Comparison(NamedTuple):
    """A test's statistic and two-sided p-value in [0, 1], with the reason if they are NaN."""

    statistic: float
    pvalue: float
    reason: str | None = None


def williams_test(r12: float, r13: float, r23: float, n: int, *, dof: Literal["n-3", "n-2"] = "n-3") -> Comparison:
    """Test that two correlations sharing one variable are equal, by Williams: H0 rho12 = rho13.

    Parameters
    ----------
    r12, r13 : float
        Correlations of the human scores (1) with metric 2 and with metric 3, in [-1, 1].
    r23 : float
        Correlation of the two metrics with each other.
    n : int
        Number of observations behind each.
    dof : {"n-3", "n-2"}
        Degrees of freedom of the t distribution. "n-3" is the published form; some public scripts use "n-2".

    Returns
    -------
    Comparison
        t (positive where r12 > r13) and its two-sided p. NaN, with the reason, where n <= 3, where an input is NaN,
        or where the three correlations leave no variance (metrics 2 and 3 are the same).

    Raises
    ------
    ValueError
        If a correlation lies outside [-1, 1] or ``dof`` is not one of the two forms.

    References
    ----------
    Williams, "The comparison of regression variables", JRSS B 1959; Steiger, "Tests for comparing elements of a
    correlation matrix", Psychological Bulletin 1980, eq. 7.

    Examples
    --------
    >>> result = williams_test(0.4, 0.5, 0.1, 103)
    >>> round(result.statistic, 2), round(result.pvalue, 2)
    (-0.89, 0.37)
    """
    if dof not in ("n-3", "n-2"):
        raise ValueError(f'dof is {dof!r}: accepted are "n-3" and "n-2"')
    for name, value in (("r12", r12), ("r13", r13), ("r23", r23)):
        if math.isnan(value):
            return Comparison(math.nan, math.nan, f"{name} is undefined")
        if not -1 <= value <= 1:
            raise ValueError(f"{name} is {value!r}: a correlation lies in [-1, 1]")
    if n <= 3:
        return Comparison(math.nan, math.nan, f"{n} observations: at least 4 are needed")
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    mean = (r12 + r13) / 2
    variance = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3
    if variance <= 0:
        return Comparison(math.nan, math.nan, "the two metrics order the observations alike: nothing varies")
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / variance)
    freedom = n - 3 if dof == "n-3" else n - 2
    return Comparison(t, 2 * float(special.stdtr(freedom, -abs(t))))
