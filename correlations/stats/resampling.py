"""Bootstrap intervals of a sampled-unit study, over its items and its raters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from correlations.stats.coefficients.samples import Sample
from correlations.stats.intervals import LEVELS, NOWHERE, Interval
from correlations.stats.ranks import Floats, Ints
from correlations.stats.sampled_units import Progress, chunk_coefficients
from correlations.stats.units import Places, RowGroup, StudyMetric, UnitDesign, UnitSampling, shuffle

SHARD = 250  # replicates; another number gives other ones


@dataclass(frozen=True)
class BootstrapSummary:
    """A bootstrap interval and the replicates behind it."""

    interval: Interval  # 95%
    standard_error: float  # standard deviation of the replicates
    n_defined: int  # replicates where the statistic is defined
    reason: str | None  # why the interval is NaN
    values: Floats = field(repr=False)  # (replicates,)


def replicates_interval(values: Floats) -> BootstrapSummary:
    """Return the 95% percentile interval of replicates (B,); NaN is an undefined replicate.

    Examples
    --------
    >>> interval = replicates_interval(np.arange(101.0)).interval
    >>> round(interval.low, 9), round(interval.high, 9)
    (2.5, 97.5)
    """
    defined = values[~np.isnan(values)]
    if 2 * defined.size < values.size or defined.size < 2:
        reason = f"defined in {defined.size} of {values.size} replicates: at least half are needed"
        return BootstrapSummary(NOWHERE, math.nan, defined.size, reason, values)
    spread = float(defined.std(ddof=1))
    low, high = np.quantile(defined, LEVELS)
    return BootstrapSummary(Interval(float(low), float(high)), spread, defined.size, None, values)


@dataclass(frozen=True)
class RaterRatings:
    """Single ratings behind the human means: aligned arrays of shape (n_ratings,)."""

    rater: Ints  # any integers; equal ones are one rater
    system: Ints
    segment: Ints
    value: Floats

    def replicates(self, rng: np.random.Generator, size: int, shape: tuple[int, int]) -> Floats:
        """Return mean ratings for ``size`` draws of raters with replacement: (size, *shape); NaN if none was drawn."""
        names, rater = np.unique(self.rater, return_inverse=True)
        cell = np.ravel_multi_index((self.system, self.segment), shape)
        means = np.empty((size, shape[0] * shape[1]))
        for replicate in means:
            weight = np.bincount(rng.integers(0, names.size, names.size), minlength=names.size)[rater]
            total = np.bincount(cell, weight * self.value, minlength=replicate.size)
            count = np.bincount(cell, weight, minlength=replicate.size)
            replicate[:] = np.nan
            np.divide(total, count, out=replicate, where=count > 0)
        return means.reshape(size, *shape)


@dataclass(frozen=True)
class RowBootstrap:
    """One row's bootstrap, by the keys of the coefficients requested."""

    name: str
    summaries: dict[str, BootstrapSummary]
    replicates: dict[str, Floats] = field(repr=False)  # (n_replicates, J), spread over assignments included


