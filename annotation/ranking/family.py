"""A family of differences: p-values corrected after Holm, and intervals that agree with what they find.

Bonferroni's intervals, each with confidence 1 - alpha / m, hold together with a chance of 1 - alpha at least. Holm's
procedure finds some differences that they leave open: such a difference has the end near 0 from the step of the
procedure that found it, 1 - alpha / (m - i + 1) at the i-th smallest p, and keeps the other end. So an interval holds 0
if and only if its p, corrected, is above alpha.

References
----------
Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979; Serlin,
Confidence Intervals and the Scientific Method: A Case for Holm on the Range, Journal of Experimental Education 61(4),
1993 (intervals of the procedure's steps).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.ranking.clustered import TwoWayVariance
from annotation.ranking.holm import holm_adjusted

ALPHA = 0.05

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Family:
    """Attributes
    ----------
    adjusted : (K,) float
        p-values by Holm's correction; NaN where undefined.
    family_low, family_high : (K,) float
        Intervals that hold together, 95%; NaN where nothing varies.
    """

    adjusted: FloatArray
    family_low: FloatArray
    family_high: FloatArray


def family(
    estimates: npt.ArrayLike,
    variances: Sequence[TwoWayVariance],
    p_values: npt.ArrayLike,
    *,
    alpha: float = ALPHA,
) -> Family:
    """Return the corrected p-values of K differences, and their intervals.

    Parameters
    ----------
    estimates : (K,) float
    variances : sequence of K TwoWayVariance
    p_values : (K,) float
        Those of ``variances``; NaN is no comparison.

    Examples
    --------
    >>> spread = TwoWayVariance(0.04, 40.0, 0.0, np.inf)
    >>> p = [spread.p_value(0.5), spread.p_value(0.44)]
    >>> found = family([0.5, 0.44], [spread, spread], p)
    >>> found.adjusted.round(3), found.family_low.round(2), found.family_high.round(2)
    (array([0.033, 0.034]), array([0.03, 0.04]), array([0.97, 0.91]))
    """
    differences, values = np.asarray(estimates, dtype=np.float64), np.asarray(p_values, dtype=np.float64)
    adjusted = holm_adjusted(values)
    n = int((~np.isnan(values)).sum())
    place = np.empty(values.size, dtype=np.int64)
    place[np.argsort(values, kind="stable")] = np.arange(values.size)  # NaN last
    low, high = np.full((2, values.size), np.nan)
    for index, (difference, variance) in enumerate(zip(differences.tolist(), variances, strict=True)):
        if np.isnan(values[index]):
            continue
        far = near = variance.half_width(1 - alpha / n)
        if adjusted[index] <= alpha and far >= abs(difference):
            near = min(variance.half_width(1 - alpha / (n - place[index])), abs(difference) * (1 - 1e-9))
        below, above = (near, far) if difference >= 0 else (far, near)
        low[index], high[index] = difference - below, difference + above
    return Family(adjusted, low, high)
