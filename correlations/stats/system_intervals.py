"""95% intervals of a correlation over systems, from what it is on items, systems and raters that are drawn anew.

The middle 95% of draws holds the truth less often: noise draws coefficients to 0, in a draw once more than in the
study, and over few systems or raters draws vary too little. docs/methods.md has the coverage of each interval.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from correlations.stats.intervals import LEVELS, NOWHERE, Interval
from correlations.stats.ranks import Floats
from correlations.stats.resampling import RaterRatings, replicates_interval

NORMAL = float(special.ndtri(LEVELS[1]))
FEWEST_ALONE = 6  # systems; below, those drawn alone hold the truth in 73 to 98 %
_EQUAL = 1e-9  # what rounding adds


def over_items(value: float, draws: Floats) -> Interval:
    """Return the interval over other items, for these systems and raters.

    The normal interval, with the root mean squared distance of the draws from the value as its error: their bias counts
    as error, in both directions, since that of the value itself is not known.

    Parameters
    ----------
    value : float
        The study's coefficient, in [-1, 1].
    draws : (B,) float
        The coefficient on drawn items; NaN where undefined.

    Returns
    -------
    Interval
        Within [-1, 1]; NaN if ``value`` is NaN, fewer than half of the draws are defined, or all are equal, which says
        nothing of how far they may vary.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(0.68, 0.05, 2000)
    >>> low, high = over_items(0.7, draws)
    >>> round(low, 2), round(high, 2)
    (0.59, 0.81)
    """
    defined = _defined(value, draws)
    if defined is None:
        return NOWHERE
    return _around(value, NORMAL * math.sqrt(float(np.mean((defined - value) ** 2))))


def over_systems(value: float, draws: Floats, n_systems: int, *, alone: bool) -> Interval:
    """Return the interval over other systems like these, alone or with whatever else is drawn anew with them.

    Bias-corrected percentiles; draws that equal the value count half below it. Of T systems those at the normal
    quantile times sqrt(T / (T - 1)), as drawn systems vary by (T - 1) / T of what systems do; alone those at the
    quantile of Student's t with T - 1 degrees of freedom, for then no noise of items widens the draws. Of ranks this
    holds at least 95%. Below six systems it is NaN alone: few systems drawn are often two or three different ones,
    whose r is nearly 1 or -1 whatever the truth is. Else parameters and results are those of `over_items`;
    ``n_systems`` is T, at least 2.

    References
    ----------
    [1] Efron, "Nonparametric standard errors and confidence intervals", Canadian Journal of Statistics 1981.
    [2] Hesterberg, "What teachers should know about the bootstrap", The American Statistician 2015 (narrowness bias).

    Examples
    --------
    >>> low, high = over_systems(0.5, np.linspace(0, 1, 1001), 1000, alone=False)  # no bias: nearly the middle 95%
    >>> round(low, 3), round(high, 3)
    (0.025, 0.975)
    """
    defined = _defined(value, draws)
    if defined is None or (alone and n_systems < FEWEST_ALONE):
        return NOWHERE
    n = defined.size
    below = float((defined < value).sum() + 0.5 * (defined == value).sum())
    bias = float(special.ndtri(np.clip(below, 0.5, n - 0.5) / n))
    few = float(special.stdtrit(n_systems - 1, LEVELS[1]))
    reach = few if alone else NORMAL * math.sqrt(n_systems / (n_systems - 1))
    low, high = np.quantile(defined, special.ndtr([2 * bias - reach, 2 * bias + reach]))
    return Interval(float(low), float(high))


def over_raters(value: float, draws: Floats, reach: float) -> Interval:
    """Return the interval over other raters like these, for the same items and systems; it holds at least 95%.

    The value, and as many standard deviations of the draws as ``reach`` says: see `reach_over_raters`. Other parameters
    and results are those of `over_items`.
    """
    defined = _defined(value, draws)
    if defined is None or math.isnan(reach):
        return NOWHERE
    return _around(value, reach * float(defined.std(ddof=1)))


def reach_over_raters(ratings: RaterRatings) -> float:
    """Return how many standard deviations of draws of these raters an interval reaches; NaN for one rater.

    The quantile of Student's t for R raters, R - 1 degrees of freedom, times what makes up for draws that vary too
    little: the mean of an output's k ratings varies, drawn from these, by (k - 1) / k of its variance. Where no output
    has two ratings it is R / (R - 1), of the raters themselves.

    References
    ----------
    Hesterberg, "What teachers should know about the bootstrap", The American Statistician 2015 (narrowness bias).

    Examples
    --------
    >>> panel = np.indices((4, 2, 5)).reshape(3, -1)  # four raters who rated everything
    >>> round(reach_over_raters(RaterRatings(*panel, np.zeros(40))), 3)  # t(3) is 3.182
    3.675
    """
    names, rater = np.unique(ratings.rater, return_inverse=True)
    if names.size < 2:
        return math.nan
    cells = np.stack([ratings.system, ratings.segment, rater])
    each = np.unique(cells, axis=1)  # a rater's repeats are no other raters
    k = np.unique(each[:2], axis=1, return_counts=True)[1].astype(np.float64)
    several = k[k > 1]
    lost = (1 / several).mean() / ((several - 1) / several**2).mean() if several.size else names.size / (names.size - 1)
    return float(special.stdtrit(names.size - 1, LEVELS[1])) * math.sqrt(lost)


def _defined(value: float, draws: Floats) -> Floats | None:
    if math.isnan(value) or replicates_interval(draws).reason is not None:
        return None
    defined = draws[~np.isnan(draws)]
    return None if float(np.ptp(defined)) < _EQUAL else defined


def _around(value: float, reach: float) -> Interval:
    return Interval(max(-1.0, value - reach), min(1.0, value + reach))
