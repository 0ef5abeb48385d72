"""Intervals of means of ratings, over new samples of raters and items together.

Ratings by one rater share that rater's severity, and ratings of one item its difficulty. The variance of a mean is then
that of items, plus what raters add to it (two-way clustering [1]). Few raters say little about raters, so each of the
two parts has its own quantile of Student's t [2]. What single ratings vary by is in both: it is taken from the raters'
part for the mean of a system, and from the items' for a difference. There the few degrees of freedom of few raters are
left whole, so that tests stay honest at the small p that a correction for many differences asks for.

References
----------
[1] Cameron, Gelbach and Miller, Robust Inference with Multiway Clustering, Journal of Business and Economic Statistics
29(2), 2011, eq. 2.11; Owen, The Pigeonhole Bootstrap, Annals of Applied Statistics 1(2), 2007, on what resampling
of both overstates.
[2] Graybill and Wang, Confidence Intervals on Nonnegative Linear Combinations of Variances, JASA 75, 1980; Burdick and
Graybill, Confidence Intervals on Variance Components, 1992, section 3.2 (modified large-sample intervals).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

CONFIDENCE = 0.95
BISECTIONS = 60  # halves [0, 1] down to the last bit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Codes of the item, the rater and the pair of both for each observation; no raters if they are unknown."""

    item: IntArray
    rater: IntArray | None
    cell: IntArray

    @classmethod
    def of(cls, item: npt.ArrayLike, rater: npt.ArrayLike | None) -> "Clusters":
        """Return the clusters; a rater below 0 is unknown and taken for another one each time."""
        items = np.unique(np.asarray(item), return_inverse=True)[1].astype(np.int64)
        if rater is None:
            return cls(items, None, items)
        raters = np.array(rater, dtype=np.int64)
        unknown = np.flatnonzero(raters < 0)
        raters[unknown] = raters.max(initial=0) + 1 + np.arange(unknown.size)
        raters = np.unique(raters, return_inverse=True)[1].astype(np.int64)
        pair = items * (int(raters.max(initial=0)) + 1) + raters
        return cls(items, raters, np.unique(pair, return_inverse=True)[1].astype(np.int64))

    def select(self, keep: npt.NDArray[np.bool_] | IntArray) -> "Clusters":
        return Clusters(self.item[keep], None if self.rater is None else self.rater[keep], self.cell[keep])


@dataclass(frozen=True)
class TwoWayVariance:
    """The variance of an estimate in two parts, of items and of raters; NaN if there are too few of either.

    ``n_items`` and ``n_raters`` are effective: unequal shares count as fewer.
    """

    items: float
    n_items: float
    raters: float
    n_raters: float

    @property
    def standard_error(self) -> float:
        return float(np.sqrt(self.items + self.raters))

    def half_width(self, confidence: float = CONFIDENCE) -> float:
        """Return the half-width of the interval; NaN where nothing varies."""
        if not self.items + self.raters > 0:
            return np.nan
        of_items = stdtrit(self.n_items - 1, 0.5 + confidence / 2)
        of_raters = stdtrit(self.n_raters - 1, 0.5 + confidence / 2) if self.raters else 0.0
        return float(np.sqrt(of_items**2 * self.items + of_raters**2 * self.raters))

    def p_value(self, estimate: float) -> float:
        """Return the two-sided p of an estimate against 0: 1 less the confidence whose interval just reaches 0."""
        if not self.items + self.raters > 0:
            return np.nan
        # Between the two tails of the same ratio by each of the degrees of freedom.
        ratio = -abs(estimate) / self.standard_error
        tails = [2 * float(stdtr(n - 1, ratio)) for n in (self.n_items, self.n_raters if self.raters else self.n_items)]
        low, high = min(tails), max(tails)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.half_width(1 - middle) > abs(estimate) else (low, middle)
        return (low + high) / 2


UNKNOWN = TwoWayVariance(np.nan, np.nan, np.nan, np.nan)


def two_way_variance(
    influence: FloatArray, clusters: Clusters, weight: FloatArray, *, whole_raters: bool = False
) -> TwoWayVariance:
    """Return the variance of an estimate that is a sum over observations.

    Parameters
    ----------
    influence : (n,) float
        What each observation adds to the estimate, less what it is expected to add; they sum to 0.
    clusters : Clusters
    weight : (n,) float
        The share of each observation in the estimate, 0 or more: from them follows how many items and raters there are
        in effect.
    whole_raters : bool
        Whether the variance between single ratings is taken from that between items, and not from that between raters.
    """
    items, n_items = _between(influence, clusters.item, weight)
    if clusters.rater is None:
        return TwoWayVariance(items, n_items, 0.0, np.inf) if n_items > 1 else UNKNOWN
    raters, n_raters = _between(influence, clusters.rater, weight)
    if not (n_items > 1 and n_raters > 1):
        return UNKNOWN
    cells = float((np.bincount(clusters.cell, influence) ** 2).sum())
    if whole_raters:
        return TwoWayVariance(max(items - min(cells, raters), 0.0), n_items, raters, n_raters)
    return TwoWayVariance(items, n_items, max(raters - cells, 0.0), n_raters)


def _between(influence: FloatArray, cluster: IntArray, weight: FloatArray) -> tuple[float, float]:
    """Return the variance between clusters with the factor of few ones, and how many there are in effect."""
    shares = np.bincount(cluster, weight)
    squares = float((shares**2).sum())
    n = float(shares.sum()) ** 2 / squares if squares else 0.0
    if n < 1 + 1e-9:
        return np.nan, 1.0
    sums = np.bincount(cluster, influence)
    return float((sums**2).sum()) * n / (n - 1), n
