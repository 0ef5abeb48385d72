"""The weighting schemes, each listed once."""

import numpy as np

from annotation.weighting.aggregation import draw_raters, replicate_weights
from annotation.weighting.linear import LINEAR, MEDIAN
from annotation.weighting.reliability import RELIABILITY
from annotation.weighting.scheme import Scheme
from annotation.weighting.table import FloatArray, Ratings, as_table, scale_is_open
from annotation.weighting.zscore import ZSCORE

SCHEMES = {scheme.key: scheme for scheme in (LINEAR, MEDIAN, ZSCORE, RELIABILITY)}
DEFAULT_SCHEME = LINEAR.key


def get_scheme(name: str) -> Scheme:
    """Return the scheme of that name.

    >>> get_scheme("zscore").defaults
    {'clip': 2.0}

    Raises
    ------
    ValueError
        Unknown scheme.
    """
    if name not in SCHEMES:
        raise ValueError(f"weighting scheme is {name!r}; accepted: {', '.join(SCHEMES)}")
    return SCHEMES[name]


def scheme_for_scale(low: float, high: float) -> str:
    """Return the first scheme that can weigh ratings on a scale with these ends; NaN for a scale without ends.

    >>> scheme_for_scale(1, 5), scheme_for_scale(np.nan, np.nan)
    ('linear', 'zscore')
    """
    is_open = scale_is_open(low, high)
    return next(scheme.key for scheme in SCHEMES.values() if not (is_open and scheme.needs_ends))


def bootstrap_weights(
    ratings: Ratings,
    low: float,
    high: float,
    *,
    scheme: str = DEFAULT_SCHEME,
    n_replicates: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw weights of all responses jointly under resampled raters, to carry rater uncertainty further.

    One replicate draws K of the K raters with replacement, the same for every response, and weighs with the scheme's
    default parameters.

    Parameters
    ----------
    ratings, low, high
        As in ``linear_weights``.
    scheme : str
        A key of ``SCHEMES``.
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
    chosen, table = get_scheme(scheme), as_table(ratings)
    parts = chosen.contributions(table, low, high)
    return replicate_weights(parts, chosen.centre, draw_raters(table.n_raters, n_replicates, rng)).T
