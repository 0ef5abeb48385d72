"""How well a metric ranks systems: pairwise accuracy, with tie calibration, and soft pairwise accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from correlations.stats.ranks import Bools, Floats, Ints

NO_PAIR = "no two outputs of one item have both a score and a rating"
_RESAMPLE_BYTES = 32 << 20  # working memory of one block of resamples


@dataclass(frozen=True)
class TieCalibration:
    """Accuracy at the best threshold for ties; NaN, with the reason, if no pair can be compared.

    Attributes
    ----------
    accuracy : float
        In [0, 1].
    epsilon : float
        In the metric's unit, at least 0: scores that differ by no more are a tie.
    """

    accuracy: float
    epsilon: float
    reason: str | None = None


class PairAccuracies(NamedTuple):
    """What `pairwise_accuracy`, `tie_calibrated_accuracy` and `cross_validated_tie_accuracy` return, and beside these
    what a metric that tells nothing reaches with ties: the pairs that raters tie, or half of the others.
    """

    pairwise: float
    calibration: TieCalibration
    held_out: float
    chance: float


class _Moving(NamedTuple):
    """Pairs by their difference in score: what each gains, or loses if negative, once it counts as a tie."""

    pair: NDArray[np.intp]
    size: Floats
    gain: NDArray[Any]


@dataclass(frozen=True, eq=False)
class _ItemPairs:
    """Pairs of systems within items: differences of scores and of ratings, and what each pair counts.

    ``weight`` is a whole number, so that sums are exact: every item's pairs have ``total`` / number of items together.
    """

    metric: Floats
    human: Floats
    weight: NDArray[Any]
    total: int
    item: Ints

    @cached_property
    def agree(self) -> Bools:
        return np.asarray(np.sign(self.metric) == np.sign(self.human))

    @cached_property
    def right(self) -> int:
        """Return what the pairs count that the metric has right, with epsilon 0."""
        return int(self.weight[self.agree].sum())

    @cached_property
    def moving(self) -> _Moving:
        """Return the pairs that change between right and wrong once epsilon ties them, those tied first first.

        A tied pair is right if the raters tie it; a pair ordered the wrong way stays wrong.
        """
        change = (self.human == 0).astype(np.int8) - self.agree.astype(np.int8)
        pair = np.flatnonzero(change)
        size = np.abs(self.metric[pair])
        order = np.argsort(size)
        pair = pair[order]
        return _Moving(pair, size[order], change[pair] * self.weight[pair])


def pairwise_accuracy(metric: ArrayLike, human: ArrayLike) -> float:
    """Return the share of pairs of systems that the metric orders, or ties, as the raters do.

    Parameters
    ----------
    metric, human : arrays of shape (items, systems)
        Scores and ratings of outputs, high ones the better, in any unit; NaN where there is none. Pairs are formed
        within a row. Transposed arrays give pairs of items within a system, one single row gives all pairs.

    Returns
    -------
    float
        In [0, 1]: the mean over items of each item's share. An item without two outputs that have both a score and a
        rating is left out; NaN if that leaves none. A pair is in agreement if both sides order it alike or both tie it.

    Raises
    ------
    ValueError
        If the shapes differ or are not (items, systems), or a value is infinite.

    References
    ----------
    Deutsch, Foster and Freitag, "Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie
    calibration", EMNLP 2023: acc_eq, averaged over groups.

    Examples
    --------
    >>> pairwise_accuracy([[0.2, 0.5, 0.9], [0.3, 0.3, np.nan]], [[1, 2, 2], [4, 4, 5]])
    0.8333333333333334
    """
    pairs = _item_pairs(metric, human)
    return pairs.right / pairs.total if pairs.total else math.nan


def tie_calibrated_accuracy(metric: ArrayLike, human: ArrayLike) -> TieCalibration:
    """Return the pairwise accuracy at the threshold for ties that suits the metric best.

    Raters tie many pairs, a metric with real-valued scores hardly any. So scores that differ by at most epsilon are
    a tie, with one epsilon for all items: 0 or the difference of some pair. Epsilon is tuned on the pairs that it is
    reported on, which favours the metric.

    Parameters
    ----------
    metric, human : arrays of shape (items, systems)
        As in `pairwise_accuracy`.

    Returns
    -------
    TieCalibration
        The best accuracy, and the smallest epsilon that has it. Pairs are counted in whole numbers, so equal
        accuracies are equal.

    Raises
    ------
    ValueError
        As `pairwise_accuracy`.

    References
    ----------
    Deutsch, Foster and Freitag, "Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie
    calibration", EMNLP 2023.

    Examples
    --------
    >>> result = tie_calibrated_accuracy([[0, 2, 6, 8]], [[1, 1, 1, 4]])
    >>> round(result.accuracy, 3), result.epsilon
    (0.667, 4.0)
    """
    return _calibrated(_item_pairs(metric, human))


def cross_validated_tie_accuracy(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    rng: np.random.Generator,
    n_folds: int = 10,
    groups: ArrayLike | None = None,
) -> float:
    """Return the pairwise accuracy with ties, the threshold for each item's pairs chosen on other items.

    Items are divided into folds at random; for each fold epsilon is the one that suits all others best, as
    `tie_calibrated_accuracy` chooses it.

    Parameters
    ----------
    metric, human : arrays of shape (items, systems)
        As in `pairwise_accuracy`.
    rng : numpy.random.Generator
    n_folds : int
        At least 2; no more than items with a pair are used.
    groups : array of shape (items,), optional
        A number from 0 on for each row; rows of one number are held out together. By default each row is by itself.

    Returns
    -------
    float
        In [0, 1]; NaN if fewer than two items, or groups, have a pair.

    Raises
    ------
    ValueError
        As `pairwise_accuracy`, or if ``n_folds`` is below 2.

    Examples
    --------
    >>> scores, ratings = [[1, 2, 9], [3, 4, 8]], [[1, 1, 3], [2, 2, 4]]
    >>> cross_validated_tie_accuracy(scores, ratings, rng=np.random.default_rng(1))
    1.0
    """
    if n_folds < 2:
        raise ValueError(f"n_folds is {n_folds}: at least 2 are needed")
    return _held_out(_item_pairs(metric, human), rng, n_folds, groups)


def pair_accuracies(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    rng: np.random.Generator | None,
    n_folds: int = 10,
    groups: ArrayLike | None = None,
) -> PairAccuracies:
    """Return all three accuracies at once: the pairs, of which there may be a million, are formed and sorted once.

    Parameters
    ----------
    metric, human, n_folds, groups
        As in `cross_validated_tie_accuracy`.
    rng : numpy.random.Generator, optional
        Without one nothing is held out.

    Raises
    ------
    ValueError
        As `cross_validated_tie_accuracy`.

    Examples
    --------
    >>> found = pair_accuracies([[0, 2, 6, 8]], [[1, 1, 1, 4]], rng=None)
    >>> round(found.pairwise, 3), round(found.calibration.accuracy, 3), found.chance, found.held_out
    (0.5, 0.667, 0.5, nan)
    """
    if n_folds < 2:
        raise ValueError(f"n_folds is {n_folds}: at least 2 are needed")
    pairs = _item_pairs(metric, human)
    held_out = math.nan if rng is None else _held_out(pairs, rng, n_folds, groups)
    if not pairs.total:
        return PairAccuracies(math.nan, _calibrated(pairs), math.nan, math.nan)
    tied = int(pairs.weight[pairs.human == 0].sum()) / pairs.total
    return PairAccuracies(pairs.right / pairs.total, _calibrated(pairs), held_out, max(tied, (1 - tied) / 2))


def _calibrated(pairs: _ItemPairs) -> TieCalibration:
    if not pairs.total:
        return TieCalibration(math.nan, math.nan, NO_PAIR)
    gain, epsilon = _best_epsilon(pairs.moving, None)
    return TieCalibration((pairs.right + gain) / pairs.total, epsilon)


def _held_out(pairs: _ItemPairs, rng: np.random.Generator, n_folds: int, groups: ArrayLike | None) -> float:
    group = pairs.item if groups is None else np.asarray(groups, dtype=np.int64)[pairs.item]
    items = np.flatnonzero(np.bincount(group))
    if items.size < 2:
        return math.nan
    folds = np.zeros(int(items[-1]) + 1, dtype=np.int64)
    folds[rng.permutation(items)] = np.arange(items.size) % n_folds
    moving, right = pairs.moving, pairs.right
    fold = folds[group[moving.pair]]
    for held_out in range(min(n_folds, items.size)):
        is_held_out = fold == held_out
        _, epsilon = _best_epsilon(moving, ~is_held_out)
        right += int(moving.gain[is_held_out & (moving.size <= epsilon)].sum())
    return right / pairs.total


def _best_epsilon(moving: _Moving, counted: Bools | None) -> tuple[int, float]:
    """Return what the best epsilon gains over 0 on these pairs, and the smallest such epsilon."""
    size = moving.size
    gained = np.cumsum(moving.gain if counted is None else np.where(counted, moving.gain, 0))
    last = np.append(size[1:] != size[:-1], True)[: size.size]  # pairs of one difference are tied together
    size, gained = size[last], gained[last]
    best = int(np.argmax(gained)) if size.size else 0
    return (int(gained[best]), float(size[best])) if size.size and gained[best] > 0 else (0, 0.0)


def soft_pairwise_accuracy(
    metric: ArrayLike, human: ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000
) -> float:
    """Return how near the metric's certainty about each pair of systems is to the raters' certainty.

    For each pair of systems a one-sided paired permutation test over items asks whether the first is better than the
    second, once by the scores and once by the ratings; the mean of 1 - |p_ratings - p_scores| over pairs is returned.

    Parameters
    ----------
    metric, human : arrays of shape (systems, items)
        Scores and ratings of outputs, high ones the better, in any unit; NaN where there is none. A pair is compared
        on the items where both systems have both.
    rng : numpy.random.Generator
    n_resamples : int
        Random permutations, at least 1; the same for scores and ratings, and for all pairs.

    Returns
    -------
    float
        In [0, 1]; NaN if no two systems share an item.

    Raises
    ------
    ValueError
        If the shapes differ or are not (systems, items), a value is infinite, or ``n_resamples`` is below 1.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah, "Improving statistical significance in human evaluation of automatic
    metrics via soft pairwise accuracy", WMT 2024: SPA = mean over i < j of 1 - |p_ij^h - p_ij^m|.

    Examples
    --------
    >>> human = np.array([[3, 4, 5, 4, 3], [2, 4, 4, 3, 3], [1, 2, 2, 3, 1]])
    >>> soft_pairwise_accuracy(human / 10, human, rng=np.random.default_rng(1), n_resamples=100)
    1.0
    """
    if n_resamples < 1:
        raise ValueError(f"n_resamples is {n_resamples}: at least 1 is needed")
    scores, ratings = _checked(metric, human, "(systems, items)")
    missing = np.isnan(scores) | np.isnan(ratings)
    first, second = np.triu_indices(len(scores), 1)
    shared = ~(missing[first] | missing[second])
    compared = shared.any(axis=1)
    if not compared.any():
        return math.nan
    first, second, shared = first[compared], second[compared], shared[compared]
    sides = [np.where(shared, side[first] - side[second], 0.0) for side in (scores, ratings)]
    # Sums that are equal but for rounding are equal: ties count as at least as large.
    observed = [side.sum(axis=1) - 1e-12 * np.abs(side).sum(axis=1) for side in sides]
    counts = np.zeros((2, len(first)), dtype=np.int64)
    block = max(1, _RESAMPLE_BYTES // (8 * (scores.shape[1] + len(first))))
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        signs = 2.0 * rng.integers(0, 2, (size, scores.shape[1])) - 1
        counts += [(signs @ side.T >= threshold).sum(axis=0) for side, threshold in zip(sides, observed, strict=True)]
    p_metric, p_human = counts / n_resamples
    return float(1 - np.abs(p_human - p_metric).mean())


def _item_pairs(metric: ArrayLike, human: ArrayLike) -> _ItemPairs:
    scores, ratings = _checked(metric, human, "(items, systems)")
    first, second = np.triu_indices(scores.shape[1], 1)
    apart, rated_apart = (side.take(first, axis=1) - side.take(second, axis=1) for side in (scores, ratings))
    present = ~(np.isnan(apart) | np.isnan(rated_apart))
    per_item = present.sum(axis=1)
    items_of_size = np.bincount(per_item, minlength=1)
    sizes = np.flatnonzero(items_of_size[1:]) + 1
    n_items = int(items_of_size[1:].sum())
    multiple = math.lcm(*sizes.tolist())
    exact = np.int64 if multiple * n_items < 2**63 else object  # of Python's integers, without bound
    weights = np.zeros(int(sizes.max(initial=0)) + 1, dtype=exact)
    weights[sizes] = [multiple // size for size in sizes.tolist()]
    item = np.repeat(np.arange(per_item.size), per_item)
    return _ItemPairs(
        apart[present], rated_apart[present], weights[per_item].repeat(per_item), multiple * n_items, item
    )


def _checked(metric: ArrayLike, human: ArrayLike, axes: str) -> tuple[Floats, Floats]:
    scores, ratings = np.asarray(metric, dtype=np.float64), np.asarray(human, dtype=np.float64)
    for name, side in (("metric", scores), ("human", ratings)):
        if side.ndim != 2:
            raise ValueError(f"{name} has shape {side.shape}: {axes} is expected")
        infinite: Ints = np.argwhere(np.isinf(side))
        if infinite.size:
            row, column = infinite[0].tolist()
            raise ValueError(f"{name}[{row}, {column}] is {side[row, column]}: finite, or NaN if missing, is expected")
    if scores.shape != ratings.shape:
        raise ValueError(f"metric has shape {scores.shape} and human {ratings.shape}: they are of the same outputs")
    return scores, ratings
