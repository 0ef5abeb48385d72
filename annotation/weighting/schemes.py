"""Every weighting scheme under its name, with one interface."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from annotation.weighting.aggregation import Centre, Contributions, draw_raters, replicate_weights
from annotation.weighting.linear import linear_weights, median_weights, scale_contributions
from annotation.weighting.reliability import reliability_contributions, reliability_weights
from annotation.weighting.result import WeightResult
from annotation.weighting.table import FloatArray, Ratings, RatingTable, as_table
from annotation.weighting.zscore import zscore_contributions, zscore_weights


class WeightScheme(Protocol):
    """What every scheme can be called with; each may take parameters of its own, all with defaults."""

    def __call__(
        self,
        ratings: Ratings,
        low: float,
        high: float,
        *,
        n_bootstrap: int = 1000,
        rng: np.random.Generator | None = None,
    ) -> WeightResult: ...


@dataclass(frozen=True)
class _Scheme:
    weights: WeightScheme
    contributions: Callable[[RatingTable, float, float], Contributions]
    centre: Centre


_SCHEMES = {
    "linear": _Scheme(linear_weights, scale_contributions, "mean"),
    "median": _Scheme(median_weights, partial(scale_contributions, scheme="median"), "median"),
    "zscore": _Scheme(zscore_weights, zscore_contributions, "mean"),
    "reliability": _Scheme(reliability_weights, reliability_contributions, "mean"),
}

SCHEME_NAMES = tuple(_SCHEMES)


def get_scheme(name: str) -> WeightScheme:
    """The scheme of that name.

    >>> get_scheme("linear") is linear_weights
    True
    """
    return _scheme(name).weights


def bootstrap_weights(
    ratings: Ratings,
    low: float,
    high: float,
    *,
    scheme: str = "linear",
    n_replicates: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Weights of all responses under resampled raters, jointly: what carries rater uncertainty further.

    One replicate draws K of the K raters with replacement, the same for every response, and weighs with the scheme's
    default parameters.

    Parameters
    ----------
    ratings, low, high
        As in :func:`annotation.weighting.linear_weights`.
    scheme : str
        One of ``SCHEME_NAMES``.
    n_replicates : int
        B >= 1.
    rng : numpy.random.Generator

    Returns
    -------
    float array, shape (B, R)
        NaN where a replicate holds none of the response's raters.

    Raises
    ------
    ValueError
        Unknown scheme, ``n_replicates`` below 1, or as in ``linear_weights``.

    Examples
    --------
    >>> draws = bootstrap_weights([[4, 5], [1, 2]], 1, 5, n_replicates=100, rng=np.random.default_rng(1))
    >>> draws.shape, bool((draws[:, 0] > draws[:, 1]).all())
    ((100, 2), True)
    """
    if n_replicates < 1:
        raise ValueError(f"n_replicates is {n_replicates}; accepted: 1 or more")
    chosen, table = _scheme(scheme), as_table(ratings)
    parts = chosen.contributions(table, low, high)
    return replicate_weights(parts, chosen.centre, draw_raters(table.n_raters, n_replicates, rng)).T


def scheme_contributions(name: str, table: RatingTable, low: float, high: float) -> tuple[Contributions, Centre]:
    """What each rating says under a scheme with its default parameters, and what is taken of a response's ratings."""
    chosen = _scheme(name)
    return chosen.contributions(table, low, high), chosen.centre


def _scheme(name: str) -> _Scheme:
    if name not in _SCHEMES:
        raise ValueError(f"weighting scheme is {name!r}; accepted: {', '.join(_SCHEMES)}")
    return _SCHEMES[name]
