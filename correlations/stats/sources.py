"""Where the uncertainty of a study comes from: its items, the raters of its outputs, the raters of its references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from correlations.stats.coefficients.samples import Sample
from correlations.stats.ranks import Bools, Floats, Ints
from correlations.stats.resampling import (
    RaterRatings,
    RowBootstrap,
    between_replicates,
    replicate_orders,
    row_bootstrap,
    shuffled_places,
)
from correlations.stats.sampled_units import Progress, chunk_coefficients
from correlations.stats.units import Places, RowGroup, StudyMetric, UnitDesign, UnitSampling

Redraw = Callable[[np.random.Generator, int], Mapping[int, Sequence[StudyMetric]]]


@dataclass(frozen=True)
class Sources:
    """What a replicate draws anew; whatever it does not draw stays as it is.

    Attributes
    ----------
    items : whether items are drawn, with replacement.
    raters : the ratings of outputs, if their raters are drawn, with replacement.
    redraw : if raters of references are drawn: returns, for that many draws, the rows whose scores follow from weights,
        by their indices, each under the weights of every draw. Other rows stay.
    """

    items: bool = True
    raters: RaterRatings | None = None
    redraw: Redraw | None = None


def source_bootstrap(
    metrics: Sequence[StudyMetric],
    human: ArrayLike,
    pairs: ArrayLike,
    sampling: UnitSampling,
    sources: Sources,
    *,
    n_replicates: int = 500,
    assignments_per_replicate: int = 4,
    progress: Progress | None = None,
) -> tuple[RowBootstrap, ...]:
    """Resample any of items, raters of outputs and raters of references.

    With items, or items and raters of outputs, the replicates are those of ``study_bootstrap``, to the last bit. Each
    source has its own random numbers: it draws the same whether or not others are drawn beside it.

    Parameters
    ----------
    metrics, human, pairs, sampling, n_replicates, assignments_per_replicate, progress
        As in ``study_bootstrap``.
    sources : Sources

    Returns
    -------
    tuple of RowBootstrap
        In the order of ``metrics``. An item of which a draw leaves no rating or no score is not shared in it. Over
        raters the spread is that of these raters, drawn again: a range of draws, not a 95% interval.

    Raises
    ------
    ValueError
        No source is drawn, or as in ``study_bootstrap``.

    Examples
    --------
    >>> rng = np.random.default_rng(7)
    >>> quality = rng.normal(size=(3, 400)) + np.array([[0.0], [0.3], [0.6]])
    >>> def total(noise):
    ...     scores = quality + noise * rng.normal(size=quality.shape)
    ...     return StudyMetric("total", scores[..., None], lambda sums: sums[..., 0])
    >>> sources = Sources(items=False, redraw=lambda rng, n: {0: [total(1.0) for _ in range(n)]})
    >>> sampling = UnitSampling(unit_size=50, seed=1)
    >>> row, = source_bootstrap([total(1.0)], quality, [(0, 1), (0, 2)], sampling, sources, n_replicates=20)
    >>> row.summaries["spearman"].n_defined
    20
    """
    if not (sources.items or sources.raters or sources.redraw):
        raise ValueError("sources draw nothing: at least one of items, raters and redraw is expected")
    if n_replicates < 2 or assignments_per_replicate < 1:
        raise ValueError(
            f"n_replicates is {n_replicates} and assignments_per_replicate {assignments_per_replicate}: "
            "at least 2 and 1 are needed"
        )
    design = UnitDesign(metrics, human, pairs, sampling)
    draws, chunks = _Draws(design, sources, assignments_per_replicate, sampling), []
    step = max(1, design.chunk_size() // assignments_per_replicate)
    for start in range(0, n_replicates, step):
        size = min(step, n_replicates - start)
        chunks.append(draws.coefficients(size))
        if progress is not None:
            progress(start + size, n_replicates)
    return tuple(
        row_bootstrap(metric.name, dict(zip(sampling.coefficients, of_row, strict=True)))
        for metric, of_row in zip(metrics, np.concatenate(chunks, axis=2), strict=True)
    )


def share_ahead(first: Floats, second: Floats) -> float:
    """Return in which share of the replicates (B, J) the first row is ahead; undefined ones count as not ahead.

    Examples
    --------
    >>> share_ahead(np.array([[0.6], [0.4], [np.nan], [0.7]]), np.full((4, 1), 0.5))
    0.5
    """
    with np.errstate(invalid="ignore"):
        return float((between_replicates(first - second) > 0).mean())


class _Draws:
    """Draws the replicates, one chunk after the other."""

    def __init__(self, design: UnitDesign, sources: Sources, assignments: int, sampling: UnitSampling) -> None:
        self.design, self.sources, self.assignments, self.sampling = design, sources, assignments, sampling
        # The first three are those of `study_bootstrap`.
        item_rng, self.key_rng, self.rater_rng, self.weight_rng = np.random.default_rng(sampling.seed).spawn(4)
        self.item_rngs = [(group, deepcopy(item_rng)) for group in design.groups if group.segments.size]

    def coefficients(self, size: int) -> Floats:
        """Return the coefficients (rows, coefficients, ``size``, J) of the next replicates."""
        design, keys = self.design, self.sampling.coefficients
        values = np.full((design.n_rows, len(keys), size, self.assignments), np.nan)
        shuffled = shuffled_places(design, self.key_rng, size * self.assignments)
        means, drawn = None, None
        if self.sources.raters is not None:
            drawn = self.sources.raters.replicates(self.rater_rng, size, design.human.shape)
            means = np.repeat(drawn, self.assignments, axis=0)
        rows = {} if self.sources.redraw is None else self.sources.redraw(self.weight_rng, size)
        redrawn = {index: _Drawn(under) for index, under in rows.items()}
        ratings = self._ratings(drawn, size) if redrawn else []
        for group, rng in self.item_rngs:
            orders = replicate_orders(design, group, self._items(group, rng, size), shuffled, means)
            results = self._alike([index for index in group.members if index in redrawn], redrawn, orders, ratings)
            if len(results) < len(group.members):
                chunk = design.ragged_sums(group, orders, means)
                side = Sample(chunk.human, self.sampling.mirrored)
            for row, index in enumerate(group.members):
                if index not in results:
                    results[index] = chunk_coefficients(chunk.differences(row), chunk.human, side, keys)
                for c, result in enumerate(results[index]):
                    values[index, c] = result.reshape(size, -1)
        return values

    def _items(self, group: RowGroup, rng: np.random.Generator, size: int) -> Ints:
        n = group.segments.size
        drawn = rng.integers(0, n, (size, n)) if self.sources.items else np.tile(np.arange(n), (size, 1))
        return np.repeat(group.segments[drawn], self.assignments, axis=0)

    def _alike(
        self,
        indices: Sequence[int],
        redrawn: Mapping[int, _Drawn],
        orders: Sequence[Places],
        ratings: Sequence[Floats],
    ) -> dict[int, list[Floats]]:
        """Return the coefficients of rows with redrawn weights; rows that lose the same outputs share their sums."""
        results: dict[int, list[Floats]] = {}
        by_valid: dict[bytes, list[int]] = {}
        for index in indices:
            by_valid.setdefault(np.packbits(redrawn[index].valid).tobytes(), []).append(index)
        for alike in by_valid.values():
            rows = [redrawn[index] for index in alike]
            metric, human = self._sums(rows, orders, ratings)
            side = Sample(human, self.sampling.mirrored)
            for index, row, sums in zip(alike, rows, metric, strict=True):
                difference = row.differences(sums, self.assignments)
                difference[np.isnan(human)] = np.nan
                results[index] = chunk_coefficients(difference, human, side, self.sampling.coefficients)
        return results

    def _sums(
        self, rows: Sequence[_Drawn], orders: Sequence[Places], ratings: Sequence[Floats]
    ) -> tuple[list[Floats], Floats]:
        """Return each row's sums (size * J, U, 2, D) and the rating differences (size * J, U) of all units."""
        design, size = self.design, len(rows[0].metrics)
        columns, begins = self._columns(rows)
        valid, every = rows[0].valid, bool(rows[0].valid.all())
        replicate = np.repeat(np.arange(size, dtype=np.int32) * np.int32(design.n_segments), self.assignments)[:, None]
        human, at = [], 0
        n_units = design.units_of(orders[0] >= 0).shape[1]
        totals = np.empty((2, columns.shape[-1], len(orders[0]), n_units * len(orders)))
        for p, ((a, b), order) in enumerate(zip(design.pairs, orders, strict=True)):
            place, usable = replicate + order.astype(np.int32), order >= 0
            if not every:
                usable &= (valid[:, a] & valid[:, b]).ravel().take(place, mode="clip")
            units = design.units_of(usable)
            place = place.ravel() if units.kept.all() else place[units.kept]
            sum_up = units.summing(place, columns.shape[1])
            for side, system in enumerate((a, b)):
                totals[side, ..., at : at + n_units] = np.moveaxis(sum_up(columns[system]), -1, 0)
            human.append(units.means(sum_up(ratings[p])[..., 0], design.scale))
            at += n_units
        return np.split(totals.transpose(2, 3, 0, 1), begins, axis=-1), np.concatenate(human, axis=1)

    def _columns(self, rows: Sequence[_Drawn]) -> tuple[Floats, Ints]:
        """Return the columns (systems, size * S, C) of all rows side by side, and where each but the first begins."""
        n_systems, n_segments = self.design.human.shape
        first = [each.metrics[0].statistics for each in rows]
        ends = np.cumsum([np.shape(each)[-1] for each in first])
        columns = np.empty((n_systems, len(rows[0].metrics), n_segments, ends[-1]))
        for row, end, each in zip(rows, ends, first, strict=True):
            for draw, metric in enumerate(row.metrics):
                columns[:, draw, :, end - np.shape(each)[-1] : end] = metric.statistics
        return columns.reshape(n_systems, -1, columns.shape[-1]), ends[:-1]

    def _ratings(self, drawn: Floats | None, size: int) -> list[Floats]:
        """Return the rating differences (size * S, 1) of each pair, as whole numbers if they can be."""
        design = self.design
        if drawn is None:
            differences = (design.human[a] - design.human[b] for a, b in design.pairs)
            return [np.tile(each, size)[:, None] for each in differences]
        return [((drawn[:, a] - drawn[:, b]) * design.scale).reshape(-1, 1) for a, b in design.pairs]


@dataclass(frozen=True)
class _Drawn:
    """One row under the weights of each replicate."""

    metrics: Sequence[StudyMetric]

    @cached_property
    def valid(self) -> Bools:
        """Return which outputs have a score, (size, systems, S)."""
        shape = np.shape(self.metrics[0].statistics)[:2]
        every = [np.broadcast_to(np.True_ if each.valid is None else each.valid, shape) for each in self.metrics]
        return np.stack(every)

    def differences(self, sums: Floats, assignments: int) -> Floats:
        """Return the metric differences (size * J, U) of sums (size * J, U, 2, D), each by its replicate's metric."""
        first = self.metrics[0].aggregate
        with np.errstate(divide="ignore", invalid="ignore"):  # undefined is the metric's to say, as NaN
            if all(each.aggregate == first for each in self.metrics):
                scores = np.asarray(first(sums))
            else:
                parts = sums.reshape(len(self.metrics), assignments, *sums.shape[1:])
                scores = np.concatenate([each.aggregate(part) for each, part in zip(self.metrics, parts, strict=True)])
        return np.asarray(scores[..., 0] - scores[..., 1], dtype=np.float64)
