"""From packed statistics to observations: which segments form a unit, what a unit's metric and rating differences are.

A unit's score is a function of its segments' summed statistics, so a thousand assignments of segments to units are one
sparse indicator matrix (units x segments) times the statistics, never a thousand scorings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.ragged import RaggedUnits
from correlations.stats.ranks import Bools, Floats, Ints

Remainder = Literal["keep", "drop"]
Orientation = Literal["both", "fixed", "random"]
USUAL = ("spearman", "kendall")
USUAL_SIZE = 100  # items of a unit in ΔBLEU, section 5
FEW_UNITS = 30  # of all pairs: with fewer, coefficients are unstable and their intervals too narrow
FEW_UNITS_OF_PAIR = 5
FITTING_UNITS_OF_PAIR = 10
_CHUNK_BYTES = 16 << 20  # of unit sums held at once
# Where ratings are means of a few integers, a common denominator makes their sums exact, so that ties are real ties.
_DENOMINATORS: tuple[int, ...] = (*range(1, 61), 100, 420, 840, 1000, 2520, 10_000, 27_720, 360_360)
Places = NDArray[np.integer[Any]]  # numbers of segments, of 32 or 64 bits


def fitting_unit_size(n_items: int, n_pairs: int) -> int:
    """Return the usual size, or less where pairs share too few items for enough units.

    >>> fitting_unit_size(2114, 12), fitting_unit_size(200, 3), fitting_unit_size(20, 6), fitting_unit_size(1000, 1)
    (100, 20, 2, 33)
    """
    units = max(FITTING_UNITS_OF_PAIR, -(-FEW_UNITS // max(n_pairs, 1)))
    return max(1, min(USUAL_SIZE, n_items // units))


def too_few_units(units_per_pair: Sequence[int]) -> str:
    """Return why units are too few for a conclusion; empty if they are not."""
    total, least = sum(units_per_pair), min(units_per_pair, default=0)
    if total < FEW_UNITS:
        return f"all pairs together have {total} unit{'' if total == 1 else 's'}; {FEW_UNITS} are needed"
    if least < FEW_UNITS_OF_PAIR:
        return f"a pair has {least} unit{'' if least == 1 else 's'}; {FEW_UNITS_OF_PAIR} are needed"
    return ""


@dataclass(frozen=True)
class StudyMetric:
    """One row of a study: a metric with one set of references, as sufficient statistics.

    Parameters
    ----------
    name : str
        Unique within a study.
    statistics : array of shape (n_systems, S, D)
        What each system's hypothesis for each segment contributes; a unit's statistics are the sum over its segments.
    aggregate : callable
        (..., D) summed statistics to (...) scores, vectorised. NaN is an undefined score.
    valid : bool array of shape (S,) or (n_systems, S), optional
        False where the metric has no score: for any system, or for one. A segment counts for a pair where both systems
        have a score and a rating. All True when omitted.
    clamped : callable, optional
        (..., D) summed statistics to (...) bool: the score had a negative numerator clamped. Only counted.
    """

    name: str
    statistics: Floats
    aggregate: Callable[[Floats], Floats]
    valid: Bools | None = None
    clamped: Callable[[Floats], Bools] | None = None


@dataclass(frozen=True, kw_only=True)
class UnitSampling:
    """How segments are assigned to units, and the coefficients over those units.

    Parameters
    ----------
    seed : int or numpy.random.Generator
        A generator is advanced by each use. Results do not depend on how the work is divided.
    unit_size : int
        M >= 1 segments. At M = 1 all assignments are the same, and one is used.
    n_assignments : int
        K >= 1; a bootstrap does not use it.
    remainder : {"keep", "drop"}
        What becomes of a pair's last, short unit.
    orientation : {"both", "fixed", "random"}
        "both" enters each observation with its mirror image (-m, -q), so the order of a pair's systems is without
        effect; "fixed" takes the pairs as given; "random" draws a sign for each unit, the same for every metric.
    coefficients : sequence of keys of ``COEFFICIENTS``

    Raises
    ------
    ValueError
        If an option lies out of its range or is unknown; the message says which.
    """

    seed: int | np.random.Generator
    unit_size: int = 100
    n_assignments: int = 1000
    remainder: Remainder = "keep"
    orientation: Orientation = "both"
    coefficients: Sequence[str] = USUAL

    def __post_init__(self) -> None:
        for name in ("unit_size", "n_assignments"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: at least 1 is needed")
        for name, accepted in (("remainder", get_args(Remainder)), ("orientation", get_args(Orientation))):
            if getattr(self, name) not in accepted:
                raise ValueError(f"{name} is {getattr(self, name)!r}: accepted are {', '.join(accepted)}")
        if not self.coefficients or not set(self.coefficients) <= set(COEFFICIENTS):
            raise ValueError(f"coefficients are {list(self.coefficients)}: accepted are {', '.join(COEFFICIENTS)}")

    @property
    def mirrored(self) -> bool:
        return self.orientation == "both"


class _SplitTable(NamedTuple):
    """A table's columns by the precision that their sums need; half the memory takes half the time."""

    single: NDArray[np.float32]
    double: Floats
    single_at: NDArray[np.intp]
    double_at: NDArray[np.intp]


