"""How sure the agreement of a rater who is left out is, and that of a metric in the rater's place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.ceiling import ENOUGH_OUTPUTS, agreement_by_rater
from correlations.stats.closeness import GivenRatings
from correlations.stats.ranks import Bools, Floats

GROUPS = 20  # of items; each is left out once
FEWEST_ITEMS = 2 * GROUPS
WIDEST = (1.0, 1.0, 2.0)  # of both coefficients, and of their difference


@dataclass(frozen=True)
class LeftOutEnds:
    """95% intervals over items, for these raters; (NaN, NaN) where undefined.

    Attributes
    ----------
    rater, metric : (float, float)
        Of the means that ``leave_one_rater_out`` returns.
    difference : (float, float)
        Of metric less rater.
    """

    rater: tuple[float, float]
    metric: tuple[float, float]
    difference: tuple[float, float]


def left_out_ends(
    ratings: ArrayLike | GivenRatings,
    scores: ArrayLike,
    items: ArrayLike,
    *,
    coefficient: str,
    enough: int = ENOUGH_OUTPUTS,
) -> tuple[LeftOutEnds, ...]:
    """Return the intervals of ``leave_one_rater_out`` by the delete-a-group jackknife over items.

    Parameters
    ----------
    ratings, scores, enough
        As in ``leave_one_rater_out``.
    items : (N,) int
        Any numbers; outputs of equal ones are left out together. Items are dealt to 20 groups in the order of their
        numbers.
    coefficient : key of ``COEFFICIENTS``

    Returns
    -------
    tuple of M LeftOutEnds
        NaN with fewer than 40 items, or if no rater counts. The raters are those that count with all items.

    References
    ----------
    Kott, "The delete-a-group jackknife", Journal of Official Statistics 2001, equation 2: t with groups less 1 degrees
    of freedom.
    """
    given, of_metrics = GivenRatings.of(ratings), np.asarray(scores, dtype=np.float64)
    names = np.unique(np.asarray(items), return_inverse=True)[1].ravel()
    nowhere = (np.nan, np.nan)
    if names.size == 0 or names.max() + 1 < FEWEST_ITEMS:
        return (LeftOutEnds(nowhere, nowhere, nowhere),) * len(of_metrics)
    whole = agreement_by_rater(given, of_metrics, [coefficient], enough)[:, 0]
    counted = np.asarray(np.isfinite(whole).all(axis=0))
    draws = []
    for group in range(GROUPS):
        kept = np.where(names % GROUPS == group, np.nan, of_metrics)
        draws.append(_means(agreement_by_rater(given, kept, [coefficient], 3)[:, 0], counted))
    estimate, without = _means(whole, counted), np.stack(draws)
    error = np.sqrt((GROUPS - 1) / GROUPS * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    reach = float(special.stdtrit(GROUPS - 1, 0.975)) * error
    cut = np.array(WIDEST)[:, None]
    low, high = np.clip(estimate - reach, -cut, cut), np.clip(estimate + reach, -cut, cut)
    ends = np.stack([low, high], axis=2)  # (3, metrics, 2)
    return tuple(
        LeftOutEnds(*(tuple(ends[place, row].tolist()) for place in range(len(WIDEST))))
        for row in range(len(of_metrics))
    )


def _means(found: Floats, counted: Bools) -> Floats:
    """Return means (3, metrics) over the raters that count, of (2, metrics, raters): rater, metric, difference."""
    n = np.where(counted & np.isfinite(found).all(axis=0), 1.0, np.nan)
    rater, metric = np.nansum(found * n, axis=2) / np.where(np.nansum(n, axis=1), np.nansum(n, axis=1), np.nan)
    return np.stack([rater, metric, metric - rater])
