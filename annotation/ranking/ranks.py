"""Ranges of ranks and clusters of systems that tests cannot tell apart."""

import numpy as np
import numpy.typing as npt

ALPHA = 0.05

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def rank_ranges(p_values: npt.ArrayLike, better: npt.ArrayLike, *, alpha: float = ALPHA) -> IntArray:
    """Return the first and last rank that each of n systems can have: after those that are significantly better.

    Parameters
    ----------
    p_values : (n, n) float
        Of the difference of each pair, corrected for their number. NaN is no difference; the diagonal is ignored.
    better : (n, n) bool
        Whether the system of the row is better than that of the column; read only where the two differ significantly.
    alpha : float
        In (0, 1); a p-value up to this is significant.

    Returns
    -------
    (n, 2) int
        1 + how many are significantly better, and n - how many are significantly worse.

    Raises
    ------
    ValueError
        Matrices that are not square or not of one size, or ``alpha`` outside (0, 1).

    References
    ----------
    Bojar et al., Findings of the 2013 Workshop on Statistical Machine Translation, 2013, section 3.2 (rank ranges).

    Examples
    --------
    >>> p = [[1, 0.01, 0.4], [0.01, 1, 0.3], [0.4, 0.3, 1]]
    >>> rank_ranges(p, [[0, 1, 1], [0, 0, 0], [0, 1, 0]]).tolist()
    [[1, 2], [2, 3], [1, 3]]
    """
    wins = _significant(p_values, better, alpha)
    return np.column_stack([1 + wins.sum(axis=0), len(wins) - wins.sum(axis=1)]).astype(np.int64)


def clusters(p_values: npt.ArrayLike, better: npt.ArrayLike, order: npt.ArrayLike, *, alpha: float = ALPHA) -> IntArray:
    """Return the cluster of each system, from 0; one ends where all above are significantly better than all below.

    Parameters
    ----------
    p_values, better, alpha
        As in ``rank_ranges``.
    order : (n,) int
        The systems from best to worst.

    Raises
    ------
    ValueError
        As in ``rank_ranges``, or ``order`` is no permutation of the systems.

    References
    ----------
    Barrault et al., Findings of the 2019 Conference on Machine Translation, 2019, section 3 (clusters in its tables).

    Examples
    --------
    >>> p = [[1, 0.01, 0.01], [0.01, 1, 0.3], [0.01, 0.3, 1]]
    >>> clusters(p, [[0, 1, 1], [0, 0, 1], [0, 0, 0]], [0, 1, 2]).tolist()
    [0, 1, 1]
    """
    wins = _significant(p_values, better, alpha)
    ranked = np.asarray(order, dtype=np.int64)
    if not np.array_equal(np.sort(ranked), np.arange(len(wins))):
        raise ValueError(f"order is {ranked.tolist()}; accepted: each of 0 to {len(wins) - 1} once")
    sorted_wins = wins[np.ix_(ranked, ranked)]
    ends = [bool(sorted_wins[:place, place:].all()) for place in range(1, len(wins))]
    cluster = np.zeros(len(wins), dtype=np.int64)
    cluster[ranked] = np.concatenate([[0], np.cumsum(ends)])[: len(wins)]
    return cluster


def _significant(p_values: npt.ArrayLike, better: npt.ArrayLike, alpha: float) -> npt.NDArray[np.bool_]:
    """Return (n, n) whether the system of the row is significantly better than that of the column."""
    p, ahead = np.asarray(p_values, dtype=np.float64), np.asarray(better, dtype=bool)
    if p.ndim != 2 or p.shape[0] != p.shape[1] or ahead.shape != p.shape:
        raise ValueError(f"p_values and better have shapes {p.shape} and {ahead.shape}; accepted: (n, n) both")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; accepted: above 0 and below 1")
    wins: npt.NDArray[np.bool_] = (p <= alpha) & ahead
    np.fill_diagonal(wins, False)
    return wins