@dataclass(frozen=True)
class RowGroup:
    """Rows of a study that count the same segments of every pair, over one table of their distinct columns.

    Attributes
    ----------
    members : indices of the rows among the study's metrics
    metrics : the rows
    row_columns : each row's D columns of the table
    pools : the segments that count for each pair, ascending
    is_whole : for each pair, whether these are all that are rated
    units_per_pair : how many units they make
    """

    members: tuple[int, ...]
    metrics: tuple[StudyMetric, ...]
    row_columns: tuple[NDArray[np.intp], ...]
    pools: tuple[Ints, ...]
    is_whole: tuple[bool, ...]
    units_per_pair: tuple[int, ...]
    tables: tuple[_SplitTable, ...]  # of each pair, (S, 2 C + 1): both systems' columns, and the rating difference
    n_columns: int  # C

    @property
    def n_units(self) -> int:
        return sum(self.units_per_pair)

    @cached_property
    def segments(self) -> Ints:
        """Return the segments that count for any pair, ascending."""
        return np.unique(np.concatenate(self.pools))

    @property
    def segments_per_pair(self) -> tuple[int, ...]:
        return tuple(int(pool.size) for pool in self.pools)


def counted_by_pair(valid: ArrayLike, ratings: ArrayLike, pairs: ArrayLike) -> Bools:
    """Return the segments (P, S) that count for each pair: where both systems have a score and a rating.

    Parameters
    ----------
    valid : bool array of shape (S,) or (n_systems, S)
    ratings : array of shape (n_systems, S); NaN for an output without a rating
    pairs : integer array of shape (P, 2)

    Examples
    --------
    >>> rated = [[3, 4, np.nan], [2, np.nan, 1], [5, 5, 5]]
    >>> counted_by_pair([True, True, True], rated, [(0, 1), (1, 2)]).tolist()
    [[True, False, False], [True, False, True]]
    """
    counts = np.asarray(valid) & ~np.isnan(np.asarray(ratings, dtype=np.float64))
    first, second = np.asarray(pairs).T
    return np.asarray(counts[first] & counts[second])


def counted_by_system(by_pair: Bools, pairs: ArrayLike, n_systems: int) -> Bools:
    """Return the segments (n_systems, S) that count for any pair of a system."""
    counted = np.zeros((n_systems, by_pair.shape[1]), dtype=bool)
    for (a, b), segments in zip(np.asarray(pairs), by_pair, strict=True):
        counted[a] |= segments
        counted[b] |= segments
    return counted


