"""Further ratings where they narrow an estimate most."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.allocation.seeds import derive_seed, permutation

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RatedMeans:
    """The means of ratings that an estimate is made of, and the units whose ratings enter them.

    Attributes
    ----------
    unit, mean : int array, shape (M,)
        A further rating of ``unit`` is one more rating of ``mean``. A unit may enter several means (a pair shows two
        texts), and a mean have several units (pairs show a text beside each other system's).
    ratings : float array, shape (C,)
        Ratings that each mean has, above 0.
    spread : float array, shape (C,)
        What the mean would add to the estimate's variance with a single rating, 0 or more.
    """

    unit: IntArray
    mean: IntArray
    ratings: FloatArray
    spread: FloatArray

    @property
    def variance(self) -> float:
        """Return what ratings add to the estimate's variance."""
        return float((self.spread / self.ratings).sum())

    def with_more(self, further: npt.ArrayLike) -> "RatedMeans":
        """Return the means after further ratings of the units, shape (U,)."""
        ratings = self.ratings.copy()
        np.add.at(ratings, self.mean, np.asarray(further, dtype=np.float64)[self.unit])
        return RatedMeans(self.unit, self.mean, ratings, self.spread)


def narrowing(means: RatedMeans, room: npt.ArrayLike, *, seed: int) -> Iterator[tuple[int, float]]:
    """Yield units one rating at a time, each where it reduces the variance most, with what it takes away.

    Parameters
    ----------
    means : RatedMeans
    room : int array, shape (U,)
        Further ratings that each unit may get at most.
    seed : int
        Decides between units that take away equally much.

    Raises
    ------
    ValueError
        As ``further_ratings``.
    """
    left = np.asarray(room, dtype=np.int64).tolist()
    _check(means, len(left))
    enters: list[list[int]] = [[] for _ in left]
    for unit, mean in zip(means.unit.tolist(), means.mean.tolist(), strict=True):
        enters[unit].append(mean)
    ratings, spread = means.ratings.tolist(), means.spread.tolist()
    rank = permutation(derive_seed(seed, "top up"), len(left))

    # A unit gains less with every rating, of its own or of a mean that it shares: an old entry is an upper bound.
    heap = [
        (-_gain(enters[unit], ratings, spread), rank[unit], unit)
        for unit in range(len(left))
        if left[unit] > 0 and enters[unit]
    ]
    heapq.heapify(heap)
    while heap:
        stated, order, unit = heap[0]
        now = _gain(enters[unit], ratings, spread)
        if now < -stated * (1 - 1e-12):
            heapq.heapreplace(heap, (-now, order, unit))
            continue
        yield unit, now
        left[unit] -= 1
        for mean in enters[unit]:
            ratings[mean] += 1
        if left[unit]:
            heapq.heapreplace(heap, (-_gain(enters[unit], ratings, spread), order, unit))
        else:
            heapq.heappop(heap)


def _gain(means: Sequence[int], ratings: Sequence[float], spread: Sequence[float]) -> float:
    """Return what a rating more of each of these means takes away from the variance."""
    taken: float = sum(spread[mean] / (ratings[mean] * (ratings[mean] + 1)) for mean in means)
    return taken


def further_ratings(
    means: RatedMeans,
    budget: int,
    *,
    wanted: npt.ArrayLike,
    floor: int,
    most: int,
    seed: int,
    open_units: Sequence[bool] | npt.NDArray[np.bool_] | None = None,
) -> IntArray:
    """Spend further ratings where they narrow an estimate most, after every unit has as many as the floor.

    Only numbers of ratings and pooled spreads decide, never a unit's own values: a unit that gets more because its
    ratings came out far apart, or high, would have a biased mean.

    Parameters
    ----------
    means : RatedMeans
        With the ratings by the plan, each unit's ``wanted`` among them.
    budget : int
        Ratings to spend, 1 or more.
    wanted : int array, shape (U,)
        Ratings that each unit has or will have.
    floor, most : int
        Ratings that each unit has afterwards at least, and at most, if it gets any.
    seed : int
        Decides between units that are equally good: the same input gives the same numbers on every machine.
    open_units : bool array, shape (U,), optional
        Units that may get ratings; by default all.

    Returns
    -------
    int array, shape (U,)
        They sum to the budget, or to less if no open unit that matters has room.

    Raises
    ------
    ValueError
        A budget below 1 or below what the floor takes, a floor above ``most``, arrays that do not fit together.

    References
    ----------
    Neyman, On the Two Different Aspects of the Representative Method, Journal of the Royal Statistical Society 97,
    1934: the allocation that the numbers approach. One rating after the other, each where it takes away most, is exact
    for separate means (Gross 1956; Federgruen and Groenevelt, Operations Research 34, 1986).

    Examples
    --------
    >>> separate = RatedMeans(np.arange(3), np.arange(3), np.array([2.0, 2.0, 2.0]), np.array([4.0, 1.0, 0.0]))
    >>> further_ratings(separate, 4, wanted=[2, 2, 2], floor=2, most=9, seed=1).tolist()
    [3, 1, 0]
    """
    now = np.asarray(wanted, dtype=np.int64)
    is_open = np.ones(now.size, dtype=bool) if open_units is None else np.asarray(open_units, dtype=bool)
    _check(means, now.size)
    if is_open.shape != now.shape:
        raise ValueError(f"open_units has shape {is_open.shape}; accepted: {now.shape}")
    if floor > most:
        raise ValueError(f"floor is {floor}; accepted: up to most, {most}")
    further = np.where(is_open, np.maximum(floor - now, 0), 0)
    if not budget >= max(1, int(further.sum())):
        raise ValueError(f"budget is {budget}; accepted: {max(1, int(further.sum()))} or more")
    room = np.where(is_open, np.maximum(most - now - further, 0), 0)
    left = budget - int(further.sum())
    for unit, gain in narrowing(means.with_more(further), room, seed=seed):
        if not left or gain <= 0:
            break
        further[unit] += 1
        left -= 1
    return further


def _check(means: RatedMeans, n_units: int) -> None:
    n_means = means.ratings.size
    if means.unit.shape != means.mean.shape or means.spread.shape != means.ratings.shape:
        shapes = ", ".join(str(column.shape) for column in (means.unit, means.mean, means.ratings, means.spread))
        raise ValueError(f"unit, mean, ratings and spread have shapes {shapes}; accepted: two of one, two of another")
    for name, codes, n in (("unit", means.unit, n_units), ("mean", means.mean, n_means)):
        if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < n:
            raise ValueError(f"{name} holds {codes.min()} to {codes.max()}; accepted: 0 to {n - 1}")
    if not ((means.ratings > 0).all() and (means.spread >= 0).all()):
        ratings, spread = means.ratings.min(initial=np.inf), means.spread.min(initial=np.inf)
        raise ValueError(f"ratings are from {ratings} and spread from {spread}; accepted: above 0, and from 0")
