"""Weights on the rating scale itself: the mean (the default) and the median, mapped linearly to [-1, +1]."""

from functools import partial

import numpy as np

from annotation.weighting.aggregation import Contributions, weigh
from annotation.weighting.result import WeightResult
from annotation.weighting.scheme import Scheme, WeighedResponse, two_decimals
from annotation.weighting.table import Ratings, RatingTable, as_table, check_scale
from annotation.weighting.zscore import check_ends


def linear_weights(ratings: Ratings, low: float, high: float) -> WeightResult:
    """Weigh each response by its mean rating, mapped linearly from its scale to [-1, +1].

    ``w = 2 (m - low) / (high - low) - 1`` for the mean rating m, computed from the sum of the ratings with a single
    rounding: five integer ratings on a five-point scale give exact multiples of 0.1.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings
        Nested ratings hold a row per response and a column per rater; rows may differ in length.
    low, high : float
        Ends of the rating scale, ``low < high``.

    Returns
    -------
    WeightResult
        A response without ratings has weight NaN, a response with a single rater no interval; ``reasons`` says so.

    Raises
    ------
    ValueError
        The scale is empty or has no ends, or a rating lies outside it (the message names the rating, its response and
        its rater).

    References
    ----------
    Galley et al., deltaBLEU: A Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets,
    ACL 2015, section 4.1.

    Examples
    --------
    >>> result = linear_weights([[4, 4, 4, 4, 5], [1, 1, 1, 2, 2]], 1, 5)
    >>> result.weights.tolist()
    [0.6, -0.8]
    >>> result.tenths.tolist()
    [6, -8]
    """
    table = as_table(ratings)
    parts = scale_contributions(table, low, high)
    signature = f"weights:linear|scale:{low:g}..{high:g}"
    return weigh(table, parts, "mean", signature=signature)


def median_weights(ratings: Ratings, low: float, high: float) -> WeightResult:
    """Weigh each response by its median rating, mapped linearly from its scale to [-1, +1].

    An even number of ratings has the mean of the two middle ones as its median. The interval takes ratings for normal
    and adds half a step of the scale. Parameters, result and errors as in :func:`linear_weights`.

    Examples
    --------
    >>> median_weights([[1, 4, 5], [2, 3]], 1, 5).weights.tolist()
    [0.5, -0.25]
    """
    table = as_table(ratings)
    parts = scale_contributions(table, low, high, scheme="median")
    signature = f"weights:median|scale:{low:g}..{high:g}"
    return weigh(table, parts, "median", signature=signature)


def scale_contributions(table: RatingTable, low: float, high: float, *, scheme: str = "linear") -> Contributions:
    """Return each rating as ``(2 v - low - high) / (high - low)``."""
    check_ends(low, high, scheme=scheme)
    check_scale(table, low, high)
    # [1] Section 4.1, over a common denominator: 2 (v - low) / (high - low) - 1
    return Contributions(table, 2 * table.value - (low + high), np.ones(len(table)), float(high - low))


def _explain(response: WeighedResponse, *, name: str, value: float) -> list[str]:
    value_text, result = two_decimals(value), two_decimals(response.weight, plus=True)
    low, high = response.low, response.high
    return [
        f"{name} {value_text}{response.scale} of {response.n} judgements → {result}",
        f"2 × ({value_text} − {low:g}) / ({high:g} − {low:g}) − 1 = {result}",
    ]


LINEAR = Scheme(
    key="linear",
    label="Linear",
    about="the mean rating, mapped from its scale to −1 … +1",
    method="A response's weight is its mean rating m, mapped linearly from the scale to −1 … +1",
    formula="w = 2 (m − low) / (high − low) − 1",
    weights=linear_weights,
    contributions=scale_contributions,
    centre="mean",
    explain=lambda response: _explain(response, name="mean", value=response.mean),
    influence="Exact: the same as weighing again without the rater.",
)
MEDIAN = Scheme(
    key="median",
    label="Median",
    about="the median rating, mapped likewise; of three ratings or more one odd one moves little",
    method="A response's weight is its median rating M, mapped linearly from the scale to −1 … +1",
    formula="w = 2 (M − low) / (high − low) − 1",
    weights=median_weights,
    contributions=partial(scale_contributions, scheme="median"),
    centre="median",
    explain=lambda response: _explain(response, name="median", value=float(np.median(response.values))),
    influence="Exact: the same as weighing again without the rater.",
)