def _checked_rows(metrics: Sequence[StudyMetric], n_systems: int, n_segments: int) -> list[tuple[Floats, Bools]]:
    """Return the statistics and the valid mask of each row."""
    if not metrics:
        raise ValueError("metrics is empty: a study needs at least one metric")
    names = [metric.name for metric in metrics]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ValueError(f"metrics[{index}] is called {name!r}, and so is an earlier one: names must differ")
    rows = []
    for metric in metrics:
        valid = _checked_mask(metric, n_systems, n_segments)
        rows.append((_checked_statistics(metric, valid, n_systems, n_segments), valid))
    return rows


def _distinct_columns(rows: Sequence[Floats], counted: Bools) -> tuple[Floats, tuple[NDArray[np.intp], ...]]:
    """Store each distinct column of the rows' statistics once, zero where a segment does not count: rows share most."""
    positions: dict[bytes, int] = {}
    columns: list[Floats] = []
    row_columns = []
    for statistics in rows:
        indices = []
        for d in range(statistics.shape[2]):
            column = np.where(counted, statistics[:, :, d], 0.0)
            digest = hashlib.blake2b(column.tobytes(), digest_size=16).digest()
            if digest not in positions:
                positions[digest] = len(columns)
                columns.append(column)
            indices.append(positions[digest])
        row_columns.append(np.array(indices, dtype=np.intp))
    return np.stack(columns, axis=2), tuple(row_columns)


def _checked_mask(metric: StudyMetric, n_systems: int, n_segments: int) -> Bools:
    valid = np.ones(n_segments, dtype=bool) if metric.valid is None else np.asarray(metric.valid)
    if valid.shape not in ((n_segments,), (n_systems, n_segments)) or valid.dtype != np.bool_:
        raise ValueError(
            f"valid of metric {metric.name!r} has shape {valid.shape} and type {valid.dtype}: booleans of shape "
            f"({n_segments},), one for each segment, or ({n_systems}, {n_segments}), for each output, are expected"
        )
    return np.broadcast_to(valid, (n_systems, n_segments))


def _checked_statistics(metric: StudyMetric, valid: Bools, n_systems: int, n_segments: int) -> Floats:
    statistics = np.asarray(metric.statistics, dtype=np.float64)
    if statistics.ndim != 3 or statistics.shape[:2] != (n_systems, n_segments) or statistics.shape[2] == 0:
        raise ValueError(
            f"statistics of metric {metric.name!r} have shape {statistics.shape}: "
            f"({n_systems}, {n_segments}, D), the systems and segments of the human ratings, is expected"
        )
    broken = np.argwhere(~np.isfinite(statistics) & valid[..., None])
    if broken.size:
        system, segment, d = broken[0]
        raise ValueError(
            f"statistics of metric {metric.name!r} hold {statistics[system, segment, d]} "
            f"at system {system}, segment {segment}, column {d}: only finite values can be summed"
        )
    return statistics


def checked_ratings(human: ArrayLike) -> Floats:
    """Return ratings as (n_systems, S); NaN for an output without a rating."""
    ratings = np.asarray(human, dtype=np.float64)
    if ratings.ndim != 2:
        raise ValueError(f"human ratings have shape {ratings.shape}: (n_systems, S) is expected")
    if np.isinf(ratings).any():
        system, segment = np.argwhere(np.isinf(ratings))[0]
        raise ValueError(
            f"human rating of system {system}, segment {segment} is infinite: finite, or NaN for not rated"
        )
    return ratings


