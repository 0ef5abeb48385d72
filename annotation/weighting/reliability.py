"""Weights that trust consistent raters more: an additive model of rater bias and rater noise."""

from dataclasses import dataclass

import numpy as np

from annotation.weighting.aggregation import Contributions, Spread, weigh
from annotation.weighting.result import WeightResult
from annotation.weighting.scheme import Scheme, SchemeParameter, WeighedResponse, two_decimals
from annotation.weighting.table import FloatArray, IntArray, Ratings, RatingTable, as_table, check_scale, ratio
from annotation.weighting.zscore import check_ends

MAX_ITERATIONS = 1000
TOLERANCE = 1e-8  # of the rating scale's own unit
COARSE = 1e-4  # likewise, for how far weights move without some raters
GROUPS = 10  # of raters, each left out in turn
PRIOR_RATINGS = SchemeParameter("prior_ratings", 5.0, "Prior ratings per rater")


@dataclass(frozen=True, eq=False)
class RaterModel:
    """Estimates of ``rating = quality[response] + bias[rater] + noise[rater] * N(0, 1)``, in rating units."""

    quality: FloatArray  # (R,), NaN without ratings
    bias: FloatArray  # (K,), zero on average over the ratings, NaN without ratings
    noise: FloatArray  # (K,), standard deviation, NaN without ratings
    iterations: int
    converged: bool


def reliability_weights(
    ratings: Ratings,
    low: float,
    high: float,
    *,
    prior_ratings: float = PRIOR_RATINGS.default,
) -> WeightResult:
    """Weigh each response by the mean of its bias-corrected ratings, weighted by their raters' precision.

    The mean is mapped linearly to [-1, +1]. Bias and noise of each rater come from :func:`fit_rater_model`. A weight
    that the correction moves out of [-1, +1] is cut to it.

    Parameters
    ----------
    prior_ratings : float
        See :func:`fit_rater_model`.
    ratings, low, high
        As in ``linear_weights``. The interval holds the choice of raters and the estimation of their bias and noise.

    Raises
    ------
    ValueError
        As in ``linear_weights`` and ``fit_rater_model``.

    Examples
    --------
    The third rater is one point too generous everywhere, so is corrected and trusted less (the mean rating would give
    -0.83, 0.17, 0.67):

    >>> reliability_weights([[1, 1, 2], [3, 3, 4], [4, 4, 5]], 1, 5).weights.round(2).tolist()
    [-0.89, 0.11, 0.61]
    """
    table = as_table(ratings)
    parts = reliability_contributions(table, low, high, prior_ratings=prior_ratings)
    signature = f"weights:reliability|scale:{low:g}..{high:g}|prior:{prior_ratings:g}"
    spread = reliability_spread(parts, prior_ratings=prior_ratings)
    return weigh(table, parts, "mean", signature=signature, spread=spread)


def reliability_contributions(
    table: RatingTable, low: float, high: float, *, prior_ratings: float = PRIOR_RATINGS.default
) -> Contributions:
    """Return each rating minus its rater's bias, with the rater's precision."""
    check_ends(low, high, scheme="reliability")
    check_scale(table, low, high)
    model = fit_rater_model(table, prior_ratings=prior_ratings)
    smallest = np.nanmin(model.noise, initial=np.inf)
    # Only ratios of precisions matter; the most precise rater counts 1, and all do if no rater ever disagrees.
    relative = np.ones(table.n_raters) if not 0 < smallest < np.inf else (smallest / model.noise) ** 2
    score = 2 * (table.value - model.bias[table.rater]) - (low + high)
    return Contributions(table, score, relative[table.rater], float(high - low))


def reliability_spread(parts: Contributions, *, prior_ratings: float = PRIOR_RATINGS.default) -> Spread:
    """Estimate the spread of ratings from the model fitted again without each of some groups of raters.

    Distances of ratings from their response's weight are too small, because bias and precision were fitted to these
    very ratings. How far a weight moves without a rater holds what the fit adds. With m groups among a response's
    raters, ``(m - 1) / m`` times the sum of squared movements is the jackknife's variance of its weight [1]; times the
    response's precision, and pooled over responses by m - 1, it is the spread of a rating of precision 1.

    Returns
    -------
    Spread
        In units of the weight; NaN where no response has raters of two groups.

    References
    ----------
    [1] Efron and Tibshirani, An Introduction to the Bootstrap, 1993, eq. 11.5, about the estimate from all raters.
    """
    table = parts.table
    everyone = _fit(table, prior_ratings).quality
    mass = table.sums(parts.precision)
    group = _rater_groups(table)
    squares, n_groups = np.zeros((2, table.n_responses))
    for left_out in range(int(group.max(initial=-1)) + 1):
        keep = group[table.rater] != left_out
        touched = np.bincount(table.response[~keep], minlength=table.n_responses) > 0
        quality = _fit(table.select(keep), prior_ratings, everyone, tolerance=COARSE).quality
        moved = touched & np.isfinite(quality)
        squares[moved] += (2 * (quality - everyone)[moved] / parts.unit) ** 2
        n_groups += moved
    several = n_groups >= 2
    df = int((n_groups - 1)[several].sum())
    if df < 1:
        return Spread(np.nan, 0)
    variance = squares * (n_groups - 1) / np.maximum(n_groups, 1)
    return Spread(float(np.sqrt((variance * mass * (n_groups - 1))[several].sum() / df)), df)


