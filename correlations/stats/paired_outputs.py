"""Which outputs are paired, where a metric's accuracy is over pairs: of one item, of one system, or any two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.ranking import NO_PAIR
from correlations.stats.ranks import Floats, Ints
from correlations.stats.segment_level import GROUPINGS, Grouping

MOST_PAIRS = 1_000_000  # of more as many are drawn: a share of them has a standard error of 0.0005 at most
NO_PAIR_OF: dict[Grouping, str] = {
    "item": NO_PAIR,
    "system": "no two outputs of one system have both a score and a rating",
    "all": "no two outputs have both a score and a rating",
}


class PairedOutputs(NamedTuple):
    """Scores and ratings as `correlations.stats.ranking` pairs them, within rows, and how many outputs they are.

    ``groups`` is the group of each row: an item, a system, or 0 for any two outputs. A row is a whole group, or one
    pair if pairs are drawn.
    """

    scores: Floats
    ratings: Floats
    groups: Ints
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
        Draws pairs, with replacement, if pairs within systems or of any two outputs are more than ``most_pairs``, all
        systems having as many as the one with most; as many are drawn from each system.
    most_pairs : int

    Returns
    -------
    PairedOutputs
        For `pairwise_accuracy` and `tie_calibrated_accuracy`: rows of items, of systems, of all outputs, or of a
        drawn pair each. Pairs are drawn, not outputs: the pairs of one output are right or wrong together.

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
    outputs = int(both.sum())
    if grouping == "item":
        return PairedOutputs(x.T, y.T, np.arange(x.shape[1]), outputs)
    if grouping == "all":
        x, y, both = x[both][None], y[both][None], np.ones((1, outputs), dtype=bool)
    counts = both.sum(axis=1)
    most = int(counts.max(initial=0))
    if len(x) * most * (most - 1) // 2 <= most_pairs:
        present_first = np.argsort(~both, axis=1, kind="stable")[:, :most]  # missing outputs cost as much as others
        x, y = (np.take_along_axis(np.where(both, side, np.nan), present_first, axis=1) for side in (x, y))
        return PairedOutputs(x, y, np.arange(len(x)), outputs)
    groups = np.flatnonzero(counts > 1)
    pairs = [_drawn_pairs(np.flatnonzero(both[group]), most_pairs // groups.size, rng) for group in groups]
    of_pair = np.repeat(groups, most_pairs // groups.size)
    columns = np.concatenate(pairs)
    return PairedOutputs(x[of_pair[:, None], columns], y[of_pair[:, None], columns], of_pair, outputs)


def _drawn_pairs(columns: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return (n, 2) pairs of two different columns, each pair as likely as any other."""
    first, other = rng.integers(columns.size, size=n), rng.integers(columns.size - 1, size=n)
    return np.asarray(columns[np.stack([first, other + (other >= first)], axis=1)])