def checked_pairs(pairs: ArrayLike, n_systems: int) -> Ints:
    result = np.asarray(pairs)
    if result.ndim != 2 or result.shape[1] != 2 or len(result) == 0 or not np.issubdtype(result.dtype, np.integer):
        raise ValueError(
            f"pairs have shape {result.shape} and type {result.dtype}: integers of shape (P >= 1, 2) expected"
        )
    for index, (a, b) in enumerate(result):
        if not (0 <= a < n_systems and 0 <= b < n_systems):
            raise ValueError(f"pairs[{index}] is ({a}, {b}): systems are numbered 0 to {n_systems - 1}")
        if a == b:
            raise ValueError(f"pairs[{index}] compares system {a} with itself")
    unordered = [frozenset(pair) for pair in result.tolist()]
    for index, (a, b) in enumerate(result):
        if unordered[index] in unordered[:index]:
            raise ValueError(f"pairs[{index}] is ({a}, {b}), which is listed before: its units would count twice")
    return result.astype(np.int64)


def exact_scale(ratings: Floats) -> int | None:
    """Return the smallest listed integer that turns every rating into a whole number, or None."""
    values = np.unique(ratings[~np.isnan(ratings)])
    for scale in _DENOMINATORS:
        scaled = values * scale
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(1.0, np.abs(scaled))):
            return scale
    return None


