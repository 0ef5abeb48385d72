"""The sampled-unit correlation study: metrics against human ratings over units of M segments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.coefficients.samples import PairedSamples, Sample
from correlations.stats.intervals import NOWHERE, Interval, check_confidence
from correlations.stats.ranks import Floats, Ints
from correlations.stats.units import (
    Chunk,
    Remainder,
    StudyMetric,
    UnitDesign,
    checked_pairs,
    checked_ratings,
    pack_metrics,
)

Orientation = Literal["both", "fixed", "random"]
Progress = Callable[[int, int], None]
MIN_OBSERVATIONS = 3
USUAL = ("spearman", "kendall")


@dataclass(frozen=True)
class CoefficientSummary:
    """One coefficient of one metric over the assignments of a study."""

    mean: float  # over the assignments where it is defined; in [-1, 1], or NaN
    assignment_spread: float  # standard deviation over assignments: not an uncertainty, they share their segments
    paper_interval: Interval  # of the coefficient itself, every observation counted, mirrored ones too
    n_defined: int  # assignments where the coefficient is defined
    reason: str | None  # why the mean is NaN
    values: Floats = field(repr=False)  # (n_assignments,)


@dataclass(frozen=True)
class ClampedCells:
    """Return how many (unit, system) cells were clamped, per assignment on average."""

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
    n_valid_segments: int
    clamped: ClampedCells | None  # None: the metric does not say


@dataclass(frozen=True)
class StudyResult:
    rows: tuple[MetricResult, ...]
    n_assignments: int
    unit_size: int
    orientation: Orientation
    remainder: Remainder
    segments_per_pair: tuple[int, ...]
    units_per_pair: tuple[int, ...]

    def __getitem__(self, name: str) -> MetricResult:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)


@dataclass(frozen=True)
class Observations:
    """The observations of one assignment, each unit once."""

    pair: Ints  # (U,): index into the study's pairs
    human: Floats  # (rows, U): mean rating difference over the row's valid segments
    metric: Floats  # (rows, U)


def sampled_unit_correlation(
    metrics: Sequence[StudyMetric],
    human: ArrayLike,
    pairs: ArrayLike,
    *,
    seed: int | np.random.Generator,
    unit_size: int = 100,
    n_assignments: int = 1000,
    remainder: Remainder = "keep",
    orientation: Orientation = "both",
    coefficients: Sequence[str] = USUAL,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> StudyResult:
    """Correlate metrics with human ratings over randomly assigned units of segments.

    For each system pair (A, B) the shared segments, those on which both are rated, are shuffled and cut into units.
    A unit gives one observation (metric(A) - metric(B), mean rating(A) - mean rating(B)). The coefficient over the
    observations of all pairs is averaged over assignments; every metric sees the same assignments.

    Parameters
    ----------
    metrics : sequence of StudyMetric
        The rows of the table; see ``StudyMetric`` for what drops out of a row.
    human : array of shape (n_systems, S)
        Ratings in any unit; NaN where nobody rated that output.
    pairs : integer array of shape (P, 2)
        Systems to compare; each unordered pair at most once.
    seed : int or numpy.random.Generator
        A generator is advanced by the call. The result does not depend on how the work is divided.
    unit_size : int
        M >= 1 segments. At M = 1 all assignments are the same, and one is used.
    n_assignments : int
        K >= 1.
    remainder : {"keep", "drop"}
        What becomes of a pair's last, short unit.
    orientation : {"both", "fixed", "random"}
        "both" enters each observation with its mirror image (-m, -q), so the order of a pair's systems is without
        effect; "fixed" takes the pairs as given; "random" draws a sign for each unit, the same for every metric.
    coefficients : sequence of keys of ``COEFFICIENTS``
    confidence : float
        Level of the coefficients' own intervals, strictly between 0 and 1.
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
        If shapes disagree, a name repeats, a statistic is not finite, a pair shares no rated segment, or an option is
        unknown; the message says which.

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
    >>> study = sampled_unit_correlation(
    ...     [metric], quality, [(0, 1), (0, 2), (1, 2)], unit_size=50, n_assignments=20, seed=1
    ... )
    >>> study["mean score"].n_observations
    48
    >>> 0.8 < study["mean score"].coefficients["spearman"].mean < 1
    True
    """
    check_confidence(confidence)
    design = study_design(metrics, human, pairs, unit_size=unit_size, remainder=remainder)
    _check_options(n_assignments, orientation, coefficients)
    total = 1 if unit_size == 1 else n_assignments
    tally = _Tally(design, orientation, tuple(coefficients), total)
    keys_rng, sign_rng = np.random.default_rng(seed).spawn(2)
    step = design.chunk_size()
    for start in range(0, total, step):
        size = min(step, total - start)
        keys = keys_rng.integers(0, 2**64, size=(size, design.pool_total), dtype=np.uint64)
        signs = sign_rng.choice([-1.0, 1.0], size=(size, design.n_units)) if orientation == "random" else None
        tally.add(slice(start, start + size), design.sums(design.shuffled(keys)), signs)
        if progress is not None:
            progress(start + size, total)
    return StudyResult(
        rows=tuple(tally.row(index, confidence) for index in range(len(metrics))),
        n_assignments=total,
        unit_size=unit_size,
        orientation=orientation,
        remainder=remainder,
        segments_per_pair=tuple(pool.size for pool in design.pools),
        units_per_pair=tuple(design.units_per_pair),
    )


def unit_observations(
    metrics: Sequence[StudyMetric],
    human: ArrayLike,
    pairs: ArrayLike,
    *,
    seed: int | np.random.Generator,
    unit_size: int = 100,
    remainder: Remainder = "keep",
) -> Observations:
    """Return the observations of one assignment, for a scatter plot or a paired test of two metrics.

    Parameters and errors are those of ``sampled_unit_correlation``; with the same seed it is that study's first
    assignment, in the orientation of the pairs as given.

    Examples
    --------
    >>> statistics = np.arange(12.0).reshape(2, 6, 1)
    >>> metric = StudyMetric("sum", statistics, lambda sums: sums[..., 0])
    >>> seen = unit_observations([metric], [[1] * 6, [3] * 6], [(0, 1)], unit_size=2, seed=1)
    >>> seen.pair.tolist(), seen.human.tolist(), seen.metric.tolist()
    ([0, 0, 0], [[-2.0, -2.0, -2.0]], [[-12.0, -12.0, -12.0]])
    """
    design = study_design(metrics, human, pairs, unit_size=unit_size, remainder=remainder)
    keys_rng, _ = np.random.default_rng(seed).spawn(2)
    keys = keys_rng.integers(0, 2**64, size=(1, design.pool_total), dtype=np.uint64)
    chunk = design.sums(design.shuffled(keys))
    packed = design.packed
    return Observations(
        pair=np.repeat(np.arange(len(design.pairs)), design.units_per_pair),
        human=np.stack([chunk.human[0, :, mask] for mask in packed.row_mask]),
        metric=np.stack([chunk.differences(packed, row)[0] for row in range(len(metrics))]),
    )


def study_design(
    metrics: Sequence[StudyMetric], human: ArrayLike, pairs: ArrayLike, *, unit_size: int, remainder: Remainder
) -> UnitDesign:
    """Check a study's inputs and lay out its units."""
    ratings = checked_ratings(human)
    checked = checked_pairs(pairs, ratings.shape[0])
    packed = pack_metrics(metrics, *ratings.shape)
    return UnitDesign(packed, ratings, checked, unit_size=unit_size, remainder=remainder)


