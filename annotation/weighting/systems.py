"""Mean ratings of systems, with intervals over raters and items together."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from annotation.weighting.table import RatingTable

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

REPLICATES = 1000
SEED = 12345
CELLS = 5_000_000  # means of outputs, over all resamples that are held at once
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class SystemMeans:
    """Attributes
    ----------
    mean, low, high : (T,) float
        In units of the scale; NaN without a rated item.
    of_items : (T, S) float
        Mean rating of each system's output of each item; NaN if it has none.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    of_items: FloatArray


def system_means(
    table: RatingTable,
    system: npt.ArrayLike,
    *,
    n_systems: int,
    resample_raters: bool = True,
    replicates: int = REPLICATES,
    seed: int = SEED,
) -> SystemMeans:
    """Return each system's mean over items of the mean rating of its output, with a 95% interval.

    Raters and items are resampled together, independently of each other: a rating is drawn as often as its rater times
    its item. With few raters or few items the interval is wide, however many ratings there are. ``low`` and ``high``
    hold the middle 95% of resamples.

    Parameters
    ----------
    table : RatingTable
        ``response`` is the code of the item.
    system : (n,) int
        The system that each rating is of, 0 to T - 1.
    n_systems : int
        T.
    resample_raters : bool
        False if the raters are unknown: the interval is then over items alone.
    replicates, seed : int

    Raises
    ------
    ValueError
        Systems of another length than the table, or not below T.

    References
    ----------
    Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1(2), 2007.

    Examples
    --------
    >>> table = RatingTable([0, 0, 1, 1], [0, 1, 0, 1], [4, 5, 2, 3])
    >>> system_means(table, [0, 0, 0, 0], n_systems=1).mean
    array([3.5])
    """
    systems = np.asarray(system, dtype=np.int64)
    if systems.shape != (len(table),) or (systems.size and not 0 <= systems.min() <= systems.max() < n_systems):
        raise ValueError(f"system: found shape {systems.shape}; accepted: ({len(table)},), each from 0 to below T")
    n_items, n_raters = table.n_responses, table.n_raters
    cell = systems * n_items + table.response
    shape = (n_systems * n_items, n_raters)
    values = sparse.csr_array((table.value, (cell, table.rater)), shape=shape)  # repeated entries are added up
    counts = sparse.csr_array((np.ones(len(table)), (cell, table.rater)), shape=shape)
    once, each_item = np.ones((n_raters, 1)), np.ones((n_items, 1))
    of_items = _cell_means(values, counts, once).reshape(n_systems, n_items)
    mean = _system_means(of_items[:, :, None], each_item)[:, 0]
    rng = np.random.default_rng(seed)
    resampled = np.empty((n_systems, replicates))
    at_once = max(1, CELLS // max(1, n_systems * n_items))
    for start in range(0, replicates, at_once):
        stop = min(start + at_once, replicates)
        raters, items = (_drawn(rng, n, stop - start) for n in (n_raters, n_items))
        cells = _cell_means(values, counts, raters if resample_raters else np.ones_like(raters))
        resampled[:, start:stop] = _system_means(cells.reshape(n_systems, n_items, stop - start), items)
    tail = (1 - LEVEL) / 2
    low, high = np.full((2, n_systems), np.nan)
    for index in np.flatnonzero(np.isfinite(resampled).any(axis=1)).tolist():
        low[index], high[index] = np.nanquantile(resampled[index], (tail, 1 - tail))
    return SystemMeans(mean, low, high, of_items)


def _drawn(rng: np.random.Generator, n: int, resamples: int) -> FloatArray:
    """Return (n, B) how often each of n is drawn in each resample."""
    if not n:
        return np.zeros((0, resamples))
    return rng.multinomial(n, np.full(n, 1 / n), size=resamples).T.astype(np.float64)


def _cell_means(values: sparse.csr_array, counts: sparse.csr_array, raters: FloatArray) -> FloatArray:
    """Return the (cells, B) means, each rater counted ``raters`` (R, B) times; NaN where none is counted."""
    n = counts @ raters
    means: FloatArray = np.divide(values @ raters, n, out=np.full(n.shape, np.nan), where=n > 0)
    return means


def _system_means(cells: FloatArray, items: FloatArray) -> FloatArray:
    """Return the (T, B) means of the (T, S, B) cells that are there, each item counted ``items`` (S, B) times."""
    n = (np.isfinite(cells) * items).sum(axis=1)
    total = (np.nan_to_num(cells) * items).sum(axis=1)
    means: FloatArray = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
    return means
