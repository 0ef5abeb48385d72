"""Holm's correction of p-values for their number."""

import math

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def holm_adjusted(p_values: npt.ArrayLike) -> FloatArray:
    """Return Holm's step-down p-values; an undefined one (NaN) stays so and is not counted as a comparison.

    References
    ----------
    Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979.

    Examples
    --------
    >>> holm_adjusted([0.01, 0.04, 0.03, math.nan]).round(3).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(values.shape, math.nan)
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    steps = np.arange(order.size, 0, -1) * values[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