def _rater_groups(table: RatingTable) -> IntArray:
    """Deal raters into at most ``GROUPS`` groups at random, the same for the same raters."""
    dealt: IntArray = np.random.default_rng(0).permutation(table.n_raters) % GROUPS
    return dealt


def fit_rater_model(ratings: Ratings, *, prior_ratings: float = PRIOR_RATINGS.default) -> RaterModel:
    """Estimate response quality, rater bias and rater noise by alternating weighted means.

    Each rater starts as if ``prior_ratings`` further ratings without bias and of average noise had been seen: without
    it a rater of few ratings can be taken for perfectly precise, and separate groups of raters cannot be compared.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings
    prior_ratings : float
        Strength of the prior, in ratings; > 0.

    Returns
    -------
    RaterModel
        ``converged`` is False when the qualities still moved after 1000 rounds.

    Raises
    ------
    ValueError
        ``prior_ratings`` is not above 0.

    References
    ----------
    Li, Bampis, Krasula, Janowski & Katsavounidis, A Simple Model for Subject Behavior in Subjective Experiments,
    Human Vision and Electronic Imaging 2020: the model (eq. 2) and its alternating solution; the prior is Assay's.

    Examples
    --------
    >>> model = fit_rater_model([[1, 1, 2], [3, 3, 4], [4, 4, 5]], prior_ratings=1e-6)
    >>> model.bias.round(3).tolist()
    [-0.333, -0.333, 0.667]
    """
    PRIOR_RATINGS.check(prior_ratings)
    return _fit(as_table(ratings), prior_ratings)


def _fit(
    table: RatingTable, prior_ratings: float, start: FloatArray | None = None, *, tolerance: float = TOLERANCE
) -> RaterModel:
    """Fit the model, from qualities to start with if they are known; they must be finite where there are ratings."""
    response, rater, value = table.response, table.rater, table.value
    n_rater = np.bincount(rater, minlength=table.n_raters)
    bias = np.zeros(table.n_raters)
    variance = np.ones(table.n_raters)
    quality = _weighted_quality(table, bias, variance) if start is None else start
    converged, iterations = len(table) == 0, 0
    while not converged and iterations < MAX_ITERATIONS:
        iterations += 1
        offset = np.bincount(rater, value - quality[response], minlength=table.n_raters)
        bias = offset / (n_rater + prior_ratings)
        bias -= bias @ n_rater / len(table)  # only differences between raters are identified
        squares = (value - quality[response] - bias[rater]) ** 2
        pooled = float(squares.mean())
        if pooled > 0:
            by_rater = np.bincount(rater, squares, minlength=table.n_raters)
            variance = (by_rater + prior_ratings * pooled) / (n_rater + prior_ratings)
        previous, quality = quality, _weighted_quality(table, bias, variance)
        converged = bool(np.nanmax(np.abs(quality - previous)) <= tolerance)
    rated = n_rater > 0
    noise = np.sqrt(variance) if len(table) and pooled > 0 else np.zeros(table.n_raters)
    return RaterModel(quality, np.where(rated, bias, np.nan), np.where(rated, noise, np.nan), iterations, converged)


def _weighted_quality(table: RatingTable, bias: FloatArray, variance: FloatArray) -> FloatArray:
    precision = 1 / variance[table.rater]
    return ratio(table.sums(precision * (table.value - bias[table.rater])), table.sums(precision))


def _explain(response: WeighedResponse) -> list[str]:
    result = two_decimals(response.weight, plus=True)
    return [
        f"mean {two_decimals(response.mean)}{response.scale} of {response.n} judgements",
        f"each less its rater's bias and weighted by its rater's precision, mapped to −1 … +1 → {result}",
    ]


RELIABILITY = Scheme(
    key="reliability",
    label="Model-based",
    about="a rater model: severity taken out, raters who agree with the others count more",
    method="A response's weight is the mean q of its ratings, each less its rater's bias and weighted by its rater's "
    "precision, both of an additive rater model, mapped linearly from the scale to −1 … +1",
    formula="w = 2 (q − low) / (high − low) − 1",
    weights=reliability_weights,
    contributions=reliability_contributions,
    centre="mean",
    explain=_explain,
    influence="The other raters' bias and precision are held at what all ratings say.",
    spread=reliability_spread,
    parameters=(PRIOR_RATINGS,),
    raters_apart=False,
)
