"""Figure 2 of the ΔBLEU paper: how correlation moves with the reference threshold, the order, and the unit size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from correlations.stats.sampled_units import MetricResult, Progress, sampled_unit_correlation
from correlations.stats.units import StudyMetric, UnitSampling


@dataclass(frozen=True)
class SweepResult:
    """``series[name][i]`` is the metric's result at ``points[i]``."""

    points: tuple[float, ...]
    series: dict[str, tuple[MetricResult, ...]]


def reference_sweep(
    metrics_at: Mapping[float, Sequence[StudyMetric]],
    human: ArrayLike,
    pairs: ArrayLike,
    sampling: UnitSampling,
    *,
    progress: Progress | None = None,
) -> SweepResult:
    """Sweep over what changes the statistics but not the units: thresholds on reference weights, or orders.

    All points are rows of one study. The assignments are drawn and their units cut once, and a column of statistics
    that several points share is summed once.

    Parameters
    ----------
    metrics_at : mapping from point to metrics
        The same metric names at every point.
    human, pairs, sampling, progress
        As in ``sampled_unit_correlation``, which with the same sampling gives the same numbers point by point.

    Raises
    ------
    ValueError
        If there is no point, or the names differ between points; and as ``sampled_unit_correlation``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(3)
    >>> human = rng.normal(size=(3, 200))
    >>> def at(noise):
    ...     statistics = (human + noise * np.random.default_rng(4).normal(size=human.shape))[..., None]
    ...     return [StudyMetric("noisy", statistics, lambda sums: sums[..., 0])]
    >>> sampling = UnitSampling(unit_size=20, n_assignments=10, seed=1)
    >>> sweep = reference_sweep({0.0: at(0.0), 2.0: at(2.0)}, human, [(0, 1), (1, 2)], sampling)
    >>> [round(row.coefficients["spearman"].mean, 1) for row in sweep.series["noisy"]]
    [1.0, 0.4]
    """
    names = _common_names(metrics_at)
    rows = [
        replace(metric, name=f"{index} {metric.name}")
        for index, metrics in enumerate(metrics_at.values())
        for metric in metrics
    ]
    study = sampled_unit_correlation(rows, human, pairs, sampling, progress=progress)
    series = {
        name: tuple(replace(study[f"{index} {name}"], name=name) for index in range(len(metrics_at))) for name in names
    }
    return SweepResult(tuple(metrics_at), series)


def unit_size_sweep(
    metrics: Sequence[StudyMetric],
    human: ArrayLike,
    pairs: ArrayLike,
    sampling: UnitSampling,
    *,
    unit_sizes: Sequence[int] = (1, 2, 5, 10, 20, 50, 100),
    metrics_at_one: Sequence[StudyMetric] | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Sweep over the unit size M, with all else as ``sampling`` says.

    Small units give many observations, so fewer assignments fix their mean coefficient as well: M of max(M) parts of
    ``sampling.n_assignments`` are used, at least 10, and the work per point stays about the same.

    Parameters
    ----------
    unit_sizes : sequence of int
        Distinct, each at least 1.
    metrics_at_one : sequence of StudyMetric, optional
        Used at M = 1 in place of ``metrics``: sentence scores need smoothing that larger units do without.
    metrics, human, pairs, sampling, progress
        As in ``sampled_unit_correlation``; the seed is an int, and ``progress`` counts the assignments of all sizes.

    Raises
    ------
    ValueError
        If ``unit_sizes`` is empty or repeats, or the names differ at M = 1; and as ``sampled_unit_correlation``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(3)
    >>> human = rng.normal(size=(3, 200)) + np.array([[0.0], [0.2], [0.4]])
    >>> statistics = (human + 2 * rng.normal(size=human.shape))[..., None]
    >>> metric = StudyMetric("noisy", statistics, lambda sums: sums[..., 0])
    >>> sampling = UnitSampling(n_assignments=20, seed=1)
    >>> sweep = unit_size_sweep([metric], human, [(0, 1), (0, 2)], sampling, unit_sizes=(1, 10))
    >>> [row.n_observations for row in sweep.series["noisy"]]
    [800, 80]
    """
    sizes = tuple(unit_sizes)
    if not sizes or len(set(sizes)) != len(sizes) or min(sizes) < 1:
        raise ValueError(f"unit_sizes are {list(sizes)}: distinct sizes of at least 1 are expected")
    at_one = metrics if metrics_at_one is None else metrics_at_one
    metrics_at = {float(size): (at_one if size == 1 else metrics) for size in sizes}
    names = _common_names(metrics_at)
    most = sampling.n_assignments
    counts = [1 if size == 1 else min(most, max(10, most * size // max(sizes))) for size in sizes]
    studies = []
    for index, size in enumerate(sizes):
        report = None if progress is None else _offset(progress, sum(counts[:index]), sum(counts))
        resized = replace(sampling, unit_size=size, n_assignments=counts[index])
        studies.append(sampled_unit_correlation(metrics_at[float(size)], human, pairs, resized, progress=report))
    return SweepResult(tuple(metrics_at), {name: tuple(study[name] for study in studies) for name in names})


def _common_names(metrics_at: Mapping[float, Sequence[StudyMetric]]) -> list[str]:
    if not metrics_at:
        raise ValueError("the sweep has no points: at least one is needed")
    names_at = {point: [metric.name for metric in metrics] for point, metrics in metrics_at.items()}
    first = next(iter(names_at.values()))
    for point, names in names_at.items():
        if set(names) != set(first):
            raise ValueError(f"metrics at point {point:g} are {names}, at the first point {first}: names must agree")
    return first


def _offset(progress: Progress, before: int, total: int) -> Progress:
    return lambda done, _: progress(before + done, total)