@dataclass(frozen=True)
class Chunk:
    """Summed statistics of a chunk of assignments; units of all pairs lie side by side along U."""

    group: RowGroup
    columns: Floats  # (2, C, assignments, U): of the pair's first and second system
    human: Floats  # (assignments, U): mean rating difference; NaN for a unit without a segment

    def sums(self, row: int) -> Floats:
        """Return the sums (assignments, U, 2, D) of one row of the group; each column is contiguous."""
        return self.columns.take(self.group.row_columns[row], axis=1).transpose(2, 3, 0, 1)

    def differences(self, row: int, sums: Floats | None = None) -> Floats:
        """Return the metric differences of one row of the group, shape (assignments, U); NaN where undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):  # undefined is the metric's to say, as NaN
            scores = self.group.metrics[row].aggregate(self.sums(row) if sums is None else sums)
        scores = np.asarray(scores, dtype=np.float64)
        result = scores[..., 0] - scores[..., 1]
        result[np.isnan(self.human)] = np.nan
        return result


class UnitDesign:
    """Check a study's inputs, and cut the segments that count for a pair and a row into units.

    ``pools`` are the segments on which both systems of a pair are rated. An assignment is an order of each pool; a row
    cuts its units from this order, without the segments that it cannot use. So the assignments are the same for all
    rows, and rows that count the same segments have the same units.
    """

    def __init__(
        self, metrics: Sequence[StudyMetric], ratings: ArrayLike, pairs: ArrayLike, sampling: UnitSampling
    ) -> None:
        human = checked_ratings(ratings)
        self.pairs = checked_pairs(pairs, human.shape[0])
        self.unit_size, self.remainder = sampling.unit_size, sampling.remainder
        self.n_segments: int = human.shape[1]
        scale = exact_scale(human)
        self.scale, self.human = scale or 1, human if scale is None else np.round(human * scale)
        self.n_rows = len(metrics)
        rows = _checked_rows(metrics, *human.shape)
        rated = counted_by_pair(np.ones(self.n_segments, dtype=bool), human, self.pairs)
        self.pools: list[Ints] = [np.flatnonzero(segments) for segments in rated]
        for (a, b), pool in zip(self.pairs, self.pools, strict=True):
            if pool.size == 0:
                raise ValueError(f"systems {a} and {b} share no segment on which both are rated: drop the pair")
        self.rated_segments: Ints = np.flatnonzero(rated.any(axis=0))
        members: dict[bytes, list[int]] = {}
        masks: dict[bytes, Bools] = {}
        for index, (_, valid) in enumerate(rows):
            by_pair = counted_by_pair(valid, human, self.pairs)
            key = np.packbits(by_pair).tobytes()
            members.setdefault(key, []).append(index)
            masks[key] = by_pair
        self.groups = [
            self._group([(index, metrics[index], rows[index][0]) for index in indices], masks[key])
            for key, indices in members.items()
        ]
        counted = np.logical_or.reduce(list(masks.values()))
        self.segments_per_pair = tuple(counted.sum(axis=1).tolist())
        self.units_per_pair = tuple(self._n_units(n) for n in self.segments_per_pair)

    def _group(self, rows: Sequence[tuple[int, StudyMetric, Floats]], by_pair: Bools) -> RowGroup:
        """Return the group of these rows: index, metric and statistics of each."""
        counted = counted_by_system(by_pair, self.pairs, self.human.shape[0])
        columns, row_columns = _distinct_columns([statistics for *_, statistics in rows], counted)
        pools = tuple(np.flatnonzero(segments) for segments in by_pair)
        tables = (self._table(columns, a, b) for a, b in self.pairs)
        return RowGroup(
            members=tuple(index for index, *_ in rows),
            metrics=tuple(metric for _, metric, _ in rows),
            row_columns=row_columns,
            pools=pools,
            is_whole=tuple(pool.size == rated.size for pool, rated in zip(pools, self.pools, strict=True)),
            units_per_pair=tuple(self._n_units(pool.size) for pool in pools),
            tables=tuple(_split(table, self.unit_size) for table in tables),
            n_columns=columns.shape[2],
        )

    @property
    def pool_total(self) -> int:
        return sum(int(pool.size) for pool in self.pools)

    def chunk_size(self) -> int:
        width = 2 * max(group.n_columns for group in self.groups) + 2
        each = 8 * (len(self.pairs) * self._n_units(self.n_segments) * width + 2 * self.pool_total)
        return int(max(1, min(50, _CHUNK_BYTES // each)))

    def _n_units(self, segments: int) -> int:
        extra = self.unit_size - 1 if self.remainder == "keep" else 0
        return (segments + extra) // self.unit_size

    def _table(self, columns: Floats, a: int, b: int) -> Floats:
        difference = np.nan_to_num(self.human[a] - self.human[b])[:, None]
        return np.ascontiguousarray(np.hstack([columns[a], columns[b], difference]))

    def sums(self, group: RowGroup, orders: Sequence[Places]) -> Chunk:
        """Sum a chunk of assignments; ``orders[p]``, shape (assignments, n_p), orders the rated segments of pair p."""
        lengths, at = [], 0
        totals = np.empty((2 * group.n_columns + 1, len(orders[0]), group.n_units))
        for p, (table, n_units) in enumerate(zip(group.tables, group.units_per_pair, strict=True)):
            order = self._counted_order(group, p, orders[p])
            assignments, n = order.shape
            length = n if self.remainder == "keep" else n_units * self.unit_size
            bounds = np.minimum(np.arange(n_units) * self.unit_size, length)
            starts = (np.arange(assignments)[:, None] * length + bounds).ravel()
            _write_unit_sums(table, order[:, :length].ravel(), starts, totals[..., at : at + n_units])
            lengths.append(np.diff(bounds, append=length))
            at += n_units
        return self._chunk(group, totals, np.concatenate(lengths))

    def _counted_order(self, group: RowGroup, p: int, order: Places) -> Places:
        """Return an order of a pair's rated segments without those that do not count for the group."""
        if group.is_whole[p]:
            return order
        counts = np.zeros(self.n_segments, dtype=bool)
        counts[group.pools[p]] = True
        return order[counts.take(order)].reshape(len(order), group.pools[p].size)

    def ragged_sums(self, group: RowGroup, orders: Sequence[Places], human: Floats | None = None) -> Chunk:
        """Sum assignments that each use other segments; ``orders[p]`` has shape (assignments, n), -1 for left out.

        ``human``, shape (assignments, n_systems, S), replaces the ratings; the segments it lacks must be left out.
        An assignment with fewer units than others ends in empty ones, whose differences are NaN.
        """
        cuts, at = [self.units_of(order >= 0) for order in orders], 0
        n_units = sum(units.shape[1] for units in cuts)
        totals = np.empty((2 * group.n_columns + 1, len(orders[0]), n_units))
        for p, ((a, b), units) in enumerate(zip(self.pairs, cuts, strict=True)):
            segments = orders[p].ravel() if units.kept.all() else orders[p][units.kept]
            of_pair = totals[..., at : at + units.shape[1]]
            _write_unit_sums(group.tables[p], segments, units.starts, of_pair)
            if human is not None:
                replicate = np.nonzero(units.kept)[0]
                difference = (human[replicate, a, segments] - human[replicate, b, segments]) * self.scale
                of_pair[-1] = units.sums(difference[:, None])[..., 0]
            at += units.shape[1]
        return self._chunk(group, totals, np.concatenate([units.sizes for units in cuts], axis=1))

    def units_of(self, present: Bools) -> RaggedUnits:
        """Cut the segments that are present, (assignments, n), into as many units as all n would make."""
        n_units, keeps = self._n_units(present.shape[1]), self.remainder == "keep"
        return RaggedUnits.cut(present, self.unit_size, n_units, keep_remainder=keeps)

    def _chunk(self, group: RowGroup, totals: Floats, sizes: Ints) -> Chunk:
        """Return the sums (2 C + 1, assignments, U) of units with ``sizes`` segments, as metric and rating sums."""
        columns = totals[:-1].reshape(2, group.n_columns, *totals.shape[1:])
        human = np.full(totals.shape[1:], np.nan)
        # One rounding for the whole quotient: units of equal mean difference tie, whatever their size.
        np.divide(totals[-1], sizes * self.scale, out=human, where=np.broadcast_to(sizes > 0, human.shape))
        return Chunk(group, columns, human)

    def shuffled(self, keys: NDArray[np.uint64]) -> list[Places]:
        """Return orders of each pair's pool from random keys of shape (assignments, ``pool_total``)."""
        ends = np.cumsum([pool.size for pool in self.pools])
        parts = zip(self.pools, np.split(keys, ends[:-1], axis=1), strict=True)
        # Half the bytes: orders are read once for each group of rows, and a sparse array takes them as they are.
        return [pool.astype(np.int32).take(shuffle(part)) for pool, part in parts]


