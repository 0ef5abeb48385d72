"""From the shards of a run to its result: scores and intervals, the same however the run was cut."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.core.progress import noop
from annotation.models import System
from metrics.errors import MetricsError
from metrics.models import ScoreRun, ScoreShard, ShardStep, SystemScore
from metrics.scoring.aggregates import aggregate_from
from metrics.scoring.resampling import (
    BLOCK,
    REPEATED,
    REPLICATES,
    SEED,
    Interval,
    bootstrap_replicates,
    percentile_interval,
)
from metrics.selectors.arrays import iter_shards, shards_of
from metrics.selectors.runs import ordered_systems
from metrics.services.scoring import little_endian, system_score_fields

FloatArray = npt.NDArray[np.float64]
Step = Callable[[int, int], None]

NAMED_ITEMS = 1000  # items left out that a run's report names; its shards name all
COUNTS = ("items", "items_scored", "items_partly", "references", "references_in_release")


@dataclass(frozen=True, eq=False)
class RunResult:
    """What is stored when all shards are done."""

    report: dict[str, Any]
    bootstrap: dict[str, Any]
    replicates: bytes | None
    scores: list[SystemScore]


def run_result(run: ScoreRun, progress: Step = noop) -> RunResult:
    """Sums, scores and intervals, from one shard at a time."""
    report = joined_report(list(shards_of(run).values_list("report", flat=True)))
    if not report["items"]:
        counts = "; ".join(f"{entry['reason']}: {entry['count']}" for entry in report["dropped"])
        raise MetricsError(f"No item can be scored. Left out: {counts or 'the data set is empty'}.")
    aggregate, systems = aggregate_from(report["aggregate"]), ordered_systems(run)
    is_pool, pooled = "pooled" in report, report.pop("pooled", None)
    n, by_system = _counted(run, len(systems))
    sums = np.zeros((len(systems), aggregate.width))

    def summed() -> Iterator[FloatArray]:
        for number, packed in enumerate(blocks(counted_statistics(run))):
            np.add(sums, packed.sum(axis=1), out=sums)
            yield packed
            progress(number + 1, -(-n // BLOCK))

    if n and not is_pool:
        replicates = bootstrap_replicates(summed(), n, aggregate, replicates=REPLICATES, seed=SEED)
        bootstrap: dict[str, Any] = {"replicates": REPLICATES, "seed": SEED, "method": "percentile"}
    else:
        replicates, bootstrap = None, {"reason": REPEATED if n else "no segment counts"}
        for _ in summed() if is_pool else ():
            pass  # nothing is drawn; their sum may be asked for
    scores = aggregate(sums) if pooled is None else np.array(pooled, dtype=np.float64)
    intervals: list[Interval | None] = [None] * len(systems)
    if replicates is not None:
        intervals = [percentile_interval(own) for own in replicates.T]
    return RunResult(
        report | {"pooled": is_pool},
        bootstrap | _undefined(systems, intervals),
        None if replicates is None else little_endian(replicates, "<f8"),
        [
            SystemScore(
                run=run,
                system=system,
                position=place,
                **system_score_fields(aggregate, sums[place], by_system[place], float(scores[place]), intervals[place]),
            )
            for place, system in enumerate(systems)
        ],
    )


def run_store(run: ScoreRun, result: RunResult) -> dict[str, Any]:
    """Store the scores, and return the report, with which the run's job ends. In the transaction that ends it."""
    first = 0
    for pk, n in list(shards_of(run).values_list("pk", "n")):
        ScoreShard.objects.filter(pk=pk).update(first=first)
        first += n
    run.shards.exclude(step=ShardStep.SCORES).delete()
    run.scores.all().delete()
    SystemScore.objects.bulk_create(result.scores)
    ScoreRun.objects.filter(pk=run.pk).update(bootstrap=result.bootstrap, replicates=result.replicates)
    return result.report


def counted_statistics(run: ScoreRun) -> Iterator[FloatArray]:
    """(T, n, D) of each shard: the segments that count for any system. The others would add nothing."""
    for shard in iter_shards(run):
        if shard.item_ids.size:
            yield shard.packed[:, shard.valid.any(axis=0)]


def blocks(parts: Iterable[FloatArray], size: int = BLOCK) -> Iterator[FloatArray]:
    """Statistics (T, n, D) in parts of ``size`` segments; only the last may hold fewer.

    They do not depend on where the parts given were cut, and so neither does what is added up block by block.
    """
    held: list[FloatArray] = []
    waiting = 0
    for part in parts:
        place = 0
        while part.shape[1] - place >= size - waiting:
            stop = place + size - waiting
            yield np.concatenate([*held, part[:, place:stop]], axis=1)
            held, waiting, place = [], 0, stop
        if place < part.shape[1]:
            held.append(part[:, place:])
            waiting += part.shape[1] - place
    if waiting:
        yield np.concatenate(held, axis=1)


def joined_report(reports: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Counts of all shards added up; of the items left out the first are named."""
    total: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    counts: dict[str, int] = {}
    dropped: dict[str, list[str]] = {}
    for report in reports:
        for name in COUNTS:
            total[name] += report.get(name, 0)
        for reason, items in report["dropped"].items():
            counts[reason] = counts.get(reason, 0) + len(items)
            named = dropped.setdefault(reason, [])
            named += items[: NAMED_ITEMS - len(named)]
        total |= {key: report[key] for key in ("aggregate", "pooled") if key in report}
    return total | {
        "dropped": [{"reason": reason, "count": counts[reason], "items": items} for reason, items in dropped.items()],
    }


def _counted(run: ScoreRun, n_systems: int) -> tuple[int, list[int]]:
    """How many segments count for any system, and for each."""
    total, by_system = 0, np.zeros(n_systems, dtype=np.int64)
    for content in shards_of(run).values_list("valid", flat=True).iterator(1):
        valid = np.frombuffer(content, dtype=np.bool_).reshape(n_systems, -1)
        total += int(valid.any(axis=0).sum())
        by_system += valid.sum(axis=1)
    return total, by_system.tolist()


def _undefined(systems: Sequence[System], intervals: Sequence[Interval | None]) -> dict[str, Any]:
    """Systems whose interval is undefined though there are resamples, and why."""
    pairs = zip(systems, intervals, strict=True)
    reasons = {system.name: found.reason for system, found in pairs if found is not None and found.reason}
    return {"undefined": reasons} if reasons else {}