def _check_options(n_assignments: int, orientation: str, coefficients: Sequence[str]) -> None:
    if n_assignments < 1:
        raise ValueError(f"n_assignments is {n_assignments}: at least 1 is needed")
    if orientation not in ("both", "fixed", "random"):
        raise ValueError(f'orientation is {orientation!r}: accepted are "both", "fixed" and "random"')
    unknown = [name for name in coefficients if name not in COEFFICIENTS]
    if unknown or not coefficients:
        raise ValueError(f"coefficients are {list(coefficients)}: accepted are {', '.join(COEFFICIENTS)}")


def chunk_coefficients(metric: Floats, human: Floats, human_side: Sample, *, wanted: Sequence[str]) -> list[Floats]:
    """Return each requested coefficient by assignment, shape (assignments,), leaving out units with NaN.

    ``human_side`` is the prepared sample of ``human``: every metric shares it.
    """
    mirrored = human_side.mirrored
    missing = np.isnan(metric) | np.isnan(human)
    if not missing.any() and metric.shape[1] >= MIN_OBSERVATIONS:
        samples = PairedSamples(Sample(metric, mirrored), human_side)
        return [COEFFICIENTS[name].formula(samples) for name in wanted]
    results = [np.full(len(metric), np.nan) for _ in wanted]
    present = (~missing).sum(axis=1)
    for count in np.unique(present[present >= MIN_OBSERVATIONS]):
        rows = np.flatnonzero(present == count)
        where = ~missing[rows]
        first, second = metric[rows][where].reshape(-1, count), human[rows][where].reshape(-1, count)
        samples = PairedSamples(Sample(first, mirrored), Sample(second, mirrored))
        for name, result in zip(wanted, results, strict=True):
            result[rows] = COEFFICIENTS[name].formula(samples)
    return results


