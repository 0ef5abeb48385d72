"""How sure the agreement of a rater who is left out is, and that of a metric in the rater's place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.ceiling import ENOUGH_OUTPUTS, Cases, agreement_by_case, agreement_by_rater
from correlations.stats.closeness import GivenRatings
from correlations.stats.ranks import Bools, Floats, Ints
from correlations.stats.sampled_units import MIN_OBSERVATIONS

GROUPS = 20  # of items, at most; each is left out once, and has two items or more
FEWEST_ITEMS = 20
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
        Any numbers; outputs of equal ones are left out together. For each metric the items of the outputs that it
        scored and that a rater who counts and another one rated are dealt to 20 groups in the order of their numbers;
        if there are fewer than 40, to half as many groups.
    coefficient : key of ``COEFFICIENTS``

    Returns
    -------
    tuple of M LeftOutEnds
        NaN with fewer than 20 such items, or if no rater counts. The raters are those that count with all items.

    References
    ----------
    Kott, "The delete-a-group jackknife", Journal of Official Statistics 2001: of G groups the variance is (G - 1) / G
    times the sum of squared distances of the estimates without a group from the estimate with all, and t has G - 1
    degrees of freedom. So do the R packages EVER and survey (``mse=TRUE``); distances from the estimates' own mean,
    which are smaller, take no bias into account.
    """
    given, of_metrics = GivenRatings.of(ratings), np.asarray(scores, dtype=np.float64)
    item = np.asarray(items)
    whole = agreement_by_rater(given, of_metrics, [coefficient], enough)[:, 0]
    masks, of_mask = np.unique(np.isfinite(of_metrics), axis=0, return_inverse=True)
    ends = np.full((len(of_metrics), len(WIDEST), 2), np.nan)
    for index in range(len(masks)):
        rows = np.flatnonzero(of_mask.ravel() == index)
        ends[rows] = _ends(given, of_metrics[rows], item, whole[:, rows], coefficient)
    return tuple(LeftOutEnds(*((low, high) for low, high in each)) for each in ends.tolist())


def _ends(given: GivenRatings, scores: Floats, item: Ints, whole: Floats, coefficient: str) -> Floats:
    """Return the intervals (metrics, 3, 2) of metrics that score the same outputs, from what they are on all of them.

    Only items that the raters who count rated are dealt, so that no group is empty.
    """
    counted = np.asarray(np.isfinite(whole).all(axis=0))
    compared = (given.n_others > 0) & np.isfinite(scores[0])[given.item] & np.asarray(counted.any(axis=0))[given.rater]
    outputs = np.unique(given.item[compared])
    names, place = np.unique(item[outputs], return_inverse=True)
    if names.size < FEWEST_ITEMS:
        return np.full((len(scores), len(WIDEST), 2), np.nan)
    groups = min(GROUPS, names.size // 2)
    group = np.full(given.n_items, groups)
    group[outputs] = place.ravel() % groups
    places = np.flatnonzero((given.n_others > 0) & np.isfinite(scores[0])[given.item])
    left_out, kept = np.nonzero(np.arange(groups)[:, None] != group[given.item[places]])
    case = left_out * given.n_raters + given.rater[places[kept]]
    cases = Cases(case, places[kept], groups * given.n_raters)
    found = agreement_by_case(given, scores, cases, [coefficient], MIN_OBSERVATIONS)[:, 0]
    by_group = found.reshape(2, len(scores), groups, given.n_raters).transpose(2, 0, 1, 3)
    estimate, without = _means(whole, counted), np.stack([_means(each, counted) for each in by_group])
    error = np.sqrt((groups - 1) / groups * ((without - estimate) ** 2).sum(axis=0))
    reach = float(special.stdtrit(groups - 1, 0.975)) * error
    cut = np.array(WIDEST)[:, None]
    both = np.stack([np.clip(estimate - reach, -cut, cut), np.clip(estimate + reach, -cut, cut)], axis=2)
    return np.asarray(both.swapaxes(0, 1), dtype=np.float64)


def _means(found: Floats, counted: Bools) -> Floats:
    """Return means (3, metrics) over the raters that count, of (2, metrics, raters): rater, metric, difference."""
    n = np.where(counted & np.isfinite(found).all(axis=0), 1.0, np.nan)
    rater, metric = np.nansum(found * n, axis=2) / np.where(np.nansum(n, axis=1), np.nansum(n, axis=1), np.nan)
    return np.stack([rater, metric, metric - rater])
