"""The sampled-unit correlation study: metrics against human ratings over units of M segments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.coefficients.samples import PairedSamples, Sample
from correlations.stats.intervals import NOWHERE, Interval
from correlations.stats.ranks import Floats, Ints
from correlations.stats.units import Chunk, Places, RowGroup, StudyMetric, UnitDesign, UnitSampling

Progress = Callable[[int, int], None]
MIN_OBSERVATIONS = 3


@dataclass(frozen=True)
class CoefficientSummary:
    """One coefficient of one metric over the assignments of a study."""

    mean: float  # over the assignments where it is defined; in [-1, 1], or NaN
    assignment_spread: float  # standard deviation over assignments: not an uncertainty, they share their segments
    paper_interval: Interval  # 95%, of the coefficient itself, every observation counted, mirrored ones too
    n_defined: int  # assignments where the coefficient is defined
    reason: str | None  # why the mean is NaN
    values: Floats = field(repr=False)  # (n_assignments,)


@dataclass(frozen=True)
class ClampedCells:
    """How many (unit, system) cells were clamped, per assignment on average."""

    mean: float
    share: float  # of all such cells, in [0, 1]
    per_system: Floats  # (n_systems,): share of the system's own cells; NaN for a system in no pair


@dataclass(frozen=True)
class MetricResult:
    """One row of a study's table."""

    name: str
    coefficients: dict[str, CoefficientSummary]  # by key, those requested
    n_observations: int  # per assignment, mirrored ones counted; rounded mean where units drop out
    undefined_units: dict[str, float]  # reason to mean number of units per assignment left out
    n_valid_segments: int  # that count for any pair
    segments_per_pair: tuple[int, ...]
    units_per_pair: tuple[int, ...]
    clamped: ClampedCells | None  # None: the metric does not say


@dataclass(frozen=True)
class StudyResult:
    rows: tuple[MetricResult, ...]
    n_assignments: int  # computed: 1 for units of one segment
    segments_per_pair: tuple[int, ...]  # that count for any row
    units_per_pair: tuple[int, ...]  # of these segments

    def __getitem__(self, name: str) -> MetricResult:
        return {row.name: row for row in self.rows}[name]


@dataclass(frozen=True)
class Observations:
    """A row's observations in one assignment, each unit once."""

    pair: Ints  # (U,): index into the study's pairs
    human: Floats  # (U,): mean rating difference
    metric: Floats  # (U,)


def sampled_unit_correlation(
    metrics: Sequence[StudyMetric],
    human: ArrayLike,
    pairs: ArrayLike,
    sampling: UnitSampling,
    *,
    progress: Progress | None = None,
) -> StudyResult:
    """Correlate metrics with human ratings over randomly assigned units of segments.

    For each system pair (A, B) the shared segments, those on which both are rated, are shuffled; a row cuts those on
    which its metric is defined for both into units. A unit gives one observation (metric(A) - metric(B),
    mean rating(A) - mean rating(B)). The coefficient over the observations of all pairs is averaged over assignments.
    Every metric sees the segments in the same orders, so metrics that use the same segments have the same units.

    Parameters
    ----------
    metrics : sequence of StudyMetric
        The rows of the table; see ``StudyMetric`` for what counts in a row.
    human : array of shape (n_systems, S)
        Ratings in any unit; NaN for an output without a rating.
    pairs : integer array of shape (P, 2)
        Systems to compare; each unordered pair at most once.
    sampling : UnitSampling
    progress : callable, optional
        Called as ``progress(done, total)`` with assignments after each chunk. What it raises ends the study.

    Returns
    -------
    StudyResult
        One ``MetricResult`` for each metric. A coefficient is NaN, with the reason, over fewer than 3 units or
        constant input; units that are undefined for a metric are left out of its row and counted.

    Raises
    ------
    ValueError
        If shapes disagree, a name repeats, a statistic is not finite, or a pair shares no rated segment; the message
        says which.

    References
    ----------
    Galley et al., "deltaBLEU: a discriminative metric for generation tasks with intrinsically diverse targets",
    ACL 2015, section 5 and Table 2.

    Examples
    --------
    >>> rng = np.random.default_rng(7)
    >>> quality = rng.normal(size=(3, 400)) + np.array([[0.0], [0.3], [0.6]])
    >>> noisy = quality + rng.normal(size=quality.shape)
    >>> counted = np.stack([noisy, np.ones_like(noisy)], axis=2)
    >>> metric = StudyMetric("mean score", counted, lambda sums: sums[..., 0] / sums[..., 1])
    >>> sampling = UnitSampling(unit_size=50, n_assignments=20, seed=1)
    >>> study = sampled_unit_correlation([metric], quality, [(0, 1), (0, 2), (1, 2)], sampling)
    >>> study["mean score"].n_observations
    48
    >>> 0.8 < study["mean score"].coefficients["spearman"].mean < 1
    True
    """
    design = UnitDesign(metrics, human, pairs, sampling)
    total = 1 if sampling.unit_size == 1 else sampling.n_assignments
    keys_rng, sign_rng = np.random.default_rng(sampling.seed).spawn(2)
    tallies = [_Tally(design, group, sampling, total, deepcopy(sign_rng)) for group in design.groups]
    step = design.chunk_size()
    for start in range(0, total, step):
        size = min(step, total - start)
        orders = _shuffled(design, keys_rng, size)
        for tally in tallies:
            tally.add(slice(start, start + size), design.sums(tally.group, orders))
        if progress is not None:
            progress(start + size, total)
    rows = {index: tally.row(row) for tally in tallies for row, index in enumerate(tally.group.members)}
    return StudyResult(
        rows=tuple(rows[index] for index in range(len(metrics))),
        n_assignments=total,
        segments_per_pair=design.segments_per_pair,
        units_per_pair=design.units_per_pair,
    )


