"""The width of the weights' intervals, and how many more ratings a narrower interval takes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.ranking.forecast import chance_beyond
from annotation.weighting.intervals import check_confidence, student_quantile
from annotation.weighting.schemes import get_scheme
from annotation.weighting.table import FloatArray, IntArray, Ratings, as_table, ratio

FEWEST = 2  # raters a response needs for any interval at all
_MEDIAN_FACTOR = np.sqrt(np.pi / 2)


@dataclass(frozen=True, eq=False)
class Sufficiency:
    """Half-widths of the weights' intervals, unitless, and the ratings that would reach a target.

    Attributes
    ----------
    target : the half-width aimed at.
    spread : pooled standard deviation of the scores of single ratings within responses.
    df : degrees of freedom behind it.
    half_width : mean over rated responses of the half-width that ``spread`` and the response's own ratings give.
    half_widths : float array, shape (R,)
        The same, response by response; NaN where unrated.
    expected : ((k', half-width with k' ratings per response), ...).
    at_plan : mean half-width over the responses that have ratings by the plan; NaN without a plan.
    needed : ratings per response that reach the target; None where undefined.
    more : int array, shape (R,)
        Further ratings each response needs.
    more_total : their sum.
    n_reached : responses that need none.
    reason : why numbers are NaN; empty where they are not.
    """

    target: float
    df: int
    half_widths: FloatArray
    expected: tuple[tuple[int, float], ...]
    more: IntArray
    spread: float = np.nan
    half_width: float = np.nan
    at_plan: float = np.nan
    needed: int | None = None
    more_total: int = 0
    n_reached: int = 0
    reason: str = ""


def sufficiency(
    ratings: Ratings,
    low: float,
    high: float,
    *,
    target: float,
    k: Sequence[int] = (),
    plan: npt.ArrayLike | None = None,
    scheme: str = "linear",
    confidence: float = 0.95,
) -> Sufficiency:
    """Compute how wide the weights' intervals are, and how many more ratings reach a half-width.

    The variance of single ratings about their response's weight is pooled over responses: three or five ratings say
    little about one response's own variance, thousands say much about the common one.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings
        Of a rater's ratings of a response the latest counts: a second is no independent evidence. Responses without
        ratings, which a table may hold, need all of theirs.
    low, high : float
        Ends of the scale, as in ``linear_weights``.
    target : float
        Half-width of the interval of a weight to reach, > 0.
    k : sequence of int
        Ratings per response to compute the half-width for, each >= 1.
    plan : float array, shape (R,), optional
        Raters that each response is to have, 0 or more: see ``raters_by_plan``.
    scheme : str
        A key of ``SCHEMES``, with its default parameters. Under ``reliability`` further raters are taken to be as
        precise as those seen, on average. Under ``median`` the factor is that of many ratings, and the half step
        that a release's intervals of ratings on points hold is left out: more ratings do not reduce it.
    confidence : float
        In (0, 1).

    Returns
    -------
    Sufficiency
        NaN, with a reason, while no response has ratings of two raters.

    Raises
    ------
    ValueError
        ``target`` not above 0, a k below 1, a plan of another length or below 0, or as the scheme.

    References
    ----------
    [1] Cochran, Sampling Techniques, 3rd edition 1977, section 4.6: n = (t s / d)^2, with the pooled within-group s of
    the analysis of variance. [2] Kenney & Keeping, Mathematics of Statistics, part 1, 3rd edition 1962: the error of a
    median is sqrt(pi / 2) times that of a mean, for many normal ratings.

    Examples
    --------
    >>> result = sufficiency([[4, 5, 4], [1, 2, 1], [3, 3, 5]], 1, 5, target=0.2, k=[3, 12])
    >>> round(result.half_width, 2), [(k, round(half, 2)) for k, half in result.expected]
    (0.58, [(3, 0.58), (12, 0.29)])
    >>> result.needed, result.more.tolist()
    (25, [22, 22, 22])
    """
    chosen = get_scheme(scheme)
    table = as_table(ratings).latest_per_rater()
    planned = np.zeros(table.n_responses) if plan is None else np.asarray(plan, dtype=np.float64)
    _check(target, k, planned, table.n_responses, confidence)
    parts = chosen.contributions(table, low, high)
    table = parts.table
    mass = table.sums(parts.precision)
    spread, df = chosen.spread(parts)
    if df < 1:
        return _undefined(target, df, k, table.n_responses)
    # [1] s pooled within responses; [2] for a median
    unit_spread = spread * (_MEDIAN_FACTOR if chosen.centre == "median" else 1.0)
    precision = float(parts.precision.mean())
    reach = float(student_quantile(float(df), confidence)) * unit_spread
    half_widths = reach * np.sqrt(ratio(np.ones(table.n_responses), mass))
    needed = (reach / target) ** 2  # [1] in units of precision
    rated = planned > 0
    more = np.maximum(_ceil(np.maximum(needed - mass, 0.0) / precision), FEWEST - table.counts())
    return Sufficiency(
        target=target,
        spread=unit_spread / float(np.sqrt(precision)),
        df=df,
        half_width=float(half_widths[mass > 0].mean()),
        half_widths=half_widths,
        expected=tuple((int(count), reach / float(np.sqrt(count * precision))) for count in k),
        at_plan=float((reach / np.sqrt(planned[rated] * precision)).mean()) if rated.any() else np.nan,
        needed=max(int(_ceil(np.asarray(needed / precision))), FEWEST),
        more=np.maximum(more, 0),
        more_total=int(np.maximum(more, 0).sum()),
        n_reached=int((more <= 0).sum()),
    )


def _undefined(target: float, df: int, k: Sequence[int], n_responses: int) -> Sufficiency:
    return Sufficiency(
        target=target,
        df=df,
        half_widths=np.full(n_responses, np.nan),
        expected=tuple((int(count), np.nan) for count in k),
        more=np.zeros(n_responses, dtype=np.int64),
        reason="no response has ratings of two raters",
    )


def raters_by_plan(
    raters: npt.ArrayLike, response: npt.ArrayLike, done: npt.ArrayLike, wanted: npt.ArrayLike, *, n_raters: int
) -> FloatArray:
    """Return how many raters each response is expected to have once every planned rating is in.

    A response that several units show (in pairs, one for each other system) meets the same rater more than once, so
    it gets fewer raters than ratings. Each unit's further ratings are taken to come from any of the raters at work who
    have not rated the unit.

    Parameters
    ----------
    raters : int array, shape (R,)
        Raters of each response so far.
    response, done, wanted : int array, shape (M,)
        For each unit that shows a response: the response's code, 0..R-1, and the ratings that the unit has and will
        have. A unit that has more than it should stays as it is.
    n_raters : int
        Raters at work. If a unit needs more than there are, others are taken to come.

    Returns
    -------
    float array, shape (R,)
        At least ``raters``.

    Raises
    ------
    ValueError
        Columns of different length, or codes outside their range.

    Examples
    --------
    Four raters fill four slots of a pair, and of another that shows its first response:

    >>> raters_by_plan([0, 0, 0], [0, 1, 0, 2], [0, 0, 0, 0], [4, 4, 4, 4], n_raters=4).tolist()
    [4.0, 4.0, 4.0]
    >>> raters_by_plan([0], [0, 0], [0, 0], [4, 4], n_raters=8).tolist()
    [6.0]
    """
    now = np.asarray(raters, dtype=np.float64)
    shown, filled, full = (np.asarray(column, dtype=np.int64) for column in (response, done, wanted))
    if not shown.shape == filled.shape == full.shape or shown.ndim != 1:
        shapes = ", ".join(str(column.shape) for column in (shown, filled, full))
        raise ValueError(f"response, done and wanted have shapes {shapes}; accepted: one length")
    if shown.size and not 0 <= int(shown.min()) <= int(shown.max()) < now.size:
        raise ValueError(f"response holds {shown.min()} to {shown.max()}; accepted: 0 to {now.size - 1}")
    left = np.maximum(full - filled, 0)
    pool = np.maximum(max(n_raters, int(full.max(initial=0))) - filled, np.maximum(left, 1))
    # The chance that a rater who has not met the response is none of those who fill its units.
    spared = np.ones(now.size)
    np.multiply.at(spared, shown, 1 - left / pool)
    most = np.full(now.size, float(n_raters))
    np.maximum.at(most, shown, full.astype(np.float64))
    expected: FloatArray = now + np.maximum(most - now, 0.0) * (1 - spared)
    return expected


def sign_chances(
    ratings: Ratings,
    low: float,
    high: float,
    *,
    raters: npt.ArrayLike,
    scheme: str = "linear",
    confidence: float = 0.95,
) -> FloatArray:
    """Return for each weight the chance that its interval leaves 0 out once so many raters have rated the response.

    What further ratings will say is forecast from the response's own ratings, drawn towards the mean of all responses
    as far as the ratings are noise: responses far from the rest are so partly by chance.

    Parameters
    ----------
    ratings, low, high, scheme, confidence
        As in ``sufficiency``.
    raters : float array, shape (R,)
        Raters that each response has then; fewer than now are taken for as many as now.

    Returns
    -------
    float array, shape (R,)
        In [0, 1]; 0 for a response that has no rater then, NaN while no response has ratings of two raters.

    Raises
    ------
    ValueError
        ``raters`` of another shape, or as the scheme.

    References
    ----------
    [1] Morris, Parametric Empirical Bayes Inference, JASA 78, 1983, section 1: the normal model.

    Examples
    --------
    >>> rows = [[5, 5, 4], [3, 3, 4], [1, 2, 1], [3, 4, 2]]
    >>> sign_chances(rows, 1, 5, raters=[3, 3, 3, 3]).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    chosen = get_scheme(scheme)
    parts = chosen.contributions(as_table(ratings).latest_per_rater(), low, high)
    table = parts.table
    then = np.asarray(raters, dtype=np.float64)
    if then.shape != (table.n_responses,):
        raise ValueError(f"raters has shape {then.shape}; accepted: ({table.n_responses},)")
    spread, df = chosen.spread(parts)
    if df < 1:
        return np.full(table.n_responses, np.nan)
    factor = _MEDIAN_FACTOR if chosen.centre == "median" else 1.0
    variance = (spread * factor) ** 2 / float(parts.precision.mean())
    now = table.counts().astype(np.float64)
    rated = now > 0
    weight = np.where(rated, chosen.centres(table, low, high), 0.0)
    more = np.maximum(then - now, 0.0)
    expected, unknown = _further_ratings(weight, now, variance)
    total = np.maximum(now + more, 1e-300)
    centre = (now * weight + more * expected) / total
    moves = more / total * np.sqrt(unknown + variance / np.maximum(more, 1e-300))
    half = float(student_quantile(float(df), confidence)) * np.sqrt(variance / total)
    chances: FloatArray = np.where(now + more > 0, chance_beyond(centre, half, moves), 0.0)
    return chances


