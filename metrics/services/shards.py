"""From the shards of a run to its result: sums over all segments, the same however the run was cut."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models.functions import Now

from annotation.models import JobState
from metrics.errors import MetricsError
from metrics.models import ScoreRun, ScoreShard, SystemScore
from metrics.scoring.aggregates import Aggregate, aggregate_from
from metrics.selectors.arrays import ShardArrays, iter_shards, shards_of
from metrics.selectors.runs import ordered_systems
from metrics.services.scoring import system_score_fields

FloatArray = npt.NDArray[np.float64]

EVERY_POSITION = 2**31 - 1  # after the last that an item can have
BLOCK = 1000  # segments that are summed together, whichever shards they lie in
NAMED_ITEMS = 1000  # items left out that a report names; the shards name all


def whole_run_store(run: ScoreRun, fields: dict[str, Any]) -> ScoreShard:
    """The only shard of a run, done."""
    run.shards.all().delete()
    return ScoreShard.objects.create(
        run=run, number=0, start=0, stop=EVERY_POSITION, state=JobState.DONE, started_at=Now(), finished_at=Now(),
        **fields,
    )  # fmt: skip


def run_finish(run: ScoreRun) -> dict[str, Any]:
    """Store every system's score from the shards, and return the run's report. Inside a transaction that holds it."""
    shards = list(shards_of(run))
    first = 0
    for shard in shards:
        ScoreShard.objects.filter(pk=shard.pk).update(first=first)
        first += shard.n
    report = joined_report([shard.report for shard in shards])
    if not report["items"]:
        counts = "; ".join(f"{entry['reason']}: {entry['count']}" for entry in report["dropped"])
        raise MetricsError(f"No item can be scored. Left out: {counts or 'the data set is empty'}.")
    aggregate = aggregate_from(report["aggregate"])
    systems = ordered_systems(run)
    sums, counted = _sums(run, len(systems), aggregate)
    pooled = report.pop("pooled", None)
    scores = aggregate(sums) if pooled is None else np.array(pooled, dtype=np.float64)
    run.scores.all().delete()
    SystemScore.objects.bulk_create(
        SystemScore(
            run=run,
            system=system,
            position=place,
            **system_score_fields(aggregate, sums[place], int(counted[place]), float(scores[place])),
        )
        for place, system in enumerate(systems)
    )
    return report | {"pooled": pooled is not None, "shards": len(shards)}


def _sums(run: ScoreRun, n_systems: int, aggregate: Aggregate) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """(T, D) sums of all segments, and (T,) how many count."""
    sums = np.zeros((n_systems, aggregate.width))
    counted = np.zeros(n_systems, dtype=np.int64)
    for packed, valid in blocks(iter_shards(run)):
        sums += packed.sum(axis=1)
        counted += valid.sum(axis=1)
    return sums, counted


def blocks(shards: Iterable[ShardArrays], size: int = BLOCK) -> Iterator[tuple[FloatArray, npt.NDArray[np.bool_]]]:
    """Statistics (T, size, D) of the segments in order, and which are valid; only the last may hold fewer.

    They do not depend on where the shards were cut, and so neither does what is added up block by block.
    """
    packed: list[FloatArray] = []
    valid: list[npt.NDArray[np.bool_]] = []
    waiting = 0
    for shard in shards:
        place, n = 0, shard.item_ids.size
        while n - place >= size - waiting:
            taken = slice(place, place + size - waiting)
            yield (
                np.concatenate([*packed, shard.packed[:, taken]], axis=1),
                np.concatenate([*valid, shard.valid[:, taken]], axis=1),
            )
            place, packed, valid, waiting = taken.stop, [], [], 0
        if place < n:
            packed.append(shard.packed[:, place:])
            valid.append(shard.valid[:, place:])
            waiting += n - place
    if waiting:
        yield np.concatenate(packed, axis=1), np.concatenate(valid, axis=1)


def joined_report(reports: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Counts of all shards added up; of the items left out the first are named."""
    total: dict[str, Any] = {"items": 0, "items_scored": 0, "references": 0, "references_in_release": 0}
    names = list(total)
    counts: dict[str, int] = {}
    dropped: dict[str, list[str]] = {}
    for report in reports:
        for name in names:
            total[name] += report[name]
        for reason, items in report["dropped"].items():
            counts[reason] = counts.get(reason, 0) + len(items)
            named = dropped.setdefault(reason, [])
            named += items[: NAMED_ITEMS - len(named)]
        total |= {key: report[key] for key in ("aggregate", "pooled") if key in report}
    return total | {
        "dropped": [{"reason": reason, "count": counts[reason], "items": items} for reason, items in dropped.items()]
    }