def _shuffled(design: UnitDesign, rng: np.random.Generator, n_assignments: int) -> list[Places]:
    return design.shuffled(rng.integers(0, 2**64, size=(n_assignments, design.pool_total), dtype=np.uint64))


def unit_observations(
    metrics: Sequence[StudyMetric], human: ArrayLike, pairs: ArrayLike, sampling: UnitSampling
) -> tuple[Observations, ...]:
    """Return each row's observations in one assignment, for a scatter plot or a paired test of two metrics.

    Parameters and errors are those of ``sampled_unit_correlation``; the assignment is the first of that study, in the
    orientation of the pairs as given.

    Examples
    --------
    >>> statistics = np.arange(12.0).reshape(2, 6, 1)
    >>> metric = StudyMetric("sum", statistics, lambda sums: sums[..., 0])
    >>> first, = unit_observations([metric], [[1] * 6, [3] * 6], [(0, 1)], UnitSampling(unit_size=2, seed=1))
    >>> first.pair.tolist(), first.human.tolist(), first.metric.tolist()
    ([0, 0, 0], [-2.0, -2.0, -2.0], [-12.0, -12.0, -12.0])
    """
    design = UnitDesign(metrics, human, pairs, sampling)
    keys_rng, _ = np.random.default_rng(sampling.seed).spawn(2)
    orders = _shuffled(design, keys_rng, 1)
    rows: dict[int, Observations] = {}
    for group in design.groups:
        chunk = design.sums(group, orders)
        pair = np.repeat(np.arange(len(design.pairs)), group.units_per_pair)
        for row, index in enumerate(group.members):
            rows[index] = Observations(pair, chunk.human[0], chunk.differences(row)[0])
    return tuple(rows[index] for index in range(len(metrics)))


def chunk_coefficients(metric: Floats, human: Floats, human_side: Sample, keys: Sequence[str]) -> list[Floats]:
    """Return each of these coefficients by assignment, shape (assignments,), leaving out units with NaN.

    ``human_side`` is the prepared sample of ``human``: every metric shares it.
    """
    mirrored = human_side.mirrored
    missing = np.isnan(metric) | np.isnan(human)
    if not missing.any() and metric.shape[1] >= MIN_OBSERVATIONS:
        samples = PairedSamples(Sample(metric, mirrored), human_side)
        return [COEFFICIENTS[key].formula(samples) for key in keys]
    results = [np.full(len(metric), np.nan) for _ in keys]
    present = (~missing).sum(axis=1)
    for count in np.unique(present[present >= MIN_OBSERVATIONS]):
        rows = np.flatnonzero(present == count)
        where = ~missing[rows]
        first, second = metric[rows][where].reshape(-1, count), human[rows][where].reshape(-1, count)
        samples = PairedSamples(Sample(first, mirrored), Sample(second, mirrored))
        for key, result in zip(keys, results, strict=True):
            result[rows] = COEFFICIENTS[key].formula(samples)
    return results


