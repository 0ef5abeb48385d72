"""How many further ratings, or items, tell two systems apart."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

SURE = 0.8  # chance of certainty that a forecast number of ratings gives
MOST_TIMES = 50  # as many items as there are: beyond, a forecast by what is known now says nothing


@dataclass(frozen=True)
class Separation:
    """The difference of two systems, and what its variance consists of.

    Attributes
    ----------
    difference : estimated now.
    n_items : items behind it, 2 or more; unequal shares count as fewer.
    between : variance over items that further ratings of them do not reduce.
    noise : variance that ratings add now.
    raters, n_raters : what raters add beside, and their number, more than 1; further ratings by them do not reduce it.
    """

    difference: float
    n_items: float
    between: float
    noise: float
    raters: float = 0.0
    n_raters: float = np.inf

    @classmethod
    def of(
        cls,
        difference: float,
        variance: float,
        noise: float,
        n_items: float,
        raters: float = 0.0,
        n_raters: float = np.inf,
    ) -> "Separation":
        """Return the separation of an estimate with this variance over items, of which ratings add ``noise``."""
        return cls(difference, n_items, max(variance - noise, 0.0), noise, raters, n_raters)

    def half_width(self, *, noise: float | None = None, items: float = 1.0, alpha: float = 0.05) -> float:
        """Return the half-width of the interval once ratings add ``noise``, or with so many times the items.

        Parameters
        ----------
        noise : float, optional
            Variance that ratings add then, 0 or more; by default as now.
        items : float
            How many times the items there are then, above 0.
        alpha : float
            In (0, 1); the interval holds 1 - alpha.
        """
        left = self.noise if noise is None else noise
        n = self.n_items * items
        of_items = float(stdtrit(n - 1, 1 - alpha / 2))
        # Single ratings vary with their raters, as in the intervals of the results.
        of_raters = float(stdtrit(self.n_raters - 1, 1 - alpha / 2)) if np.isfinite(self.n_raters) else of_items
        return float(np.sqrt(of_items**2 * self.between / items + of_raters**2 * (self.raters + left / items)))

    def chance(self, *, noise: float | None = None, items: float = 1.0, alpha: float = 0.05) -> float:
        """Return the chance, in [0, 1], that the difference is then significant at ``alpha``.

        Parameters are those of ``half_width``.

        Nothing is taken to be known of the difference but the estimate: what further ratings add to it is as likely to
        move it either way [1]. Until then it moves with a variance that is what the further ratings take away.

        References
        ----------
        [1] Spiegelhalter, Freedman and Blackburn, Monitoring Clinical Trials: Conditional or Predictive Power?,
        Controlled Clinical Trials 7, 1986: predictive power, with a flat prior.
        """
        left = self.noise if noise is None else noise
        half = self.half_width(noise=left, items=items, alpha=alpha)
        now, then = self.between + self.noise, (self.between + left) / items
        return float(chance_beyond(self.difference, half, np.sqrt(max(now - then, 0.0))))

    def ratings_needed(
        self,
        reductions: Iterable[float],
        *,
        planned: float,
        items: float = 1.0,
        alpha: float = 0.05,
        sure: float = SURE,
    ) -> tuple[int | None, float]:
        """Return how many further ratings give a chance of ``sure``, and the chance; None if none of them do.

        Parameters
        ----------
        reductions : iterable of float
            What each further rating takes away from the noise, in the order in which they would come.
        planned : float
            The noise once the planned ratings are in.
        items : float
            How many times the items there are then.

        Examples
        --------
        >>> Separation.of(0.48, 0.06, 0.04, 40).ratings_needed([0.001] * 40, planned=0.04)[0]
        35
        """
        best = self.chance(noise=planned, items=items, alpha=alpha)
        if best >= sure:
            return 0, best
        for number, taken in enumerate(accumulate(reductions), start=1):
            chance = self.chance(noise=max(planned - taken, 0.0), items=items, alpha=alpha)
            best = max(best, chance)
            if chance >= sure:
                return number, chance
        return None, best

    def items_needed(
        self, *, planned: float, items: float = 1.0, alpha: float = 0.05, sure: float = SURE
    ) -> tuple[int | None, float]:
        """Return how many more items like these, each with as many ratings, give that chance; None if too many do."""
        low, high = items, float(MOST_TIMES)
        best = self.chance(noise=planned, items=high, alpha=alpha)
        if best < sure:
            return None, best
        while (high - low) * self.n_items > 0.5:
            middle = (low + high) / 2
            enough = self.chance(noise=planned, items=middle, alpha=alpha) >= sure
            low, high = (low, middle) if enough else (middle, high)
        more = int(np.ceil((high - items) * self.n_items - 1e-9))
        return more, self.chance(noise=planned, items=items + more / self.n_items, alpha=alpha)


def chance_beyond(centre: npt.ArrayLike, reach: npt.ArrayLike, spread: npt.ArrayLike) -> FloatArray:
    """Return the chance that a normal value lies further from 0 than ``reach``, on either side.

    Parameters
    ----------
    centre, reach, spread : float arrays of one shape, or numbers
        Expected value, any; distance, 0 or more; standard deviation, 0 or more, all in one unit.

    Returns
    -------
    float array
        In [0, 1]; with a spread of 0 it is 1 or 0.

    Examples
    --------
    >>> chance_beyond([0, 3, 3], [1.96, 2, 4], [1, 0, 0]).round(3).tolist()
    [0.05, 1.0, 0.0]
    """
    mean, distance, deviation = (np.asarray(each, dtype=np.float64) for each in (centre, reach, spread))
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = ndtr((mean - distance) / deviation) + ndtr((-mean - distance) / deviation)
    return np.where(deviation > 0, chance, (np.abs(mean) > distance).astype(np.float64))


def pooled_spread(values: npt.ArrayLike, mean_of: npt.ArrayLike, kind: npt.ArrayLike) -> FloatArray:
    """Return the variance of single ratings about their mean, pooled over the means of each kind.

    Parameters
    ----------
    values : (n,) float
    mean_of : (n,) int
        The mean that each rating enters, 0 to C - 1.
    kind : (C,) int
        Of each mean, from 0; a kind without two ratings of one mean has the spread of all.

    Returns
    -------
    (C,) float
        NaN if no mean has two ratings.

    Examples
    --------
    >>> pooled_spread([1, 3, 2, 2, 5], [0, 0, 1, 1, 2], [0, 0, 1])
    array([1., 1., 1.])
    """
    ratings, codes = np.asarray(values, dtype=np.float64), np.asarray(mean_of, dtype=np.int64)
    kinds = np.asarray(kind, dtype=np.int64)
    n = np.bincount(codes, minlength=kinds.size)
    centre = np.bincount(codes, ratings, minlength=kinds.size) / np.maximum(n, 1)
    squares = np.bincount(codes, (ratings - centre[codes]) ** 2, minlength=kinds.size)
    df = np.maximum(n - 1, 0)
    if not df.sum():
        return np.full(kinds.size, np.nan)
    total, free = np.bincount(kinds, squares), np.bincount(kinds, df)
    pooled = np.divide(total, free, out=np.full(free.size, squares.sum() / df.sum()), where=free > 0)
    spread: FloatArray = pooled[kinds]
    return spread