def study_bootstrap(
    metrics: Sequence[StudyMetric],
    human: ArrayLike,
    pairs: ArrayLike,
    sampling: UnitSampling,
    *,
    raters: RaterRatings | None = None,
    n_replicates: int = 500,
    assignments_per_replicate: int = 4,
    progress: Progress | None = None,
) -> tuple[RowBootstrap, ...]:
    """Compute honest intervals of a sampled-unit study: resample whole items, and, if given, whole raters.

    A replicate draws as many of the items that count as there are, with replacement, the same for every pair and for
    every metric that uses the same items; shuffles and cuts them per pair; and computes each coefficient over its
    observations. Mirrored observations, and pairs that share an item, come and go together, so none is taken for new
    evidence, as the Fisher interval takes them.

    Parameters
    ----------
    metrics, human, pairs, sampling, progress
        As in ``sampled_unit_correlation``; the orientation is "both" or "fixed".
    raters : RaterRatings, optional
        Draw raters with replacement, too, and take the human means from their ratings. A segment whose raters were all
        left out is not shared in that replicate. Means over fewer distinct raters are noisier, so the replicates
        lean towards 0.
    n_replicates : int
        At least 2.
    assignments_per_replicate : int
        J assignments for each replicate. A study averages over many assignments, so their spread is no part of its
        uncertainty, yet it is most of the spread of a replicate that has only a few. With J >= 2 it is estimated
        within the replicates and taken out: replicates are drawn towards their mean until their variance is the one
        between replicates, as in a one-way analysis of variance. J = 1 leaves it in: an interval that is too wide.

    Returns
    -------
    tuple of RowBootstrap
        95% percentile intervals, in the order of ``metrics``; NaN, with the reason, if fewer than half of the
        replicates are defined.

    Raises
    ------
    ValueError
        As ``sampled_unit_correlation``, and where a single rating lies outside the table.

    Examples
    --------
    >>> rng = np.random.default_rng(7)
    >>> quality = rng.normal(size=(3, 400)) + np.array([[0.0], [0.3], [0.6]])
    >>> noisy = quality + rng.normal(size=quality.shape)
    >>> metric = StudyMetric("total", noisy[..., None], lambda sums: sums[..., 0])
    >>> sampling = UnitSampling(unit_size=50, seed=1)
    >>> row, = study_bootstrap([metric], quality, [(0, 1), (0, 2)], sampling, n_replicates=50)
    >>> 0.5 < row.summaries["spearman"].interval.low < row.summaries["spearman"].interval.high < 1
    True
    """
    if sampling.orientation == "random":
        raise ValueError("orientation is 'random': accepted are both and fixed")
    if n_replicates < 2 or assignments_per_replicate < 1:
        raise ValueError(
            f"n_replicates is {n_replicates} and assignments_per_replicate {assignments_per_replicate}: "
            "at least 2 and 1 are needed"
        )
    shards = BootstrapShards(metrics, human, pairs, sampling, raters, assignments_per_replicate)
    drawn, done = [], 0
    for number, size in enumerate(bootstrap_sizes(n_replicates)):
        before = done

        def report(shard_done: int, before: int = before) -> None:
            if progress is not None:
                progress(before + shard_done, n_replicates)

        drawn.append(shards.draw(number, size, report))
        done += size
    return joined_bootstrap([metric.name for metric in metrics], sampling.coefficients, drawn)


def bootstrap_sizes(n_replicates: int) -> list[int]:
    """Return how many replicates each shard has.

    >>> bootstrap_sizes(600)
    [250, 250, 100]
    """
    return [min(SHARD, n_replicates - begin) for begin in range(0, n_replicates, SHARD)]