class _Tally:
    """Sums over the chunks of a study, for the rows of one group."""

    def __init__(
        self, design: UnitDesign, group: RowGroup, sampling: UnitSampling, total: int, signs: np.random.Generator
    ) -> None:
        self.design, self.group, self.total = design, group, total
        self.keys, self.mirrored = tuple(sampling.coefficients), sampling.mirrored
        self.signs = signs if sampling.orientation == "random" else None
        n_rows = len(group.members)
        self.values = np.full((n_rows, len(self.keys), total), np.nan)
        self.undefined_units = np.zeros(n_rows)
        self.few = np.zeros(n_rows, dtype=np.int64)  # assignments with too few observations
        self.constant_human = np.zeros(n_rows, dtype=np.int64)
        self.infinite = np.zeros(n_rows, dtype=bool)
        self.clamped = np.zeros((n_rows, group.n_units, 2), dtype=np.int64)  # over assignments; first, second system
        self.unit_pairs = np.repeat(design.pairs, group.units_per_pair, axis=0)  # (U, 2): systems of each unit

    def add(self, where: slice, chunk: Chunk) -> None:
        human, signs = chunk.human, None
        if self.signs is not None:
            signs = self.signs.choice([-1.0, 1.0], size=human.shape)
            human = human * signs
        side = Sample(human, self.mirrored)
        for row, metric in enumerate(self.group.metrics):
            sums = chunk.sums(row)
            difference = chunk.differences(row, sums)
            if signs is not None:
                difference = difference * signs
            undefined = np.isnan(difference)
            self.undefined_units[row] += undefined.sum()
            few = (~undefined).sum(axis=1) < MIN_OBSERVATIONS
            self.few[row] += few.sum()
            self.infinite[row] |= bool(np.isinf(difference).any())
            results = chunk_coefficients(difference, human, side, self.keys)
            for index, result in enumerate(results):
                self.values[row, index, where] = np.where(few, np.nan, result)
            if np.isnan(results[0]).any():
                self.constant_human[row] += (~few & _constant(human, self.mirrored)).sum()
            if metric.clamped is not None:
                self.clamped[row] += metric.clamped(sums).sum(axis=0)

    def _n_units(self, row: int) -> float:
        """Return how many units of an assignment are defined for a row, on average."""
        return float(self.group.n_units - self.undefined_units[row] / self.total)

    def row(self, row: int) -> MetricResult:
        n_observations = round(self._n_units(row) * (2 if self.mirrored else 1))
        undefined = float(self.undefined_units[row] / self.total)
        return MetricResult(
            name=self.group.metrics[row].name,
            coefficients={key: self._summary(row, c, n_observations) for c, key in enumerate(self.keys)},
            n_observations=n_observations,
            undefined_units={"metric undefined on the unit": undefined} if undefined else {},
            n_valid_segments=self.group.segments.size,
            segments_per_pair=self.group.segments_per_pair,
            units_per_pair=self.group.units_per_pair,
            clamped=self._clamped_cells(row),
        )

    def _summary(self, index: int, c: int, n_observations: int) -> CoefficientSummary:
        values = self.values[index, c]
        defined, entry = values[~np.isnan(values)], COEFFICIENTS[self.keys[c]]
        if defined.size == 0:
            return CoefficientSummary(math.nan, math.nan, NOWHERE, 0, self._reason(index, entry.undefined), values)
        mean = float(defined.mean())
        spread = float(defined.std(ddof=1)) if defined.size > 1 else math.nan
        interval = NOWHERE if entry.interval is None else entry.interval(mean, n_observations)
        return CoefficientSummary(mean, spread, interval, defined.size, None, values)

    def _reason(self, index: int, undefined: str) -> str:
        if self.few[index] == self.total:
            return f"{self._n_units(index):g} units: at least {MIN_OBSERVATIONS} observations are needed"
        if self.constant_human[index] == self.total:
            return "the human rating differences are constant"
        if self.infinite[index] and undefined:
            return undefined
        return "the metric's differences are constant"

    def _clamped_cells(self, row: int) -> ClampedCells | None:
        if self.group.metrics[row].clamped is None:
            return None
        n_systems = self.design.human.shape[0]
        systems = self.unit_pairs.ravel()
        clamped = np.bincount(systems, self.clamped[row].ravel(), minlength=n_systems)
        cells = np.bincount(systems, minlength=n_systems) * self.total
        per_system = np.full(n_systems, np.nan)
        np.divide(clamped, cells, out=per_system, where=cells > 0)
        share = float(clamped.sum() / cells.sum()) if cells.sum() else math.nan
        return ClampedCells(float(clamped.sum() / self.total), share, per_system)


def _constant(values: Floats, mirrored: bool) -> NDArray[np.bool_]:
    """Return the rows whose defined values are all alike (mirrored: all zero)."""
    present = ~np.isnan(values)
    anchor = np.zeros((len(values), 1))
    if not mirrored and values.shape[1]:
        first = np.argmax(present, axis=1)[:, None]
        anchor = np.take_along_axis(values, first, axis=1)
    return np.asarray((~present | (values == anchor)).all(axis=1))
