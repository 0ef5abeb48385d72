"""Which outputs are paired, where a metric's accuracy is over pairs: of one item, of one system, or any two."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.ranks import Floats
from correlations.stats.segment_level import GROUPINGS, Grouping

MOST_PAIRS = 400_000  # of one system, or of any two outputs; of more outputs some are drawn


class PairedOutputs(NamedTuple):
    """Scores and ratings as `correlations.stats.ranking` pairs them, within rows, and how many outputs they are."""

    scores: Floats
    ratings: Floats
    outputs: int


def paired_outputs(
    scores: ArrayLike, ratings: ArrayLike, *, grouping: Grouping, rng: np.random.Generator, most_pairs: int = MOST_PAIRS
) -> PairedOutputs:
    """Arrange outputs so that those of one item, of one system, or all of them are paired.

    Parameters
    ----------
    scores, ratings : arrays of shape (systems, items)
        NaN where there is none.
    grouping : {"all", "item", "system"}
    rng : numpy.random.Generator
        Draws items if pairs within systems, and outputs if pairs of any two, would be more than ``most_pairs``.
    most_pairs : int

    Returns
    -------
    PairedOutputs
        For `pairwise_accuracy` and `tie_calibrated_accuracy`, whose groups are the rows: items, systems, or one row.

    Raises
    ------
    ValueError
        If the shapes differ or are not (systems, items), or ``grouping`` is unknown.

    References
    ----------
    Deutsch, Foster and Freitag, "Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie
    calibration", EMNLP 2023, section 2: no grouping, group by item, group by system.

    Examples
    --------
    >>> scores, ratings = [[0.1, 0.2, 0.3], [0.4, np.nan, 0.6]], [[1, 2, 3], [4, 5, 6]]
    >>> rng = np.random.default_rng(1)
    >>> [paired_outputs(scores, ratings, grouping=by, rng=rng).scores.shape for by in ("item", "system", "all")]
    [(3, 2), (2, 3), (1, 5)]
    """
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(f"scores have shape {x.shape} and ratings {y.shape}: (systems, items) is expected of both")
    if grouping not in GROUPINGS:
        raise ValueError(f"grouping is {grouping!r}: accepted are {', '.join(GROUPINGS)}")
    both = np.isfinite(x) & np.isfinite(y)
    if grouping == "item":
        return PairedOutputs(x.T, y.T, int(both.sum()))
    if grouping == "system":
        items = _drawn(np.flatnonzero(both.any(axis=0)), most_pairs // max(len(x), 1), rng)
        return PairedOutputs(x[:, items], y[:, items], int(both[:, items].sum()))
    places = _drawn(np.flatnonzero(both), most_pairs, rng)
    return PairedOutputs(x.ravel()[None, places], y.ravel()[None, places], places.size)


def _drawn(places: np.ndarray, most_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Return the places, or as many of them, drawn at random, as have no more pairs."""
    most = (1 + math.isqrt(1 + 8 * most_pairs)) // 2  # n (n - 1) / 2 <= most_pairs
    return places if places.size <= most else np.sort(rng.choice(places, most, replace=False))