def shuffle(keys: NDArray[np.uint64]) -> Ints:
    """Return a uniform permutation per row. Sorting random 64-bit keys is three times as fast as shuffling rows."""
    n = keys.shape[1]
    bits = np.uint64(max(1, (n - 1).bit_length()))
    mask = (np.uint64(1) << bits) - np.uint64(1)
    return (np.sort((keys & ~mask) | np.arange(n, dtype=np.uint64), axis=1) & mask).view(np.int64)


def _split(table: Floats, unit_size: int) -> _SplitTable:
    # Sums of whole numbers below 2^24 are exact in single precision: counts, tenths of weights, scaled ratings.
    whole = (table == np.round(table)).all(axis=0) & (np.abs(table).max(axis=0) * unit_size < 2**24)
    single_at, double_at = np.flatnonzero(whole), np.flatnonzero(~whole)
    single = np.ascontiguousarray(table[:, single_at], dtype=np.float32)
    return _SplitTable(single, np.ascontiguousarray(table[:, double_at]), single_at, double_at)


def _write_unit_sums(table: _SplitTable, segments: Places, starts: Ints, totals: Floats) -> None:
    """Write the table's sums over each unit u, segments[starts[u]:starts[u + 1]], to (width, assignments, units)."""
    for part, where in ((table.single, table.single_at), (table.double, table.double_at)):
        if where.size:
            sums = _indicator(np.ones(segments.size, part.dtype), segments, starts, len(part)) @ part
            totals[where] = sums.T.reshape(where.size, *totals.shape[1:])


def _indicator(data: NDArray[Any], segments: Places, starts: Ints, n_segments: int) -> sparse.csr_array:
    """Return units x segments, with ``data`` where a unit holds a segment."""
    ends = np.append(starts, segments.size).astype(segments.dtype)
    return sparse.csr_array((data, segments, ends), shape=(starts.size, n_segments))
