"""The influence of each rater on the weights: the weights without that rater, for all raters at once."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.weighting.aggregation import Contributions
from annotation.weighting.groups import BoolArray
from annotation.weighting.schemes import DEFAULT_SCHEME, get_scheme
from annotation.weighting.standing import SAME, best_weights, is_best, signs
from annotation.weighting.table import FloatArray, IntArray, Ratings, as_table, ratio

BLOCK_ROWS = 2_000_000  # references of the items of some raters, held at once


@dataclass(frozen=True, eq=False)
class Influence:
    """Leave-one-rater-out influence of K raters on the weights of R references in I items. Weights are unitless.

    The last four arrays hold an entry per pair of a rater and a response that the rater's ratings weigh, by rater.

    Attributes
    ----------
    weights : float array, shape (R,)
        With all raters, under the scheme; NaN where no rating counts.
    n_ratings, n_responses : int array, shape (K,)
        The rater's ratings that count, and of how many responses.
    mean_change, max_change : float array, shape (K,)
        Mean and largest absolute change of the weights of the rater's responses when the rater is left out; over those
        that keep a weight, NaN where there are none.
    pull : float array, shape (K,)
        Mean of weight with less weight without: above 0 where the rater raises weights.
    n_reversed : int array, shape (K,)
        References that turn from positive to negative or the reverse.
    n_to_or_from_zero : int array, shape (K,)
        References that come to 0 or leave it.
    n_best_changed : int array, shape (K,)
        Items none of whose best references stays best without the rater.
    n_without : int array, shape (K,)
        Responses that no other rater's rating weighs.
    pair_rater, pair_response : int array
    pair_weight : float array
        Weight without the rater; NaN where none is left.
    pair_reversed : bool array
    """

    weights: FloatArray
    n_ratings: IntArray
    n_responses: IntArray
    mean_change: FloatArray
    max_change: FloatArray
    pull: FloatArray
    n_reversed: IntArray
    n_to_or_from_zero: IntArray
    n_best_changed: IntArray
    n_without: IntArray
    pair_rater: IntArray
    pair_response: IntArray
    pair_weight: FloatArray
    pair_reversed: BoolArray


def leave_one_rater_out(
    ratings: Ratings,
    low: float,
    high: float,
    item: npt.ArrayLike,
    *,
    scheme: str = DEFAULT_SCHEME,
    parameters: Mapping[str, float] | None = None,
    n_items: int | None = None,
) -> Influence:
    """Compute every response's weight without each of its raters, and the effect on signs and on each item's best.

    Exact for ``linear`` and ``median``: the same weights as weighing again without the rater's ratings. Exact for
    ``zscore``, too: a rater is standardised by that rater's own ratings, which others' absence does not change. For
    ``reliability`` the biases and the precisions of the other raters are held at what all ratings say: the model is
    not fitted again without the rater.

    Parameters
    ----------
    ratings : RatingTable, or R sequences of ratings
    low, high : float
        Ends of the scale, as the scheme takes them.
    item : int array, shape (R,)
        Dense code of each response's item, 0..I-1.
    scheme : str
        A key of ``SCHEMES``.
    parameters : mapping, optional
        The scheme's parameters; by default its defaults.
    n_items : int, optional
        I; by default one more than the largest code.

    Returns
    -------
    Influence
        A rater none of whose ratings counts has no influence: counts of 0, changes of NaN.

    Raises
    ------
    ValueError
        ``item`` has another shape than the responses, an unknown scheme, or as the scheme.

    References
    ----------
    Cook, Detection of Influential Observation in Linear Regression, Technometrics 1977: deletion of one case at a
    time, here of one rater; sums without a rater are the sums less that rater's own.

    Examples
    --------
    Bob alone keeps the second response above 0:

    >>> from annotation.weighting.table import RatingTable
    >>> table = RatingTable([0, 0, 1, 1, 1], [0, 1, 0, 1, 2], [5, 5, 2, 5, 3])
    >>> result = leave_one_rater_out(table, 1, 5, [0, 0])
    >>> result.weights.round(2).tolist(), result.n_reversed.tolist(), result.max_change.round(3).tolist()
    ([1.0, 0.17], [0, 1, 0], [0.333, 0.417, 0.083])
    """
    table = as_table(ratings)
    codes = np.asarray(item, dtype=np.int64)
    if codes.shape != (table.n_responses,):
        raise ValueError(f"item has shape {codes.shape}; accepted: ({table.n_responses},), one code per response")
    size = int(codes.max(initial=-1)) + 1 if n_items is None else n_items
    chosen = get_scheme(scheme)
    parts = chosen.contributions(table, low, high, **(parameters or {}))
    pairs, pair_of = np.unique(parts.table.rater * table.n_responses + parts.table.response, return_inverse=True)
    rater, response = np.divmod(pairs, max(table.n_responses, 1))
    without_rater = _without_mean if chosen.centre == "mean" else _without_median
    weights, without = without_rater(parts, response, pair_of)
    best_changed = _best_changed(weights, codes, size, rater, response, without, table.n_raters)
    n_ratings = np.bincount(parts.table.rater, minlength=table.n_raters)
    return _influence(n_ratings, rater, response, weights, without, best_changed)


def _influence(
    n_ratings: IntArray,
    rater: IntArray,
    response: IntArray,
    weights: FloatArray,
    without: FloatArray,
    best_changed: IntArray,
) -> Influence:
    """Return what each rater changes; ``without`` is the weight of each pair's response without its rater."""
    k = len(n_ratings)
    before, after = signs(weights)[response], signs(without)
    weighed = np.isfinite(without)
    change = np.where(weighed, weights[response] - without, 0.0)
    n_weighed = np.bincount(rater, weighed, minlength=k)
    largest = np.zeros(k)
    np.maximum.at(largest, rater, np.abs(change))
    reversed_sign = weighed & (before * after < 0)
    return Influence(
        weights=weights,
        n_ratings=n_ratings,
        n_responses=np.bincount(rater, minlength=k),
        mean_change=ratio(np.bincount(rater, np.abs(change), minlength=k), n_weighed),
        max_change=np.where(n_weighed > 0, largest, np.nan),
        pull=ratio(np.bincount(rater, change, minlength=k), n_weighed),
        n_reversed=_count(rater[reversed_sign], k),
        n_to_or_from_zero=_count(rater[weighed & ((before == 0) != (after == 0))], k),
        n_best_changed=best_changed,
        n_without=_count(rater[~weighed], k),
        pair_rater=rater,
        pair_response=response,
        pair_weight=without,
        pair_reversed=reversed_sign,
    )


