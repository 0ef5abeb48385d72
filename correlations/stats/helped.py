"""The difference of two systems' mean ratings with the help of a metric, item by item."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.worth import RegressionEstimate, regression_estimate

ENOUGH_OUTPUTS = 10  # rated, of a system: with fewer, the slope costs more than it can save
TOO_FEW = f"fewer than {ENOUGH_OUTPUTS} outputs with a score and a rating"
FEWEST = 4  # items with ratings and scores of both


def regression_difference(
    first_ratings: ArrayLike, second_ratings: ArrayLike, first_scores: ArrayLike, second_scores: ArrayLike
) -> RegressionEstimate | None:
    """Estimate by how much the first system's mean rating lies above the second's, over all items that both answered.

    An item's difference in rating is regressed on its difference in score, as `regression_estimate` does with
    outputs: what makes an item hard for both systems falls out of both sides.

    Parameters
    ----------
    first_ratings, second_ratings : (items,) float
        Mean rating of each system's output, in points; NaN without one. Rated items are drawn at random from all.
    first_scores, second_scores : (items,) float
        The metric's scores, in any unit; NaN without one. Items without both scores do not count.

    Returns
    -------
    RegressionEstimate or None
        None if fewer than 4 items have ratings and scores of both.

    Raises
    ------
    ValueError
        If the lengths differ.

    References
    ----------
    Cochran, "Sampling techniques", 3rd edition, 1977, chapter 12; with differences in place of values it is the
    regression estimate of a paired difference. Chaganty, Mussmann and Liang, ACL 2018, for metrics.

    Examples
    --------
    >>> ratings = [4, 3, 5, 4, np.nan, np.nan], [2, 3, 3, 1, np.nan, np.nan]
    >>> result = regression_difference(*ratings, [0.7, 0.5, 0.9, 0.9, 0.2, 0.4], [0.3, 0.4, 0.5, 0.2, 0.3, 0.3])
    >>> round(result.mean, 2), round(result.estimate, 2)
    (1.75, 1.08)
    """
    sides = [
        np.asarray(side, dtype=np.float64) for side in (first_ratings, second_ratings, first_scores, second_scores)
    ]
    if len({side.shape for side in sides}) > 1 or sides[0].ndim != 1:
        raise ValueError(f"shapes are {[side.shape for side in sides]}: four lists over the same items are expected")
    apart, scored_apart = sides[0] - sides[1], sides[2] - sides[3]
    scored = np.isfinite(scored_apart)
    both = scored & np.isfinite(apart)
    if both.sum() < FEWEST:
        return None
    return regression_estimate(apart[both], scored_apart[both], scored_apart[scored])
