"""The human ceiling: how far raters agree among themselves, by the coefficients that metrics are judged by."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.closeness import GivenRatings
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ranks import Bools, Floats, Ints
from correlations.stats.resampling import RaterRatings
from correlations.stats.sampled_units import MIN_OBSERVATIONS
from correlations.stats.units import UnitSampling, exact_scale

SPLITS = 50  # random halvings of the raters
ENOUGH_OUTPUTS = 30  # of a rater who is left out, for a coefficient of one's own
ONE_RATER = "one rater rated all outputs: there is no other to compare"
NO_OUTPUT = "no output has ratings of both halves"
NO_UNITS = f"the outputs that both halves rated make fewer than {MIN_OBSERVATIONS} units"
APART = "the halves of the raters do not agree"
CONSTANT = "the scores are constant"
NO_RATERS = f"no rater has {ENOUGH_OUTPUTS} scored outputs that another rater rated, with ratings that differ"
_OBSERVATIONS = 200_000  # of all halvings together, at most; many units say as much in fewer halvings
_FEWEST_SPLITS = 10
_VALUES_AT_ONCE = 1_000_000  # of raters and metrics that are correlated together
_EXACT = 10**9  # sums of ratings times a common denominator stay whole numbers


def stepped_up(r: float, first: float, second: float, whole: float) -> float:
    """Return how far two panels of ``whole`` raters agree, from how far ``first`` raters agree with ``second`` others.

    A mean of k raters is the truth and a k-th of one rater's noise. With x, one rater's noise over the spread of the
    truth, r^2 (1 + x / first) (1 + x / second) = 1 gives x, and 1 / (1 + x / whole) is the agreement sought. For
    halves of one size and the whole of both that is the Spearman-Brown formula 2 r / (1 + r) [1, 2]; for halves of
    unequal size, Horst's [3].

    Parameters
    ----------
    r : float
        Pearson's correlation of the two halves' means, in [-1, 1].
    first, second, whole : float
        Raters of each output, above 0: in the two halves and in the whole.

    Returns
    -------
    float
        In (0, 1]. NaN for r of 0 or below, where the halves share no truth, and for NaN.

    Raises
    ------
    ValueError
        If ``r`` lies outside [-1, 1] or a number of raters is not above 0.

    References
    ----------
    [1] Spearman, "Correlation calculated from faulty data", British Journal of Psychology 1910.
    [2] Brown, "Some experimental results in the correlation of mental abilities", the same volume.
    [3] Horst, "Estimating total test reliability from parts of unequal length", Educational and Psychological
        Measurement 1951.

    Examples
    --------
    >>> round(stepped_up(0.6, 2, 2, 4), 4), round(stepped_up(0.6, 1, 2, 3), 4)
    (0.75, 0.7674)
    """
    if min(first, second, whole) <= 0:
        raise ValueError(f"raters are {first}, {second} and {whole}: above 0 is expected")
    if math.isnan(r) or r <= 0:
        if not math.isnan(r) and r < -1:
            raise ValueError(f"r is {r!r}: a correlation lies in [-1, 1]")
        return math.nan
    if r > 1:
        raise ValueError(f"r is {r!r}: a correlation lies in [-1, 1]")
    a, b = 1 / first, 1 / second
    noise = (math.sqrt((a + b) ** 2 + 4 * a * b * (1 / r**2 - 1)) - (a + b)) / (2 * a * b)
    return 1 / (1 + noise / whole)


def attainable(ceiling: float, coefficient: Coefficient) -> float:
    """Return the most that a score which has not seen the ratings can be expected to agree with them.

    The ceiling is the reliability of the raters' means: the agreement of two such panels. A score that is free of their
    noise correlates with the means at most as the truth does, at the root of the reliability [1]. Rank coefficients go
    by Pearson's scale, as in ``split_halves``.

    References
    ----------
    [1] Spearman, "The proof and measurement of association between two things", American Journal of Psychology 1904.

    Examples
    --------
    >>> round(attainable(0.36, COEFFICIENTS["pearson"]), 3), round(attainable(0.36, COEFFICIENTS["spearman"]), 3)
    (0.6, 0.594)
    """
    return coefficient.from_pearson(math.sqrt(max(coefficient.to_pearson(ceiling), 0.0)))


@dataclass(frozen=True)
class SplitHalves:
    """How far random halves of the raters agree, over units of outputs, and what follows for all of them.

    Attributes
    ----------
    halves : dict by key of coefficient
        Mean over halvings, in [-1, 1]; NaN, with the reason, where undefined.
    ceiling : dict by key of coefficient
        What another panel, as large as this one, would reach; NaN, with the reason, where undefined.
    reasons : dict by key of coefficient
        Why there is no ceiling; empty strings where there is one.
    n_splits : int
        Halvings with a coefficient.
    raters_of_output, raters_of_half : float
        Harmonic means over outputs.
    """

    halves: dict[str, float]
    ceiling: dict[str, float]
    reasons: dict[str, str]
    n_splits: int
    raters_of_output: float
    raters_of_half: tuple[float, float]


def split_halves(
    ratings: RaterRatings,
    counted: Sequence[ArrayLike],
    pairs: ArrayLike,
    n_systems: int,
    sampling: UnitSampling,
    *,
    n_splits: int = SPLITS,
) -> tuple[SplitHalves, ...]:
    """Correlate the mean ratings of random halves of the raters over sampled units, as a study does with a metric.

    Raters, not ratings, are halved: one half knows nothing of the other's severity. Each halving takes the segments
    on which both outputs of a pair have ratings from both halves, shuffles them and cuts them into units. What all
    raters would reach follows from the mean coefficient (`stepped_up`). Rank coefficients are put on the scale of
    Pearson's before, and back after it, as under a bivariate normal distribution (`Coefficient.to_pearson`).

    Parameters
    ----------
    ratings : RaterRatings
        Single ratings of outputs, in points.
    counted : sequence of G bool arrays of shape (P, S)
        Which segments count for each pair, for one row or several that count the same.
    pairs : integer array of shape (P, 2)
    n_systems : int
    sampling : UnitSampling
        Unit size, remainder, orientation ("random" is read as "both") and coefficients; its number of assignments is
        not used.
    n_splits : int
        Halvings, at least 1; fewer, but no fewer than 10, where they have more than 200,000 units together.

    Returns
    -------
    tuple of G SplitHalves

    Raises
    ------
    ValueError
        If shapes differ, or ``n_splits`` is below 1.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rater, system, segment = (index.ravel() for index in np.indices((4, 2, 400)))
    >>> quality = rng.normal(size=(2, 400))
    >>> ratings = RaterRatings(rater, system, segment, quality[system, segment] + rng.normal(size=rater.size))
    >>> sampling = UnitSampling(seed=1, unit_size=1, coefficients=("pearson",))
    >>> one, = split_halves(ratings, [np.ones((1, 400), bool)], [(0, 1)], 2, sampling)
    >>> round(one.halves["pearson"], 2), round(one.ceiling["pearson"], 2)  # 2 / 3 and 4 / 5 of endless segments
    (0.63, 0.78)
    """
    if n_splits < 1:
        raise ValueError(f"n_splits is {n_splits}: at least 1 is needed")
    systems = np.asarray(pairs, dtype=np.int64)
    masks, n_segments = _checked_masks(counted, len(systems))
    panel = _Panel(ratings, n_systems, n_segments)
    tallies = [_Tally(mask, systems, panel, sampling) for mask in masks]
    halving, shuffling = np.random.default_rng(sampling.seed).spawn(2)
    most = max((mask.sum() // sampling.unit_size for mask in masks), default=0)
    for _ in range(min(n_splits, max(_FEWEST_SPLITS, _OBSERVATIONS // max(int(most), 1)))):
        if panel.n_raters < 2:
            break
        (first, second), both, (few, many) = panel.halved(halving)
        # Flat places of each pair's segments in their order, which all choices of segments share.
        order = np.argsort(shuffling.random((len(systems), n_segments)), axis=1)
        order += np.arange(len(systems))[:, None] * n_segments
        differences = [(half[systems[:, 0]] - half[systems[:, 1]]).ravel()[order] for half in (first, second)]
        for tally in tallies:
            tally.add(differences, both, order, (few, many))
    return tuple(tally.result() for tally in tallies)


def _checked_masks(counted: Sequence[ArrayLike], n_pairs: int) -> tuple[list[Bools], int]:
    """Return the choices of segments, (pairs, segments) each, and how many segments there are."""
    masks = [np.asarray(mask, dtype=np.bool_) for mask in counted]
    n_segments = masks[0].shape[-1] if masks else 0
    for index, mask in enumerate(masks):
        if mask.shape != (n_pairs, n_segments):
            raise ValueError(f"counted[{index}] has shape {mask.shape}: {(n_pairs, n_segments)} is expected")
    return masks, n_segments


class _Panel:
    """The raters, and mean ratings by any part of them as whole numbers: times ``scale``."""

    def __init__(self, ratings: RaterRatings, n_systems: int, n_segments: int) -> None:
        self.names, self.rater = np.unique(ratings.rater, return_inverse=True)
        self.n_raters, self.shape = self.names.size, (n_systems, n_segments)
        self.cell = np.ravel_multi_index((ratings.system, ratings.segment), self.shape)
        self.value = np.asarray(ratings.value, dtype=np.float64)
        self.count = np.bincount(self.cell, minlength=n_systems * n_segments).reshape(self.shape)
        of_values, most = exact_scale(self.value[None, :]), int(self.count.max(initial=1))
        whole = None if of_values is None else of_values * math.lcm(*range(1, min(most, 40) + 1))
        self.scale = whole if whole is not None and most <= 40 and whole < _EXACT else None

    def halved(self, rng: np.random.Generator) -> tuple[tuple[Floats, Floats], Bools, tuple[Ints, Ints]]:
        """Return both halves' means (T, S), 0 without a rating, where both have one, and their numbers of ratings."""
        in_first = np.isin(np.arange(self.n_raters), rng.permutation(self.n_raters)[: self.n_raters // 2])[self.rater]
        total = np.bincount(self.cell, self.value, self.count.size).reshape(self.shape)
        of_first = np.bincount(self.cell[in_first], self.value[in_first], self.count.size).reshape(self.shape)
        n_first = np.bincount(self.cell[in_first], minlength=self.count.size).reshape(self.shape)
        numbers = n_first, self.count - n_first
        means = [
            np.divide(of, n, out=np.zeros(self.shape), where=n > 0)
            for of, n in zip((of_first, total - of_first), numbers, strict=True)
        ]
        first, second = means if self.scale is None else [np.round(mean * self.scale) for mean in means]
        return (first, second), np.asarray((numbers[0] > 0) & (numbers[1] > 0)), numbers


class _Tally:
    """One choice of segments over the halvings."""

    def __init__(self, counted: Bools, pairs: Ints, panel: _Panel, sampling: UnitSampling) -> None:
        self.counted, self.pairs, self.panel, self.sampling = counted, pairs, panel, sampling
        self.outputs = np.zeros(panel.shape, dtype=np.bool_)
        for side in (0, 1):
            np.logical_or.at(self.outputs, pairs[:, side], counted)
        self.outputs &= panel.count > 0
        self.halvings: dict[int, list[tuple[Floats, Floats]]] = {}  # both halves' units, by their number
        self.shares: list[tuple[float, float]] = []  # of an output's two halves: the mean of 1 / raters
        self.units = 0

    def add(self, differences: Sequence[Floats], both: Bools, order: Ints, numbers: tuple[Ints, Ints]) -> None:
        rated = self.counted & both[self.pairs[:, 0]] & both[self.pairs[:, 1]]
        outputs = self.outputs & both
        if outputs.any():
            self.shares.append((float((1 / numbers[0][outputs]).mean()), float((1 / numbers[1][outputs]).mean())))
        first, second = self._units(differences, rated.ravel()[order])
        self.units = max(self.units, first.size)
        if first.size >= MIN_OBSERVATIONS:
            self.halvings.setdefault(first.size, []).append((first, second))

    def _values(self, key: str) -> Floats:
        """Return the coefficient of each halving that has one; halvings with equally many units at once."""
        mirrored = self.sampling.orientation != "fixed"
        sides = ((np.stack(side) for side in zip(*halvings, strict=True)) for halvings in self.halvings.values())
        values = [COEFFICIENTS[key].batch(first, second, mirrored=mirrored) for first, second in sides]
        found = np.concatenate([np.empty(0), *values])
        return np.asarray(found[~np.isnan(found)], dtype=np.float64)

    def _units(self, differences: Sequence[Floats], present: Bools) -> tuple[Floats, Floats]:
        """Return each unit's mean difference of both halves; everything is in the order of the segments."""
        size = self.sampling.unit_size
        place = np.cumsum(present, axis=1) - 1
        if self.sampling.remainder == "drop":
            present = present & (place < present.sum(axis=1, keepdims=True) // size * size)
        widest = present.shape[1] // size + 1
        unit = (place // size + np.arange(len(present))[:, None] * widest)[present]
        n = np.bincount(unit)
        filled = n > 0
        scale = self.panel.scale or 1
        first, second = (np.bincount(unit, of[present])[filled] / (n[filled] * scale) for of in differences)
        return first, second

    def result(self) -> SplitHalves:
        keys = self.sampling.coefficients
        whole = 1 / float((1 / self.panel.count[self.outputs]).mean()) if self.outputs.any() else math.nan
        values = {key: self._values(key) for key in keys}
        halves = {key: float(of_key.mean()) if of_key.size else math.nan for key, of_key in values.items()}
        shares = np.mean(self.shares, axis=0) if self.shares else np.array([math.nan, math.nan])
        of_half = 1 / float(shares[0]), 1 / float(shares[1])
        ceiling, reasons = dict.fromkeys(keys, math.nan), dict.fromkeys(keys, "")
        for key, value in halves.items():
            if math.isnan(value):
                reasons[key] = self._reason()
                continue
            entry = COEFFICIENTS[key]
            up = stepped_up(min(entry.to_pearson(value), 1.0), *of_half, whole)
            ceiling[key] = up if math.isnan(up) else entry.from_pearson(up)
            reasons[key] = APART if math.isnan(up) else ""
        n_splits = max((of_key.size for of_key in values.values()), default=0)
        return SplitHalves(halves, ceiling, reasons, n_splits, whole, of_half)

    def _reason(self) -> str:
        if self.panel.n_raters < 2:
            return ONE_RATER
        if not self.shares:
            return NO_OUTPUT
        return NO_UNITS if self.units < MIN_OBSERVATIONS else "the ratings of a half are constant"


@dataclass(frozen=True)
class LeftOutRaters:
    """Raters left out one by one: how far each agrees with the others, and a metric in the rater's place.

    Attributes
    ----------
    rater, metric : dict by key of coefficient
        Means over the raters, in [-1, 1]; NaN, with the reason, where no rater counts.
    n_raters : dict by key of coefficient
        Raters with enough outputs and with both coefficients.
    reason : str
        Empty if a rater counts.
    """

    rater: dict[str, float]
    metric: dict[str, float]
    n_raters: dict[str, int]
    reason: str


def leave_one_rater_out(
    ratings: ArrayLike | GivenRatings, scores: ArrayLike, *, coefficients: Sequence[str], enough: int = ENOUGH_OUTPUTS
) -> tuple[LeftOutRaters, ...]:
    """Correlate each rater, and each metric in the rater's place, with the mean of the others over single outputs.

    Parameters
    ----------
    ratings : (R, N) float, or GivenRatings
        Of R >= 2 raters on N outputs, in points; NaN where a rater did not rate the output.
    scores : (M, N) float
        Of M metrics, high ones the better; NaN where there is none.
    coefficients : sequence of keys of ``COEFFICIENTS``
    enough : int
        Outputs that a rater needs, rated by another one and scored, to be left out; at least 3.

    Returns
    -------
    tuple of M LeftOutRaters
        A rater counts for a metric if both coefficients are defined: for a rater who gave one rating throughout there
        is none.

    Raises
    ------
    ValueError
        If the numbers of outputs differ, there are fewer than 2 raters, or ``enough`` is below 3.

    References
    ----------
    Lau, Newman and Baldwin, "Machine reading tea leaves", EACL 2014 (one annotator against the mean of the others).

    Examples
    --------
    >>> ratings = np.array([[1, 2, 3, 4, 5], [1, 3, 2, 4, 5], [2, 1, 3, 5, 4.0]])
    >>> one, = leave_one_rater_out(ratings, [[1, 2, 3, 4, 5.0]], coefficients=["pearson"], enough=3)
    >>> round(one.rater["pearson"], 3), round(one.metric["pearson"], 3), one.n_raters["pearson"]
    (0.82, 0.958, 3)
    """
    given, of_metrics = GivenRatings.of(ratings), np.asarray(scores, dtype=np.float64)
    if of_metrics.ndim != 2 or of_metrics.shape[1] != given.n_items:
        raise ValueError(f"scores has shape {of_metrics.shape}: (metrics, {given.n_items}) is expected")
    if enough < MIN_OBSERVATIONS:
        raise ValueError(f"enough is {enough}: at least {MIN_OBSERVATIONS} outputs are needed")
    found = agreement_by_rater(given, of_metrics, coefficients, enough)
    comparable = np.isfinite(found[0]).any(axis=(0, 2))  # so that only the scores are to blame
    found[:, np.isnan(found).any(axis=0)] = np.nan
    n_raters = (~np.isnan(found[0])).sum(axis=2)
    means = np.nansum(found, axis=3) / np.where(n_raters, n_raters, np.nan)
    return tuple(
        LeftOutRaters(
            rater=dict(zip(coefficients, means[0, :, row].tolist(), strict=True)),
            metric=dict(zip(coefficients, means[1, :, row].tolist(), strict=True)),
            n_raters=dict(zip(coefficients, n_raters[:, row].tolist(), strict=True)),
            reason="" if n_raters[:, row].any() else CONSTANT if comparable[row] else NO_RATERS,
        )
        for row in range(len(of_metrics))
    )


def agreement_by_rater(given: GivenRatings, of_metrics: Floats, coefficients: Sequence[str], enough: int) -> Floats:
    """Return the coefficients (2, coefficients, metrics, raters): first each rater's, then the metric's."""
    found = np.full((2, len(coefficients), len(of_metrics), given.n_raters), np.nan)
    masks, group = np.unique(np.isfinite(of_metrics), axis=0, return_inverse=True)
    for index, mask in enumerate(masks):
        rows = np.flatnonzero(group.ravel() == index)
        places = np.flatnonzero((given.n_others > 0) & mask[given.item])
        cases = Cases(given.rater[places], places, given.n_raters)
        found[:, :, rows] = agreement_by_case(given, of_metrics[rows], cases, coefficients, enough)
    return found


class Cases(NamedTuple):
    """Raters who are left out, each with some of the places where ``GivenRatings`` holds the ratings.

    ``case`` numbers the rater of each of ``place``, in ascending order; a rater may be several cases.
    """

    case: Ints
    place: Ints
    n_cases: int

    def of_equal_number(self, enough: int, at_once: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield cases with equally many places, and these (cases, n): what has one length is correlated together.

        Cases with fewer than ``enough`` are left out, and no more than ``at_once`` places come together.
        """
        counts = np.bincount(self.case, minlength=self.n_cases)
        starts = np.cumsum(counts) - counts
        for n in np.unique(counts[counts >= enough]).tolist():
            cases = np.flatnonzero(counts == n)
            step = max(1, at_once // n)
            for first in range(0, cases.size, step):
                some = cases[first : first + step]
                yield some, self.place[starts[some][:, None] + np.arange(n)]


def agreement_by_case(
    given: GivenRatings, scores: Floats, cases: Cases, coefficients: Sequence[str], enough: int
) -> Floats:
    """Return the coefficients (2, coefficients, metrics, cases), of metrics that score all outputs of these places."""
    found = np.full((2, len(coefficients), len(scores), cases.n_cases), np.nan)
    for some, places in cases.of_equal_number(enough, _VALUES_AT_ONCE // (len(scores) + 1)):
        outputs, own = given.item[places], given.value[places]
        others = (given.sum_of_item[outputs] - own) / given.n_others[places]
        sides = np.concatenate([own[:, None], scores[:, outputs].swapaxes(0, 1)], axis=1)
        for place, key in enumerate(coefficients):
            values = COEFFICIENTS[key].batch(sides, others[:, None])
            found[0, place, :, some], found[1, place, :, some] = values[:, :1], values[:, 1:]
    return found
