"""Whether scores lie equally far from the ratings of every system, or favour some."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

Floats = npt.NDArray[np.float64]

_BATCH = 2_000_000  # values shuffled at once
_BREAKS_TIES = 1e-6  # whole points give many equal maxima, which would make the test cautious


def same_offset_p(offsets: ArrayLike, *, rng: np.random.Generator, n_shuffles: int = 999) -> float:
    """Return the p-value of a permutation test that the system farthest from the others is so by chance.

    Under the null hypothesis scores less ratings have one mean for all systems, and an item's offsets may change places
    among its systems [1]. The statistic is the largest of the systems' n m^2, from offsets less their item's mean, so
    that p counts how many systems there are to pick from [2]. One system that stands out shows more clearly in it than
    in their sum, to which all others add noise; the sum decides between equal ones. Items are drawn anew in this, the
    raters behind the ratings are not.

    References
    ----------
    [1] Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005, chapter 7: randomised blocks.
    [2] Westfall and Young, Resampling-Based Multiple Testing, 1993.

    Parameters
    ----------
    offsets : (systems, items) float
        In points of the ratings' scale; NaN where an output has no score or no rating. Items with fewer than two
        systems do not count.
    rng : numpy.random.Generator
    n_shuffles : int
        At least 1; the observed offsets count as one more, so that p is in [1 / (n_shuffles + 1), 1].

    Returns
    -------
    p : float
        NaN if no item has offsets of two systems.

    Raises
    ------
    ValueError
        If offsets have no two axes, or n_shuffles is below 1.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> offsets = rng.normal(size=(3, 40))
    >>> offsets[1] += 2
    >>> same_offset_p(offsets, rng=rng)
    0.001
    """
    values = np.asarray(offsets, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"offsets have shape {values.shape}: two axes, systems and items, are expected")
    if n_shuffles < 1:
        raise ValueError(f"n_shuffles is {n_shuffles}: at least 1 is expected")
    given = ~np.isnan(values)
    given &= given.sum(axis=0) >= 2
    if not given.any():
        return float("nan")
    counts = given.sum(axis=0)
    centred = np.where(given, values - np.where(given, values, 0.0).sum(axis=0) / np.maximum(counts, 1), 0.0)
    observed = _farthest(centred[None], given)[0]
    at_least, tolerance = 1, 1e-12 * max(observed, 1.0)
    batch = max(1, _BATCH // values.size)
    for start in range(0, n_shuffles, batch):
        shuffled = _shuffled(centred, given, min(batch, n_shuffles - start), rng)
        at_least += int((_farthest(shuffled, given) >= observed - tolerance).sum())
    return at_least / (n_shuffles + 1)


def _farthest(centred: Floats, given: npt.NDArray[np.bool_]) -> Floats:
    """Return the statistic of (n, systems, items) values, 0 where missing, as (n,)."""
    n = given.sum(axis=1)
    total = centred.sum(axis=2)
    of_systems = np.divide(total**2, n, out=np.zeros_like(total), where=n > 0)
    return np.asarray(of_systems.max(axis=1) + _BREAKS_TIES * of_systems.sum(axis=1))


def _shuffled(centred: Floats, given: npt.NDArray[np.bool_], n: int, rng: np.random.Generator) -> Floats:
    """Return (n, systems, items) values, those that are given in random order within each item."""
    # In both orders missing values come last, so that the given ones change places among themselves alone.
    places = np.argsort(~given, axis=0, kind="stable")
    keys = np.where(given, rng.random((n, *given.shape)), 2.0)
    drawn = np.take_along_axis(np.broadcast_to(centred, keys.shape), np.argsort(keys, axis=1), axis=1)
    shuffled = np.empty_like(drawn)
    np.put_along_axis(shuffled, np.broadcast_to(places, keys.shape), drawn, axis=1)
    return shuffled
