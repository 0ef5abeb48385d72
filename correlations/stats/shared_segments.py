"""Rows of a study that can use different segments, side by side on those that both can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from correlations.stats.ranks import Bools
from correlations.stats.units import StudyMetric


def on_shared_segments(
    metrics: Sequence[StudyMetric], compared: Sequence[tuple[int, int]]
) -> tuple[list[StudyMetric], list[tuple[int, int]]]:
    """Plan what to compute so that each pair of rows is compared over the outputs valid in both.

    Coefficients over different segments differ by the segments, too. Only a row that must give up segments is computed
    again; with the study's seed the new rows see its assignments and its resamples, so that differences are paired.

    Parameters
    ----------
    metrics : sequence of StudyMetric
        The rows of a study, with statistics over the same S segments.
    compared : sequence of (first, second)
        Which rows are compared, by their indices in ``metrics``.

    Returns
    -------
    rows : list of StudyMetric
        ``metrics`` as they are, and after them those that were narrowed to what a pair shares, each once.
    indices : list of (first, second)
        For each pair, the two of ``rows`` to compare. Both are valid on the same segments, on none if no segment is
        valid in both.

    Raises
    ------
    IndexError
        If an index is not one of ``metrics``.

    Examples
    --------
    >>> total = lambda sums: sums[..., 0]
    >>> valid = {"a": np.array([True, True, False]), "b": np.array([False, True, True])}
    >>> metrics = [StudyMetric(name, np.ones((2, 3, 1)), total, segments) for name, segments in valid.items()]
    >>> rows, indices = on_shared_segments(metrics, [(0, 1)])
    >>> [row.valid.tolist() for row in rows[2:]], indices
    ([[False, True, False], [False, True, False]], [(2, 3)])
    """
    rows = list(metrics)
    known: dict[tuple[int, bytes], int] = {}

    def narrowed(index: int, shared: Bools) -> int:
        if np.array_equal(np.broadcast_to(_valid(metrics[index]), shared.shape), shared):
            return index
        key = (index, shared.tobytes())
        if key not in known:
            known[key] = len(rows)
            rows.append(replace(metrics[index], name=f"{metrics[index].name} [{len(rows)}]", valid=shared))
        return known[key]

    indices = []
    for first, second in compared:
        shared = _valid(metrics[first]) & _valid(metrics[second])
        indices.append((narrowed(first, shared), narrowed(second, shared)))
    return rows, indices


def _valid(metric: StudyMetric) -> Bools:
    """Return which outputs have a score, (n_systems, S) or, where all systems' do, (S,)."""
    if metric.valid is None:
        return np.ones(np.shape(metric.statistics)[1], dtype=np.bool_)
    return np.asarray(metric.valid, dtype=np.bool_)