class _Tally:
    """Sums over the chunks of a study."""

    def __init__(self, design: UnitDesign, orientation: Orientation, wanted: tuple[str, ...], total: int) -> None:
        self.design, self.packed, self.wanted = design, design.packed, wanted
        self.mirrored = orientation == "both"
        n_rows = len(self.packed.rows)
        self.values = np.full((n_rows, len(wanted), total), np.nan)
        self.empty_units = np.zeros(n_rows)
        self.undefined_units = np.zeros(n_rows)
        self.few = np.zeros(n_rows, dtype=np.int64)  # assignments with too few observations
        self.constant_human = np.zeros(n_rows, dtype=np.int64)
        self.infinite = np.zeros(n_rows, dtype=bool)
        self.clamped = np.zeros((n_rows, design.n_units, 2), dtype=np.int64)  # over assignments; first, second system
        self.occupied = np.zeros((n_rows, design.n_units), dtype=np.int64)
        self.unit_pairs = np.repeat(design.pairs, design.units_per_pair, axis=0)  # (U, 2): systems of each unit

    def add(self, where: slice, chunk: Chunk, signs: Floats | None) -> None:
        human = chunk.human if signs is None else chunk.human * signs[..., None]
        sides = [Sample(human[..., g], self.mirrored) for g in range(human.shape[-1])]
        for row, metric in enumerate(self.packed.rows):
            mask = self.packed.row_mask[row]
            difference = chunk.differences(self.packed, row)
            if signs is not None:
                difference = difference * signs
            empty, undefined = np.isnan(human[..., mask]), np.isnan(difference)
            self.empty_units[row] += empty.sum()
            self.undefined_units[row] += (undefined & ~empty).sum()
            few = (~undefined & ~empty).sum(axis=1) < MIN_OBSERVATIONS
            self.few[row] += few.sum()
            self.infinite[row] |= bool(np.isinf(difference).any())
            results = chunk_coefficients(difference, human[..., mask], sides[mask], wanted=self.wanted)
            for index, result in enumerate(results):
                self.values[row, index, where] = np.where(few, np.nan, result)
            if np.isnan(results[0]).any():
                self.constant_human[row] += (~few & _constant(human[..., mask], self.mirrored)).sum()
            if metric.clamped is not None:
                flags = metric.clamped(chunk.metric[..., self.packed.row_columns[row]]) & ~empty[..., None]
                self.clamped[row] += flags.sum(axis=0)
                self.occupied[row] += (~empty).sum(axis=0)

    def row(self, index: int, confidence: float) -> MetricResult:
        total = self.values.shape[2]
        absent = (self.empty_units[index] + self.undefined_units[index]) / total
        n_observations = round((self.design.n_units - absent) * (2 if self.mirrored else 1))
        counts = {
            "no valid segment in the unit": self.empty_units[index] / total,
            "metric undefined on the unit": self.undefined_units[index] / total,
        }
        return MetricResult(
            name=self.packed.rows[index].name,
            coefficients={
                name: self._summary(index, c, n_observations, confidence) for c, name in enumerate(self.wanted)
            },
            n_observations=n_observations,
            undefined_units={reason: float(count) for reason, count in counts.items() if count},
            n_valid_segments=int(self.packed.masks[:, self.packed.row_mask[index]].sum()),
            clamped=self._clamped_cells(index),
        )

    def _summary(self, index: int, c: int, n_observations: int, confidence: float) -> CoefficientSummary:
        values = self.values[index, c]
        defined, entry = values[~np.isnan(values)], COEFFICIENTS[self.wanted[c]]
        if defined.size == 0:
            return CoefficientSummary(math.nan, math.nan, NOWHERE, 0, self._reason(index, entry.undefined), values)
        mean = float(defined.mean())
        spread = float(defined.std(ddof=1)) if defined.size > 1 else math.nan
        interval = NOWHERE if entry.interval is None else entry.interval(mean, n_observations, confidence=confidence)
        return CoefficientSummary(mean, spread, interval, defined.size, None, values)

    def _reason(self, index: int, undefined: str) -> str:
        total = self.values.shape[2]
        if self.few[index] == total:
            count = self.design.n_units - (self.empty_units[index] + self.undefined_units[index]) / total
            return f"{count:g} units: at least {MIN_OBSERVATIONS} observations are needed"
        if self.constant_human[index] == total:
            return "the human rating differences are constant"
        if self.infinite[index] and undefined:
            return undefined
        return "the metric's differences are constant"

    def _clamped_cells(self, index: int) -> ClampedCells | None:
        if self.packed.rows[index].clamped is None:
            return None
        n_systems = self.packed.columns.shape[0]
        systems = self.unit_pairs.ravel()
        clamped = np.bincount(systems, self.clamped[index].ravel(), minlength=n_systems)
        cells = np.bincount(systems, np.repeat(self.occupied[index], 2), minlength=n_systems)
        per_system = np.full(n_systems, np.nan)
        np.divide(clamped, cells, out=per_system, where=cells > 0)
        share = float(clamped.sum() / cells.sum()) if cells.sum() else math.nan
        return ClampedCells(float(clamped.sum() / self.values.shape[2]), share, per_system)


def _constant(values: Floats, mirrored: bool) -> NDArray[np.bool_]:
    """Rows whose defined values are all alike (mirrored: all zero)."""
    present = ~np.isnan(values)
    anchor = np.zeros((len(values), 1))
    if not mirrored and values.shape[1]:
        first = np.argmax(present, axis=1)[:, None]
        anchor = np.take_along_axis(values, first, axis=1)
    return np.asarray((~present | (values == anchor)).all(axis=1))
