"""How far each rater agrees with the others: a rater who agrees with none is no bar for a judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.closeness import GivenRatings
from correlations.stats.ranks import Floats

FEWEST = 3  # outputs, for a test of a correlation


def agreement_with_others(ratings: ArrayLike | GivenRatings, candidate: ArrayLike) -> tuple[Floats, Floats]:
    """Correlate each rater with the mean of the others, over the outputs on which a candidate is tested.

    Parameters
    ----------
    ratings : (raters, outputs) float, or GivenRatings
        In points; NaN where the rater did not rate the output.
    candidate : (outputs,) float
        Only outputs with a value count, as in ``alternative_annotator_test``.

    Returns
    -------
    (raters,) float, (raters,) float
        Pearson's r, NaN with fewer than 3 outputs or where one side is constant; and the one-sided p-value that it is
        not above 0, by Student's t with n - 2 degrees of freedom; 1 where r is undefined.

    Raises
    ------
    ValueError
        If there are fewer than 2 raters, or a rating is infinite.

    Examples
    --------
    >>> r, p = agreement_with_others([[1, 2, 3, 4, 5], [1, 3, 2, 4, 5], [2, 2, 2, 2, 2]], np.ones(5))
    >>> r.round(3).tolist(), p.round(3).tolist()
    ([0.9, 0.9, nan], [0.019, 0.019, 1.0])
    """
    given, counted = GivenRatings.of(ratings), np.isfinite(np.asarray(candidate, dtype=np.float64))
    compared = np.flatnonzero(counted[given.item] & (given.n_others > 0))
    ends = np.searchsorted(given.rater[compared], np.arange(1, given.n_raters))
    values, p_values = np.full(given.n_raters, np.nan), np.ones(given.n_raters)
    for rater, of_rater in enumerate(np.split(compared, ends)):
        if of_rater.size < FEWEST:
            continue
        own = given.value[of_rater]
        others = (given.sum_of_item[given.item[of_rater]] - own) / given.n_others[of_rater]
        if np.ptp(own) == 0 or np.ptp(others) == 0:
            continue
        r = float(np.clip(np.corrcoef(own, others)[0, 1], -1, 1))
        values[rater], p_values[rater] = r, _above_zero(r, of_rater.size)
    return values, p_values


def _above_zero(r: float, n: int) -> float:
    if abs(r) == 1:
        return 0.0 if r > 0 else 1.0
    return float(special.stdtr(n - 2, -r * np.sqrt((n - 2) / (1 - r**2))))
