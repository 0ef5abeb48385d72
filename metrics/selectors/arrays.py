"""The arrays of a score run, stored in its shards: segments, their scores, and the statistics of system scores.

T systems in the order of ``SystemScore.position``, S segments in the order of the items, D statistics.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import BinaryField, F, Func, QuerySet, Value

from annotation.models import Item, System
from metrics.models import ScoreRun, ScoreShard, ShardStep
from metrics.scoring.aggregates import Aggregate, aggregate_from
from metrics.scoring.metric import MetricStatistics

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ARRAYS = ("item_ids", "segment_scores", "valid", "statistics", "corpus_state")
FLOAT, INTEGER = np.dtype("<f8"), np.dtype("<i8")


@dataclass(frozen=True, eq=False)
class ShardArrays:
    """n segments of a run, from index ``first`` on."""

    first: int
    item_ids: Ints  # (n,)
    scores: Floats  # (T, n); NaN where a segment has no score
    valid: Bools  # (T, n)
    packed: Floats  # (T, n, D); zero where a segment does not count


@dataclass(frozen=True, eq=False)
class RunArrays:
    """All segments of a run."""

    systems: Sequence[System]
    item_ids: Ints  # (S,)
    scores: Floats  # (T, S)
    valid: Bools  # (T, S)
    packed: Floats  # (T, S, D)
    aggregate: Aggregate

    def statistics(self) -> MetricStatistics:
        """Return what the metric returned; for a pool of outputs the statistics of the mean of segment scores."""
        return MetricStatistics(self.packed, self.valid, self.scores, self.aggregate)


def shards_of(run: ScoreRun) -> QuerySet[ScoreShard]:
    """Return the shards with scores, in order, without their arrays."""
    return ScoreShard.objects.filter(run=run, step=ShardStep.SCORES).order_by("number").defer(*ARRAYS)


def run_aggregate(run: ScoreRun) -> Aggregate:
    return aggregate_from(run.report["aggregate"])


def run_systems(run: ScoreRun) -> list[System]:
    """Return the T systems of a finished run."""
    return [score.system for score in run.scores.select_related("system").order_by("position")]


def iter_shards(run: ScoreRun) -> Iterator[ShardArrays]:
    """Yield the arrays shard by shard, so that only one must fit into memory."""
    for pk in list(shards_of(run).values_list("pk", flat=True)):
        yield shard_arrays(ScoreShard.objects.get(pk=pk))


def shard_arrays(shard: ScoreShard) -> ShardArrays:
    item_ids = np.frombuffer(shard.item_ids, dtype=INTEGER)
    valid = np.frombuffer(shard.valid, dtype=np.bool_)
    n_systems = valid.size // shard.n if shard.n else 0
    scores = np.frombuffer(shard.segment_scores, dtype=FLOAT).reshape(n_systems, shard.n)
    statistics = np.frombuffer(shard.statistics, dtype=FLOAT)
    width = statistics.size // valid.size if valid.size else 0
    packed = statistics.reshape(n_systems, shard.n, width)
    return ShardArrays(shard.first or 0, item_ids, scores, valid.reshape(n_systems, shard.n), packed)


def run_arrays(run: ScoreRun) -> RunArrays:
    """Return all arrays of a finished run at once: 8 (T S (D + 1)) bytes."""
    shards = [shard for shard in iter_shards(run) if shard.item_ids.size]
    return RunArrays(
        run_systems(run),
        np.concatenate([shard.item_ids for shard in shards]),
        np.concatenate([shard.scores for shard in shards], axis=1),
        np.concatenate([shard.valid for shard in shards], axis=1),
        np.concatenate([shard.packed for shard in shards], axis=1),
        run_aggregate(run),
    )


def run_replicates(run: ScoreRun) -> Floats | None:
    """Return the (B, T) scores of the resamples, which all systems share; None if there are none."""
    if run.replicates is None:
        return None
    return np.frombuffer(run.replicates, dtype=FLOAT).reshape(run.bootstrap["replicates"], -1)


# --- Segments ---------------------------------------------------------------------------------------------------------


def segment_scores(run: ScoreRun, position: int) -> Floats:
    """Return the (S,) scores of the system with this position; NaN for a missing score."""
    parts = [_scores_of(row) for row in _with_scores(shards_of(run), position)]
    return np.concatenate(parts) if parts else np.zeros(0)


def segment_items(run: ScoreRun) -> Ints:
    """Return the (S,) ids of the items."""
    parts = [np.frombuffer(ids, dtype=INTEGER) for ids in shards_of(run).values_list("item_ids", flat=True)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def n_segments(run: ScoreRun) -> int:
    """Return S of a finished run."""
    return int(run.report.get("items", 0))


def items_at(run: ScoreRun, indices: Sequence[int]) -> list[int]:
    """Return the ids of the items of these segments."""
    items: dict[int, int] = {}
    for shard, first, held in _shards_holding(run, indices):
        ids = np.frombuffer(shard.item_ids, dtype=INTEGER)
        items |= {index: int(ids[index - first]) for index in held}
    return [items[index] for index in indices]


def segments_at(run: ScoreRun, indices: Sequence[int]) -> tuple[list[int], Floats]:
    """Return item ids and every system's scores, (T, len(indices)), of these segments; NaN if a segment has none."""
    items: dict[int, int] = {}
    by_index: dict[int, Floats] = {}
    for shard, first, held in _shards_holding(run, indices, "n", "segment_scores"):
        scores = np.frombuffer(shard.segment_scores, dtype=FLOAT).reshape(-1, shard.n)
        ids = np.frombuffer(shard.item_ids, dtype=INTEGER)
        items |= {index: int(ids[index - first]) for index in held}
        by_index |= {index: scores[:, index - first] for index in held}
    columns = [by_index[index] for index in indices]
    return [items[index] for index in indices], np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def segment_index(run: ScoreRun, item: Item) -> int | None:
    """Return the item's index among the segments of a finished run; None if it was left out."""
    if item.dataset_id != run.dataset_id:
        return None
    shards = ScoreShard.objects.filter(run=run, step=ShardStep.SCORES, first__isnull=False)
    holding = shards.filter(start__lte=item.position, stop__gt=item.position).only("first", "item_ids").first()
    if holding is None or holding.first is None:
        return None
    within = np.flatnonzero(np.frombuffer(holding.item_ids, dtype=INTEGER) == item.pk)
    return holding.first + int(within[0]) if within.size else None


def _shards_holding(run: ScoreRun, indices: Sequence[int], *also: str) -> list[tuple[ScoreShard, int, list[int]]]:
    """Return each shard that holds some of the segments, the index of its first segment, and the indices it holds.

    Loads the shard's item ids and the fields ``also``.
    """
    holding = []
    for pk, first, n in list(shards_of(run).values_list("pk", "first", "n")):
        held = [index for index in indices if first is not None and first <= index < first + n]
        if first is not None and held:
            holding.append((ScoreShard.objects.only("first", "item_ids", *also).get(pk=pk), first, held))
    return holding


def _with_scores(shards: QuerySet[ScoreShard], position: int) -> QuerySet[ScoreShard]:
    """Add ``scores``, the bytes of one system."""
    length = F("n") * FLOAT.itemsize
    substring = Func(
        F("segment_scores"), length * Value(position) + 1, length, function="substring", output_field=BinaryField()
    )
    return shards.annotate(scores=substring)


def _scores_of(row: Any) -> Floats:
    """Return the scores that `_with_scores` adds to a shard, an attribute that the model does not have."""
    return np.frombuffer(row.scores, dtype=FLOAT)