def _without_mean(parts: Contributions, response: IntArray, pair_of: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means with all raters, and for each pair without its rater: sums less those of the rater."""
    table, size = parts.table, len(response)
    score = parts.precision * parts.score
    total, mass = table.sums(score), table.sums(parts.precision)
    left = table.counts()[response] - np.bincount(pair_of, minlength=size)
    rest = total[response] - np.bincount(pair_of, score, minlength=size)
    rest_mass = np.where(left > 0, mass[response] - np.bincount(pair_of, parts.precision, minlength=size), 0.0)
    weights, without = ratio(total, parts.unit * mass), ratio(rest, parts.unit * rest_mass)
    return np.clip(weights, -1.0, 1.0), np.clip(without, -1.0, 1.0)


def _without_median(parts: Contributions, response: IntArray, pair_of: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return medians with all raters, and for each pair without its rater: the middle of the other ratings."""
    table = parts.table
    order = np.lexsort((parts.score, table.response))
    start = np.searchsorted(table.response[order], np.arange(table.n_responses + 1))
    rank = np.empty(len(table), dtype=np.int64)
    rank[order] = np.arange(len(table))
    score, n = parts.score[order], np.diff(start)
    weights = _middle(score, start[:-1], n, parts.unit, [])
    # The ranks of each pair's ratings, ascending: by_pair[first[p]], ... ; a pair has one rating, seldom several.
    by_pair = rank[np.lexsort((rank, pair_of))]
    times = np.bincount(pair_of, minlength=len(response))
    first = np.cumsum(times) - times
    skipped = []
    for nth in range(int(times.max(initial=0))):
        has = times > nth
        at = np.where(has, by_pair[np.minimum(first + nth, max(len(by_pair) - 1, 0))], len(table))
        skipped.append(at - start[response])
    return weights, _middle(score, start[response], n[response] - times, parts.unit, skipped)


def _middle(score: FloatArray, start: IntArray, n: IntArray, unit: float, skipped: list[IntArray]) -> FloatArray:
    """Return the median of the n scores after each start, without the skipped ranks (ascending); NaN where n is 0."""
    if not len(score):
        return np.full(len(start), np.nan)
    ends = []
    for rank in ((n - 1) // 2, n // 2):
        at = np.maximum(rank, 0)
        for skipped_rank in skipped:
            at = at + (at >= skipped_rank)
        ends.append(score[np.minimum(start + at, len(score) - 1)])
    return np.where(n > 0, (ends[0] + ends[1]) / (2 * unit), np.nan)


def _best_changed(
    weights: FloatArray,
    item: IntArray,
    n_items: int,
    rater: IntArray,
    response: IntArray,
    without: FloatArray,
    n_raters: int,
) -> IntArray:
    """Count per rater the items none of whose best references stays best. Pairs ascend by rater, response."""
    by_item = np.argsort(item, kind="stable")
    first = np.searchsorted(item[by_item], np.arange(n_items + 1))
    size = np.diff(first)
    best = is_best(weights, item, n_items)
    changed = np.zeros(n_raters, dtype=np.int64)
    n = len(weights)
    key = rater * n + response
    touched = np.unique(rater * n_items + item[response])
    rows = np.cumsum(size[touched % max(n_items, 1)])
    block_of = rows // BLOCK_ROWS
    for block in np.unique(block_of):
        group = touched[block_of == block]
        group_rater, group_item = np.divmod(group, n_items)
        times = size[group_item]
        owner = np.repeat(np.arange(len(group)), times)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(times) - times, times)
        reference = by_item[first[group_item][owner] + within]
        pair_key = group_rater[owner] * n + reference
        at = np.minimum(np.searchsorted(key, pair_key), len(key) - 1)
        now = np.where(key[at] == pair_key, without[at], weights[reference])
        highest = best_weights(now, owner, len(group))
        still = best[reference] & (now >= highest[owner] - SAME)
        unchanged = np.bincount(owner, still, minlength=len(group)) > 0
        changed += _count(group_rater[~unchanged & np.isfinite(highest)], n_raters)
    return changed


def _count(codes: IntArray, size: int) -> IntArray:
    counts: IntArray = np.bincount(codes, minlength=size)
    return counts
