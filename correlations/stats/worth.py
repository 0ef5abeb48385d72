"""What a metric is worth: the ratings that it saves, and whether it can stand in for a rater."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.closeness import Alignment, GivenRatings
from correlations.stats.intervals import LEVELS, NOWHERE, Interval
from correlations.stats.ranks import Bools, Floats, Ints

ENOUGH_ITEMS = 30  # of a rater, for the test's normal approximation
PASS_FROM = 0.5  # the winning rate
MARGINS = {"crowd": 0.1, "skilled": 0.15, "experts": 0.2}  # epsilon by whom the candidate would replace
FOLDS = 10  # of items, so that no rating of an item puts its own scores on the scale
LEVEL = 0.05  # of false discoveries among the raters beaten
NO_RATERS = f"no rater has {ENOUGH_ITEMS} items that another rater and the candidate rated"


@dataclass(frozen=True)
class RegressionEstimate:
    """A mean rating estimated with the help of a metric; NaN, with the reason, where undefined.

    Attributes
    ----------
    estimate : float
        Mean rating of all outputs, in points.
    standard_error : float
        Of ``estimate``, in points.
    interval : Interval
        95%, by Student's t with n - 2 degrees of freedom.
    mean, mean_error, mean_interval : float, float, Interval
        The same from the ratings alone: their mean, with Student's t and n - 1 degrees of freedom.
    saved : float
        Share of ratings that the metric saves: 1 - (variance with) / (variance without). At most 1; below 0 if the
        metric tells less about the ratings than its regression costs.
    at_most : float
        What it would save if endlessly many outputs like these were scored: the adjusted r squared.
    correlation : float
        Pearson's, of scores and ratings.
    """

    estimate: float
    standard_error: float
    interval: Interval
    mean: float
    mean_error: float
    mean_interval: Interval
    saved: float
    at_most: float
    correlation: float
    reason: str | None = None


def regression_estimate(rated: ArrayLike, scores_of_rated: ArrayLike, scores_of_all: ArrayLike) -> RegressionEstimate:
    """Estimate the mean rating of many scored outputs, only some of which are rated, by regression on the scores.

    The mean of the ratings is moved by what the scores say of the difference between rated and other outputs:
    ybar_n - a (gbar_n - gbar_N), a = cov(y, g) / var(g). For large n its variance is about
    s_y^2 ((1 - r^2) / n + r^2 / N). The form with n - 2 degrees of freedom and the term for the slope's own error,
    which is used here, holds at small n, too.

    Parameters
    ----------
    rated : (n,) float
        Ratings y of n >= 4 outputs, drawn at random from all: the mean of each output's ratings, in points.
    scores_of_rated : (n,) float
        The metric's scores g of the same outputs, in any unit.
    scores_of_all : (N,) float
        The scores of all outputs, the rated ones among them, in any order.

    Returns
    -------
    RegressionEstimate
        NaN, with the reason, where the ratings or the scores of rated outputs are constant; then ``mean`` and
        ``mean_interval`` still stand.

    Raises
    ------
    ValueError
        If the lengths differ, a value is not finite, there are fewer than 4 ratings, or fewer scores than ratings.

    References
    ----------
    [1] Cochran, "Sampling techniques", 3rd edition, 1977, chapter 12 (double sampling, regression).
    [2] Chaganty, Mussmann and Liang, "The price of debiasing automatic metrics in natural language evaluation",
        ACL 2018, which has the same estimate with a control variate's coefficient.

    Examples
    --------
    >>> result = regression_estimate([1, 2, 4, 5], [0.1, 0.3, 0.6, 0.9], [0.1, 0.3, 0.6, 0.9, 0.8, 0.7, 0.9, 0.9])
    >>> round(result.estimate, 2), round(result.saved, 2)
    (3.9, 0.48)
    """
    y, g = _finite("rated", rated), _finite("scores_of_rated", scores_of_rated)
    every = _finite("scores_of_all", scores_of_all)
    n = y.size
    if n < 4:
        raise ValueError(f"rated has {n} ratings: at least 4 are needed")
    if g.size != n:
        raise ValueError(f"rated has {n} ratings and scores_of_rated {g.size} scores: they are of the same outputs")
    if every.size < n:
        raise ValueError(f"scores_of_all has {every.size} scores, scores_of_rated {n}: the rated outputs are among all")
    for name, side in (("ratings", y), ("scores of rated outputs", g)):
        if (side == side[0]).all():
            return _mean_alone(y, f"the {name} are constant")
    return _regression(y, g, every)


def _mean_alone(y: Floats, reason: str) -> RegressionEstimate:
    mean = float(y.mean())
    mean_error = math.sqrt(float(y.var(ddof=1)) / y.size)
    return RegressionEstimate(
        estimate=math.nan,
        standard_error=math.nan,
        interval=NOWHERE,
        mean=mean,
        mean_error=mean_error,
        mean_interval=_t_interval(mean, mean_error, y.size - 1),
        saved=math.nan,
        at_most=math.nan,
        correlation=math.nan,
        reason=reason,
    )


def _regression(y: Floats, g: Floats, every: Floats) -> RegressionEstimate:
    n, mean, variance = y.size, float(y.mean()), float(y.var(ddof=1))
    mean_error = math.sqrt(variance / n)
    around = g - g.mean()
    squares = float(around @ around)
    slope = float(around @ y) / squares
    residuals = y - mean - slope * around
    left = float(residuals @ residuals) / (n - 2)
    apart = float(g.mean() - every.mean())
    # [1] v = s_e^2 (1/n + apart^2 / S_gg) + (s_y^2 - s_e^2) / N, the estimate's variance given the scores drawn.
    spread = left * (1 / n + apart**2 / squares) + max(variance - left, 0.0) / every.size
    error = math.sqrt(spread)
    estimate = mean - slope * apart
    return RegressionEstimate(
        estimate=estimate,
        standard_error=error,
        interval=_t_interval(estimate, error, n - 2),
        mean=mean,
        mean_error=mean_error,
        mean_interval=_t_interval(mean, mean_error, n - 1),
        saved=1 - spread / mean_error**2,
        at_most=1 - left / variance,
        correlation=float(np.clip(slope * math.sqrt(squares / ((n - 1) * variance)), -1, 1)),
    )


def on_rating_scale(scores: ArrayLike, ratings: ArrayLike, items: ArrayLike, *, folds: int = FOLDS) -> Floats:
    """Put scores of any unit on the scale of the ratings by straight lines, cross-fitted over items.

    The line of an item is fitted, by least squares, to the mean ratings of the other folds' outputs: what is compared
    with an item's ratings has not seen them.

    Parameters
    ----------
    scores : (n,) float
        Of outputs, in any unit; NaN if missing.
    ratings : (n,) float
        Mean rating of each output, in points; NaN if it has none.
    items : (n,) int
        Any numbers; outputs of equal ones are in one fold.
    folds : int
        At least 2. Items are dealt to them in the order of their numbers.

    Returns
    -------
    (n,) float
        In points; NaN where the score is missing, or where the scores of the other folds are constant.

    Raises
    ------
    ValueError
        If the lengths differ or ``folds`` is below 2.

    Examples
    --------
    >>> on_rating_scale([0.1, 0.2, 0.3, 0.4, 0.5], [1, 2, 3, 4, np.nan], [5, 6, 7, 8, 9], folds=2).round(9).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    g, y, names = np.asarray(scores, np.float64), np.asarray(ratings, np.float64), np.asarray(items)
    if not g.shape == y.shape == names.shape or g.ndim != 1:
        raise ValueError(f"scores, ratings and items have shapes {g.shape}, {y.shape} and {names.shape}: one length")
    if folds < 2:
        raise ValueError(f"folds is {folds}: at least 2 are needed")
    fold = np.unique(names, return_inverse=True)[1] % folds
    known = np.isfinite(g) & np.isfinite(y)
    if not known.any():
        return np.full(g.shape, np.nan)
    x, y = g - g[known].mean(), y - (middle := float(y[known].mean()))
    sums = (np.bincount(fold[known], of, folds) for of in (None, x[known], y[known], x[known] ** 2, (x * y)[known]))
    n, sx, sy, sxx, sxy = (total.sum() - total for total in sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = sxx - sx**2 / n
        slope = np.where(squares > 1e-12 * sxx, (sxy - sx * sy / n) / squares, np.nan)
        start = (sy - slope * sx) / n
    return np.asarray(middle + start[fold] + slope[fold] * x)


@dataclass(frozen=True, eq=False)
class AlternativeAnnotatorTest:
    """Whether a metric or a judge represents the raters as well as one of them does.

    Attributes
    ----------
    winning_rate : float
        Share of the tested raters that the candidate beats, in [0, 1]; NaN, with the reason, if none is tested.
    advantage : float
        Average advantage probability, in [0, 1]: how often the candidate lies at least as close to the other raters as
        the rater does, the mean over tested raters.
    p_values : (raters,) float
        One-sided, of each rater's own test; NaN for a rater who is not tested.
    passed : bool
        The winning rate is 0.5 or more.
    adjusted : (raters,) float
        ``p_values`` after Benjamini and Yekutieli; a rater is beaten at 0.05 or below.
    advantages : (raters,) float
        Each tested rater's share of items; NaN for the others.
    n_items : (raters,) int
        Items that the rater, at least one other and the candidate rated. A rater is tested from 30 on.
    """

    winning_rate: float
    advantage: float
    p_values: Floats
    passed: bool
    adjusted: Floats
    advantages: Floats
    n_items: Ints
    reason: str | None = None

    @property
    def tested(self) -> Bools:
        return np.asarray(self.n_items >= ENOUGH_ITEMS)

    @property
    def beaten(self) -> Bools:
        return np.asarray(self.adjusted <= LEVEL)


def alternative_annotator_test(
    ratings: ArrayLike | GivenRatings, candidate: ArrayLike, *, epsilon: float, alignment: Alignment = "distance"
) -> AlternativeAnnotatorTest:
    """Test whether a metric or a judge may stand in for a rater: the alternative annotator test.

    Each rater is left out in turn. On each item, does the candidate or the rater lie closer to the ratings of the
    others? A tie counts for both. The candidate beats the rater if its share of items exceeds the rater's share less
    epsilon, by a one-sided t-test, Benjamini-Yekutieli corrected over raters.

    Parameters
    ----------
    ratings : (raters, items) float, or GivenRatings
        In points, or numbers of labels; NaN where the rater did not rate the item.
    candidate : (items,) float
        The judge's ratings, or the metric's scores put on the same scale; NaN if missing.
    epsilon : float
        In [0, 1): what being cheaper than raters is worth, as a probability. 0.1 for crowds, 0.15 for skilled raters,
        0.2 for experts, as [1] has it.
    alignment : {"distance", "agreement"}
        What closer means: a smaller root mean squared distance to the others' ratings, or, for labels, a larger share
        of the others who gave the same.

    Returns
    -------
    AlternativeAnnotatorTest
        Raters with fewer than 30 items are not tested. A rater against whom every item has the same outcome has p = 0
        or 1.

    Raises
    ------
    ValueError
        If the shapes do not fit, there are fewer than 2 raters, a value is infinite, epsilon lies outside [0, 1), or
        ``alignment`` is unknown.

    References
    ----------
    [1] Calderon, Reichart and Dror, "The alternative annotator test for LLM-as-a-judge", ACL 2025, section 3.
    [2] Benjamini and Yekutieli, "The control of the false discovery rate in multiple testing under dependency", Annals
        of Statistics 2001, theorem 1.3.

    Examples
    --------
    >>> truth = np.arange(40) % 5 + 1.0
    >>> ratings = np.stack([truth, truth + [0, 1] * 20, truth - [1, 0] * 20])
    >>> result = alternative_annotator_test(ratings, truth, epsilon=0.1)
    >>> result.passed, result.winning_rate, result.advantage
    (True, 1.0, 1.0)
    """
    given = GivenRatings.of(ratings)
    candidates = given.candidate(candidate)
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon is {epsilon!r}: it lies in [0, 1), for example 0.1 for crowds")
    if alignment not in ("distance", "agreement"):
        raise ValueError(f'alignment is {alignment!r}: accepted are "distance" and "agreement"')
    return _tests_of_raters(given, candidates, epsilon, alignment)


def _tests_of_raters(
    given: GivenRatings, candidates: Floats, epsilon: float, alignment: Alignment
) -> AlternativeAnnotatorTest:
    rater, _, outcome = given.outcomes(candidates, alignment)
    n_raters = given.n_raters
    n_items = np.bincount(rater, minlength=n_raters)
    tested = n_items >= ENOUGH_ITEMS
    p_values, advantages = np.full(n_raters, np.nan), np.full(n_raters, np.nan)
    at_least_as_close, total, squares = (
        np.bincount(rater, each, n_raters).astype(np.float64)[tested] for each in (outcome <= 0, outcome, outcome**2)
    )
    advantages[tested] = at_least_as_close / n_items[tested]
    p_values[tested] = _below(total, squares, n_items[tested], epsilon)
    adjusted = benjamini_yekutieli(p_values)
    if not tested.any():
        return AlternativeAnnotatorTest(
            math.nan, math.nan, p_values, False, adjusted, advantages, n_items, reason=NO_RATERS
        )
    winning_rate = float((adjusted[tested] <= LEVEL).mean())
    advantage = float(advantages[tested].mean())
    return AlternativeAnnotatorTest(
        winning_rate, advantage, p_values, winning_rate >= PASS_FROM, adjusted, advantages, n_items
    )


class Lead(NamedTuple):
    """By how much a candidate is closer to the raters than another one.

    ``difference`` is in [-1, 1]: the share of items on which it is closer, less the share on which the other is; ``p``
    is one-sided, of no more than the margin. Both are NaN with fewer than 2 items.
    """

    difference: float
    p: float
    n_items: int
    closer: int
    farther: int


def lead_over(
    ratings: ArrayLike | GivenRatings,
    candidate: ArrayLike,
    other: ArrayLike,
    *,
    margin: float = 0.0,
    alignment: Alignment = "distance",
) -> Lead:
    """Test whether a candidate is closer to the raters than another one is, by more than a margin.

    On each item both are compared with each other: whose root mean squared distance to its raters is smaller, or whose
    label more of them gave. A one-sided t-test over items follows. The other candidate may be one and the same rating
    for every item: a judge that is no closer than that shows no judgement. (Comparing each with single raters, as in
    ``alternative_annotator_test``, favours whole points: these tie with raters often, a mean between them never.)

    Parameters
    ----------
    ratings : (raters, items) float, or GivenRatings
        Items with fewer than two raters do not count.
    candidate, other : (items,) float
        Items are counted that both have.
    margin : float
        In [-1, 1], a difference of shares.
    alignment : {"distance", "agreement"}

    Raises
    ------
    ValueError
        If the shapes do not fit, there are fewer than 2 raters, or a value is infinite.

    Examples
    --------
    >>> truth = np.arange(40) % 5 + 1.0
    >>> ratings = np.stack([truth, truth + [0, 1] * 20, truth - [1, 0] * 20])
    >>> lead = lead_over(ratings, truth, np.full(40, 3.0), margin=0.1)
    >>> round(lead.difference, 2), lead.p < 0.001
    (0.8, True)
    """
    given = GivenRatings.of(ratings)
    closer = given.closer(given.candidate(candidate), given.candidate(other), alignment)
    differences = closer[~np.isnan(closer)]
    n_items, closer_on, farther_on = int(differences.size), int((differences > 0).sum()), int((differences < 0).sum())
    if n_items < 2:
        return Lead(math.nan, math.nan, n_items, closer_on, farther_on)
    # That the mean lies above the margin, as the test above has it for below.
    total, squares = -differences.sum(keepdims=True), (differences**2).sum(keepdims=True)
    p = _below(total, squares, np.array([n_items]), -margin)
    return Lead(float(differences.mean()), float(p[0]), n_items, closer_on, farther_on)


def _below(total: Floats, squares: Floats, n: Ints, epsilon: float) -> Floats:
    """Return p-values of one-sided t-tests that means lie below epsilon, from sums of n values and of their squares."""
    mean = total / n
    variance = (squares - n * mean**2) / (n - 1)
    alike = np.isclose(variance, 0)
    t = (mean - epsilon) / np.sqrt(np.where(alike, 1.0, variance) / n)
    return np.where(alike, np.where(mean < epsilon, 0.0, 1.0), special.stdtr(n - 1, t))


def benjamini_yekutieli(pvalues: Floats) -> Floats:
    """Return step-up p-values that bound the share of false discoveries under any dependence ([2]); NaN stays NaN."""
    adjusted = np.full(pvalues.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(pvalues))
    if defined.size:
        rank = np.arange(1, defined.size + 1)
        order = defined[np.argsort(pvalues[defined])]
        steps = pvalues[order] * defined.size * (1 / rank).sum() / rank
        adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted


def _t_interval(centre: float, error: float, freedom: int) -> Interval:
    reach = float(special.stdtrit(freedom, LEVELS[1])) * error
    return Interval(centre - reach, centre + reach)


def _finite(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: one axis, the outputs, is expected")
    broken = np.flatnonzero(~np.isfinite(array))
    if broken.size:
        raise ValueError(f"{name}[{broken[0]}] is {array[broken[0]]}: finite is expected")
    return array