class BootstrapShards:
    """The replicates of `study_bootstrap`, whose arguments these are, in shards that can be drawn in any order.

    The random numbers of the n-th shard are those of the n-th three children of the study's seed, so that joined shards
    depend on the seed alone.
    """

    def __init__(
        self,
        metrics: Sequence[StudyMetric],
        human: ArrayLike,
        pairs: ArrayLike,
        sampling: UnitSampling,
        raters: RaterRatings | None = None,
        assignments_per_replicate: int = 4,
    ) -> None:
        self.design = UnitDesign(metrics, human, pairs, sampling)
        _check_raters(raters, self.design.human.shape)
        self.raters, self.assignments, self.sampling = raters, assignments_per_replicate, sampling
        self._children: list[np.random.Generator] = []
        self._root = np.random.default_rng(sampling.seed)

    def draw(self, number: int, size: int, report: Callable[[int], None] | None = None) -> Floats:
        """Return the coefficients (rows, coefficients, ``size``, J) of a shard, numbered from 0.

        ``report`` takes how many of its replicates are done.
        """
        draws, chunks = _Draws(self.design, self.raters, self.assignments, self.sampling, self._rngs(number)), []
        step = max(1, self.design.chunk_size() // self.assignments)
        for start in range(0, size, step):
            chunks.append(draws.coefficients(min(step, size - start)))
            if report is not None:
                report(min(start + step, size))
        return np.concatenate(chunks, axis=2)

    def _rngs(self, number: int) -> list[np.random.Generator]:
        missing = 3 * (number + 1) - len(self._children)
        if missing > 0:
            self._children += self._root.spawn(missing)
        return [deepcopy(rng) for rng in self._children[3 * number : 3 * number + 3]]


def joined_bootstrap(names: Sequence[str], keys: Sequence[str], shards: Sequence[Floats]) -> tuple[RowBootstrap, ...]:
    """Return each row's bootstrap from shards, in the order of their numbers."""
    return tuple(
        row_bootstrap(name, dict(zip(keys, of_row, strict=True)))
        for name, of_row in zip(names, np.concatenate(shards, axis=2), strict=True)
    )


def row_bootstrap(name: str, replicates: dict[str, Floats]) -> RowBootstrap:
    """Summarise a row's replicates (B, J) of each coefficient."""
    summaries = {key: replicates_interval(between_replicates(each)) for key, each in replicates.items()}
    return RowBootstrap(name, summaries, replicates)


class _Draws:
    """Draws the replicates of a shard, one chunk after the other."""

    def __init__(
        self,
        design: UnitDesign,
        raters: RaterRatings | None,
        assignments: int,
        sampling: UnitSampling,
        rngs: Sequence[np.random.Generator],
    ) -> None:
        self.design, self.raters, self.assignments, self.sampling = design, raters, assignments, sampling
        item_rng, self.key_rng, self.rater_rng = rngs
        # Each group draws its own segments, from a generator in the same state: its draws do not depend on others.
        self.item_rngs = [(group, deepcopy(item_rng)) for group in design.groups if group.segments.size]

    def coefficients(self, size: int) -> Floats:
        """Return the coefficients (rows, coefficients, ``size``, J) of the next replicates."""
        values = np.full((self.design.n_rows, len(self.sampling.coefficients), size, self.assignments), np.nan)
        shuffled = shuffled_places(self.design, self.key_rng, size * self.assignments)
        means = None
        if self.raters is not None:
            drawn = self.raters.replicates(self.rater_rng, size, self.design.human.shape)
            means = np.repeat(drawn, self.assignments, axis=0)
        for group, rng in self.item_rngs:
            n = group.segments.size
            # Half the bytes: a sparse array takes them as they are.
            items = group.segments.astype(np.int32).take(rng.integers(0, n, (size, n)))
            orders = replicate_orders(self.design, group, items, shuffled, means)
            chunk = self.design.ragged_sums(group, orders, means)
            side = Sample(chunk.human, self.sampling.mirrored)
            for row, index in enumerate(group.members):
                results = chunk_coefficients(chunk.differences(row), chunk.human, side, self.sampling.coefficients)
                for c, result in enumerate(results):
                    values[index, c] = result.reshape(size, -1)
        return values


@dataclass(frozen=True)
class BootstrapDifference:
    """The difference of two rows of a study, tested on the same resampled items."""

    interval: Interval  # 95%
    standard_error: float
    p_value: float  # two-sided, in [0, 1]
    reason: str | None  # why they are NaN


def bootstrap_difference(difference: float, first: ArrayLike, second: ArrayLike) -> BootstrapDifference:
    """Test the difference between two rows' coefficients, two-sided, by its bootstrap standard error.

    Items, not units, are what is resampled: units of different pairs share items, so labels swapped unit by unit, as in
    ``paired_permutation_test``, would take dependent units for independent ones.

    Parameters
    ----------
    difference : float
        The study's own first mean minus second mean, in [-2, 2].
    first, second : arrays of shape (n_replicates, J)
        ``RowBootstrap.replicates`` of one coefficient, of two rows of one ``study_bootstrap`` call: the n-th
        replicates of both are on the same items and assignments.

    Returns
    -------
    BootstrapDifference
        Standard normal interval, difference ± z SE, and p = 2 Φ(-|difference| / SE); NaN, with the reason, where the
        difference is NaN, fewer than half of the replicates are defined, or nothing varies.

    Raises
    ------
    ValueError
        If shapes differ or are not (n_replicates, J).

    References
    ----------
    Efron and Tibshirani, "An introduction to the bootstrap", 1993, sections 6.2 and 12.2.

    Examples
    --------
    >>> rng = np.random.default_rng(5)
    >>> shared, apart = rng.normal(scale=0.1, size=(500, 1)), rng.normal(scale=0.02, size=(500, 1))
    >>> noise = rng.normal(scale=0.01, size=(2, 500, 4))
    >>> result = bootstrap_difference(0.1, 0.6 + shared + apart + noise[0], 0.5 + shared + noise[1])
    >>> round(result.standard_error, 2), result.p_value < 0.001
    (0.02, True)
    """
    replicates = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if replicates[0].shape != replicates[1].shape or replicates[0].ndim != 2:
        raise ValueError(
            f"first and second have shapes {replicates[0].shape} and {replicates[1].shape}: both are (n_replicates, J)"
        )
    summary = replicates_interval(between_replicates(replicates[0] - replicates[1]))
    reason = summary.reason
    if math.isnan(difference):
        reason = "a coefficient is undefined"
    elif reason is None and not summary.standard_error > 0:
        reason = "the difference does not vary over replicates"
    if reason is not None:
        return BootstrapDifference(NOWHERE, math.nan, math.nan, reason)
    error = summary.standard_error
    reach = float(special.ndtri(LEVELS[1])) * error
    p_value = float(2 * special.ndtr(-abs(difference) / error))
    return BootstrapDifference(Interval(difference - reach, difference + reach), error, p_value, None)


def shuffled_places(design: UnitDesign, rng: np.random.Generator, size: int) -> list[Ints]:
    """Return ``size`` random orders of as many places as there are rated segments, (size, n), for each pair."""
    shape = size, len(design.pairs), design.rated_segments.size
    keys = rng.integers(0, 2**64, size=shape, dtype=np.uint64)
    return [shuffle(keys[:, p]) for p in range(len(design.pairs))]


def replicate_orders(
    design: UnitDesign, group: RowGroup, items: Places, shuffled: Sequence[Ints], means: Floats | None
) -> list[Places]:
    """Return each pair's resampled items in shuffled orders; -1 if the item does not count for the pair.

    Each replicate's ``items`` (B, n) are put in as many orders as ``shuffled`` has for it.
    """
    n = items.shape[1]
    orders: list[Places] = []
    for p, (a, b) in enumerate(design.pairs):
        places = shuffled[p]
        if n < places.shape[1]:
            places = places[places < n].reshape(len(places), n)
        begins = np.arange(len(places)) // (len(places) // len(items)) * n
        order = items.ravel().take(places + begins[:, None])
        if means is None and group.pools[p].size == n:  # every item counts
            orders.append(order)
            continue
        counts = np.zeros(design.n_segments, dtype=bool)
        counts[group.pools[p]] = True
        present = counts[order]
        if means is not None:
            rated = ~np.isnan(means[:, a]) & ~np.isnan(means[:, b])
            present &= np.take_along_axis(rated, order, axis=1)
        orders.append(np.where(present, order, -1))
    return orders


def between_replicates(values: Floats) -> Floats:
    """Take the spread over assignments out of replicates: (replicates, J) to (replicates,), NaN if any is undefined."""
    count = values.shape[1]
    means = values.mean(axis=1)
    defined = ~np.isnan(means)
    if count == 1 or defined.sum() < 2:
        return np.asarray(means)
    total = float(means[defined].var(ddof=1))
    within = float(values[defined].var(axis=1, ddof=1).mean()) / count
    shrinkage = math.sqrt(max(0.0, 1 - within / total)) if total > 0 else 1.0
    centre = means[defined].mean()
    return np.asarray(centre + (means - centre) * shrinkage)


def _check_raters(raters: RaterRatings | None, shape: tuple[int, int]) -> None:
    if raters is None:
        return
    lengths = {name: np.shape(getattr(raters, name)) for name in ("rater", "system", "segment", "value")}
    if len(set(lengths.values())) != 1 or len(lengths["value"]) != 1 or lengths["value"] == (0,):
        raise ValueError(f"raters have fields of shapes {lengths}: one length of at least 1 is expected")
    for name, limit in (("system", shape[0]), ("segment", shape[1])):
        numbers = getattr(raters, name)
        outside = np.flatnonzero((numbers < 0) | (numbers >= limit))
        if outside.size:
            raise ValueError(f"raters.{name}[{outside[0]}] is {numbers[outside[0]]}: numbered 0 to {limit - 1}")
    if not np.isfinite(raters.value).all():
        first = int(np.flatnonzero(~np.isfinite(raters.value))[0])
        raise ValueError(f"raters.value[{first}] is {raters.value[first]}: a rating is finite")