def _further_ratings(weight: FloatArray, ratings: FloatArray, variance: float) -> tuple[FloatArray, FloatArray]:
    """Return the expected further ratings of each response, and the variance of that expectation [1].

    ``weight`` and ``ratings`` (R,) are the responses' means and numbers of ratings, ``variance`` that of one rating.
    """
    rated = ratings > 0
    middle = float(weight[rated].mean())
    # The variance between responses is what that of their means has beyond noise.
    between = 0.0
    if rated.sum() > 1:
        between = max(float(weight[rated].var(ddof=1)) - float((variance / ratings[rated]).mean()), 0.0)
    reliability = ratings * between / np.maximum(ratings * between + variance, 1e-300)
    return middle + reliability * (weight - middle), between * (1 - reliability)


def _check(target: float, k: Sequence[int], plan: FloatArray, n_responses: int, confidence: float) -> None:
    if plan.shape != (n_responses,) or not (plan >= 0).all():
        raise ValueError(
            f"plan has shape {plan.shape} and values from {plan.min(initial=np.inf):g}; "
            f"accepted: ({n_responses},), from 0"
        )
    if not target > 0 or not np.isfinite(target):
        raise ValueError(f"target is {target}; accepted: a half-width above 0")
    if any(count < 1 for count in k):
        raise ValueError(f"k holds {min(k)}; accepted: 1 or more")
    check_confidence(confidence)


def _ceil(ratings: FloatArray) -> IntArray:
    # A count that is whole but for rounding is that count.
    whole: IntArray = np.ceil(ratings - 1e-9).astype(np.int64)
    return whole
