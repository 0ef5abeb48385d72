"""The sensitivity of a release's weights to the scheme: how far each moves, and whose sign changes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from annotation.weighting.agreement import icc
from annotation.weighting.groups import BoolArray
from annotation.weighting.scheme import Scheme
from annotation.weighting.schemes import SCHEMES
from annotation.weighting.standing import best_weights, is_best, signs
from annotation.weighting.table import FloatArray, IntArray, RatingTable, check_scale
from annotation.weighting.zscore import check_ends


@dataclass(frozen=True, eq=False)
class Alternative:
    """Other weights of the same R references, unitless, in [-1, +1]; NaN where a reference has none."""

    name: str
    parameters: Mapping[str, float]
    weights: FloatArray
    reason: str = ""  # why no reference has a weight


@dataclass(frozen=True, eq=False)
class Movement:
    """Differences of other weights from a release's. R references, I items.

    Attributes
    ----------
    alternative : the other weights.
    n_compared : references that have both weights.
    n_gone, n_new : references that have only the release's weight, or only the other.
    mean_change, max_change : mean and largest absolute difference; NaN where nothing is compared.
    largest : reference of the largest difference; -1 where nothing is compared.
    rank_correlation : Spearman's rho of the two weights, ties at their mean rank; NaN with ``rank_reason``.
    reversed_sign : bool array, shape (R,)
        Positive under one and negative under the other.
    to_or_from_zero : bool array, shape (R,)
        0 under one of the two, not under the other.
    best_changed : bool array, shape (I,)
        None of the references that are best under the one is best under the other; both have a best.
    lost_positive, gained_positive : bool array, shape (I,)
        The item has a positive weight under the release and none under the other, and the reverse.
    n_tied : items with several best references under the other.
    """

    alternative: Alternative
    n_compared: int
    n_gone: int
    n_new: int
    mean_change: float
    max_change: float
    largest: int
    rank_correlation: float
    rank_reason: str
    reversed_sign: BoolArray
    to_or_from_zero: BoolArray
    best_changed: BoolArray
    lost_positive: BoolArray
    gained_positive: BoolArray
    n_tied: int


def alternatives(
    table: RatingTable | None, low: float, high: float, release_weights: npt.ArrayLike
) -> list[Alternative]:
    """Weigh the same references by every scheme, with its defaults, and by every variant.

    Parameters
    ----------
    table : RatingTable of R responses, or None
        The judgements that count; None for imported weights, whose judgements are unknown. Then the schemes are
        left out.
    low, high : float
        Ends of the scale, as in ``linear_weights``.
    release_weights : float array, shape (R,)
        The release's weights; NaN where a reference has none.

    Returns
    -------
    list of Alternative
        The schemes; then ``shrunken``, the mean rating without the noise of its ratings (see
        :func:`shrunken_means`), on the scale of the linear scheme; ``no_negatives``, the release's weights without
        those below 0; ``ones``, every reference at 1, as in BLEU with several references. A scheme that refuses the
        scale has no weights and says why.

    Raises
    ------
    ValueError
        ``release_weights`` has another shape than the table's responses.

    Examples
    --------
    >>> table = RatingTable([0, 0, 1, 1], [0, 1, 0, 1], [4, 5, 1, 2])
    >>> others = {other.name: other for other in alternatives(table, 1, 5, [0.75, -0.75])}
    >>> [(name, others[name].weights.round(2).tolist()) for name in ("median", "shrunken", "ones")]
    [('median', [0.75, -0.75]), ('shrunken', [0.71, -0.71]), ('ones', [1.0, 1.0])]
    """
    weights = np.asarray(release_weights, dtype=np.float64)
    if table is not None and weights.shape != (table.n_responses,):
        accepted = f"({table.n_responses},), one weight per response"
        raise ValueError(f"release_weights has shape {weights.shape}; accepted: {accepted}")
    others = [
        Alternative("no_negatives", {}, np.where(signs(weights) < 0, np.nan, weights)),
        Alternative("ones", {}, np.where(np.isfinite(weights), 1.0, np.nan)),
    ]
    if table is None:
        return others
    schemes = [_scheme_weights(scheme, table, low, high) for scheme in SCHEMES.values()]
    return [*schemes, _shrunken(table, low, high), *others]


def shrunken_means(table: RatingTable) -> tuple[FloatArray, float]:
    """Shrink each mean rating to the mean of all by the share of its variance that is noise of single ratings.

    With r the reliability of one rating, a mean of n ratings has the reliability ``n r / (1 + (n - 1) r)`` [2, 3]; the
    estimate is ``mean of all + reliability * (mean - mean of all)`` [1]. Few ratings that say something extreme are
    believed less than many.

    Returns
    -------
    means : float array, shape (R,)
        In rating units; NaN without ratings.
    r : float
        ICC(1) of the ratings, cut to [0, 1]; NaN where it is undefined, and every mean is NaN then.

    References
    ----------
    [1] Kelley, Fundamentals of Statistics, 1947, p. 409 (regressed estimate of a true score). [2] Spearman 1910 and
    [3] Brown 1910, British Journal of Psychology 3: reliability of a lengthened test.

    Examples
    --------
    >>> means, r = shrunken_means(RatingTable([0, 0, 1, 1], [0, 1, 0, 1], [4, 5, 1, 2]))
    >>> means.round(3).tolist(), round(r, 3)
    ([4.417, 1.583], 0.895)
    """
    n, mean = table.counts(), table.means()
    single = icc(table).icc_1
    if not np.isfinite(single):
        return np.full(table.n_responses, np.nan), np.nan
    r = float(np.clip(single, 0.0, 1.0))
    grand = float(table.value.mean())
    reliability = n * r / (1 + (np.maximum(n, 1) - 1) * r)
    means: FloatArray = grand + reliability * (mean - grand)
    return means, r


def movement(
    release_weights: npt.ArrayLike, other: Alternative, item: npt.ArrayLike, n_items: int | None = None
) -> Movement:
    """Compare other weights with the release's, by reference and by item.

    Parameters
    ----------
    release_weights : float array, shape (R,)
        The release's weights; NaN where a reference has none.
    other : Alternative
        Its weights have the same shape.
    item : int array, shape (R,)
        Dense code of each reference's item, 0..I-1.
    n_items : int, optional
        I; by default one more than the largest code.

    Raises
    ------
    ValueError
        The shapes differ.

    References
    ----------
    Spearman, The Proof and Measurement of Association between Two Things, 1904: Pearson's correlation of ranks.

    Examples
    --------
    >>> moved = movement([0.6, 0.5, -0.2], Alternative("x", {}, np.array([0.4, 0.5, 0.1])), [0, 0, 1])
    >>> round(moved.max_change, 2), moved.reversed_sign.tolist(), moved.best_changed.tolist()
    (0.3, [False, False, True], [True, False])
    """
    weights, codes = np.asarray(release_weights, dtype=np.float64), np.asarray(item, dtype=np.int64)
    if not weights.shape == other.weights.shape == codes.shape:
        raise ValueError(
            f"release_weights, the other weights and item have shapes {weights.shape}, {other.weights.shape}, "
            f"{codes.shape}; accepted: one entry per reference in each"
        )
    size = int(codes.max(initial=-1)) + 1 if n_items is None else n_items
    had, has = np.isfinite(weights), np.isfinite(other.weights)
    both = had & has
    change = np.where(both, np.abs(other.weights - weights), np.nan)
    correlation, reason = _rank_correlation(weights[both], other.weights[both])
    before, after = signs(weights), signs(other.weights)
    best, other_best = is_best(weights, codes, size), is_best(other.weights, codes, size)
    same_best = np.bincount(codes, best & other_best, minlength=size) > 0
    n_best = np.bincount(codes, other_best, minlength=size)
    had_best = np.bincount(codes, best, minlength=size) > 0
    positive, other_positive = _any_positive(weights, codes, size), _any_positive(other.weights, codes, size)
    some = bool(both.any())
    return Movement(
        alternative=other,
        n_compared=int(both.sum()),
        n_gone=int((had & ~has).sum()),
        n_new=int((has & ~had).sum()),
        mean_change=float(np.nanmean(change)) if some else np.nan,
        max_change=float(np.nanmax(change)) if some else np.nan,
        largest=int(np.nanargmax(change)) if some else -1,
        rank_correlation=correlation,
        rank_reason=reason,
        reversed_sign=both & (before * after < 0),
        to_or_from_zero=both & ((before == 0) != (after == 0)),
        best_changed=had_best & (n_best > 0) & ~same_best,
        lost_positive=positive & ~other_positive,
        gained_positive=~positive & other_positive,
        n_tied=int((n_best > 1).sum()),
    )


def _scheme_weights(scheme: Scheme, table: RatingTable, low: float, high: float) -> Alternative:
    try:
        weights = scheme.centres(table, low, high)
    except ValueError as error:
        return Alternative(scheme.key, scheme.defaults, np.full(table.n_responses, np.nan), str(error))
    reason = "" if np.isfinite(weights).any() else "no rating counts under this scheme"
    return Alternative(scheme.key, scheme.defaults, weights, reason)


def _shrunken(table: RatingTable, low: float, high: float) -> Alternative:
    nothing = np.full(table.n_responses, np.nan)
    try:
        check_ends(low, high, scheme="shrunken")
        check_scale(table, low, high)
    except ValueError as error:
        return Alternative("shrunken", {}, nothing, str(error))
    means, r = shrunken_means(table)
    if not np.isfinite(r):
        return Alternative("shrunken", {}, nothing, "the reliability of single ratings, ICC(1), is undefined")
    return Alternative("shrunken", {"icc1": r}, np.clip(2 * (means - low) / (high - low) - 1, -1.0, 1.0))


def _any_positive(weights: FloatArray, item: IntArray, n_items: int) -> BoolArray:
    return signs(best_weights(weights, item, n_items)) > 0


def _rank_correlation(x: FloatArray, y: FloatArray) -> tuple[float, str]:
    if len(x) < 3:
        return np.nan, "fewer than three references have both weights"
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan, "all weights are equal"
    a, b = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / np.sqrt((a @ a) * (b @ b))), ""
