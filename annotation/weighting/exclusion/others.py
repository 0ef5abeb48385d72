"""How far the other raters of a small campaign agree among themselves if one of them is left out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.weighting.raters import summarise_raters
from annotation.weighting.table import FloatArray, RatingTable


class OthersAgreement(NamedTuple):
    """The median correlation of the other raters, without each rater in turn, and their median number of answers.

    Arrays of shape (K,); NaN where no other rater has a correlation.
    """

    correlation: FloatArray
    n: FloatArray


def agreement_of_others(
    table: RatingTable, *, criterion: npt.ArrayLike | None = None, least: int = 10
) -> OthersAgreement:
    """Return how far the others agree if each rater is left out: with each other, not with the one left out.

    A rater who answers at random lowers every correlation with the mean of all others. Without that rater the
    correlations are those of the careful ones. The cost is K summaries, so this is for few raters.

    Parameters
    ----------
    table : RatingTable
    criterion : array of int or str, shape (n,), optional
        As in ``summarise_raters``.
    least : int
        Correlations from fewer answers are left out.

    Examples
    --------
    >>> table = RatingTable([0, 1, 2] * 3, [0, 0, 0, 1, 1, 1, 2, 2, 2], [1, 3, 5, 1, 2, 3, 5, 1, 2])
    >>> agreement_of_others(table, least=3).correlation.round(2).tolist()
    [-0.72, -0.72, 1.0]
    """
    about = None if criterion is None else np.asarray(criterion)
    correlation, n = np.full(table.n_raters, np.nan), np.full(table.n_raters, np.nan)
    for rater in range(table.n_raters):
        keep = table.rater != rater
        rest = RatingTable(table.response[keep], table.rater[keep], table.value[keep], n_raters=table.n_raters)
        found = summarise_raters(rest, criterion=None if about is None else about[keep])
        known = np.isfinite(found.agreement) & (found.n_compared >= least)
        if known.any():
            correlation[rater] = np.median(found.agreement[known])
            n[rater] = np.median(found.n_compared[known])
    return OthersAgreement(correlation, n)
