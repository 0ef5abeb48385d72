"""The result of a weighting scheme."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.weighting.table import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class WeightResult:
    """Weights of R responses with their uncertainty; unitless, in [-1, +1].

    Attributes
    ----------
    weights : float array, shape (R,)
        NaN where no rating counts.
    n : int array, shape (R,)
        Ratings that count towards the weight.
    n_raters : int array, shape (R,)
        Different raters among them.
    mean : float array, shape (R,)
        Mean rating on the original scale, whatever the scheme.
    standard_error : float array, shape (R,)
        Of the weight, from the spread of raters about a response, pooled over responses; NaN below two raters, or
        where all raters agree on every response.
    low, high : float array, shape (R,)
        95% interval of the weight over new samples of raters, Student's t; within [-1, +1], NaN where the error is.
    reasons : str array, shape (R,)
        Why something is NaN; empty where nothing is.
    signature : str
        Scheme, scale, parameters and version in one line.
    """

    weights: FloatArray
    n: IntArray
    n_raters: IntArray
    mean: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    reasons: npt.NDArray[np.str_]
    signature: str

    @property
    def tenths(self) -> IntArray | None:
        """Return ten times each weight as integers if every weight is a multiple of 0.1, else None."""
        return exact_tenths(self.weights)


def exact_tenths(weights: npt.ArrayLike) -> IntArray | None:
    """Return ten times each weight as integers if every weight is the double nearest to a multiple of 0.1, else None.

    Sums of these integers are exact and do not depend on their order.

    >>> exact_tenths([0.6, -0.8]).tolist()
    [6, -8]
    >>> exact_tenths([0.6, 1 / 3]) is None
    True
    """
    array = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(array).all():
        return None
    tenths = np.rint(array * 10)
    return tenths.astype(np.int64) if np.array_equal(tenths / 10, array) else None
