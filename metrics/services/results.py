"""Compute a run's scores and intervals from its shards; they do not depend on how it was divided."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.core.numbers import finite_or_none
from annotation.core.progress import noop
from annotation.models import System
from metrics.errors import MetricsError
from metrics.models import ScoreRun, ScoreShard, ShardStep, SystemScore
from metrics.scoring.aggregates import aggregate_from
from metrics.scoring.comparisons import compare_on_shared_segments, compare_systems, p_of_best, place_ranges
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
from metrics.selectors.comparisons import compares_shared_segments, shared_segments
from metrics.selectors.predictions import trained_systems
from metrics.selectors.runs import is_higher_better, ordered_systems, run_metric
from metrics.selectors.seen import known_of_systems
from metrics.services.scoring import little_endian, model_store, system_score_fields

FloatArray = npt.NDArray[np.float64]
Step = Callable[[int, int], None]

NAMED_ITEMS = 1000  # left-out items that a run's report names; its shards name all
COUNTS = ("items", "items_scored", "items_partly", "references", "references_in_release")


@dataclass(frozen=True, eq=False)
class RunResult:
    """The result of a run whose shards are done."""

    report: dict[str, Any]
    bootstrap: dict[str, Any]
    replicates: bytes | None
    scores: list[SystemScore]


def run_result(run: ScoreRun, progress: Step = noop) -> RunResult:
    """Compute sums, scores and intervals, reading one shard at a time."""
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
            pass  # no resamples; a pool's scores may still need the sums
    scores = aggregate(sums) if pooled is None else np.array(pooled, dtype=np.float64)
    intervals: list[Interval | None] = [None] * len(systems)
    if replicates is not None:
        intervals = [percentile_interval(column) for column in replicates.T]
    standings: list[dict[str, Any]] = [{}] * len(systems)
    if replicates is not None and len(systems) > 1:
        standings = _standings(run, report, scores, replicates, max(by_system))
    return RunResult(
        report | {"pooled": is_pool} | _seen(run, systems),
        bootstrap | _undefined(systems, intervals),
        None if replicates is None else little_endian(replicates, "<f8"),
        [
            SystemScore(
                run=run,
                system=system,
                position=i,
                **system_score_fields(aggregate, sums[i], by_system[i], float(scores[i]), intervals[i]),
                **standings[i],
            )
            for i, system in enumerate(systems)
        ],
    )


def _seen(run: ScoreRun, systems: list[System]) -> dict[str, Any]:
    """Return how many of the outputs the run's model was trained on, for a report; empty for other metrics."""
    metric = run_metric(run)
    if metric is None:
        return {}
    known = known_of_systems(metric, systems, model_store(), learnt_from=trained_systems(run))
    return {} if known is None else {"seen": known._asdict()}


def _standings(
    run: ScoreRun, report: dict[str, Any], scores: FloatArray, replicates: FloatArray, n_segments: int
) -> list[dict[str, Any]]:
    """Return what is stored of all pairs of systems for each system, so that no page has to test them."""
    higher_is_better = is_higher_better(run)
    if compares_shared_segments(report):
        of_segments = np.concatenate([shard.scores for shard in iter_shards(run) if shard.item_ids.size], axis=1)
        pairs = compare_on_shared_segments(
            of_segments, higher_is_better=higher_is_better, replicates=REPLICATES, seed=SEED
        )
    else:
        pairs = compare_systems(
            scores.tolist(),
            replicates,
            n_segments=n_segments,
            higher_is_better=higher_is_better,
            shared=shared_segments(run, report),
        )
    places = place_ranges(scores.size, pairs)
    p_values = p_of_best(scores, pairs, higher_is_better=higher_is_better).tolist()
    return [
        {"first_place": first, "last_place": last, "p_best": finite_or_none(p)}
        for (first, last), p in zip(places, p_values, strict=True)
    ]


def run_store(run: ScoreRun, result: RunResult) -> dict[str, Any]:
    """Store the scores and return the run's report. Call it in the transaction that ends the run."""
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
    """Yield each shard's statistics (T, n, D) of segments that count for any system; the others add nothing."""
    for shard in iter_shards(run):
        if shard.item_ids.size:
            yield shard.packed[:, shard.valid.any(axis=0)]


def blocks(parts: Iterable[FloatArray], size: int = BLOCK) -> Iterator[FloatArray]:
    """Yield statistics (T, n, D) in blocks of ``size`` segments; only the last may be smaller.

    The blocks, and so sums over them, do not depend on how ``parts`` were divided.
    """
    waiting: list[FloatArray] = []
    n_waiting = 0
    for part in parts:
        start = 0
        while part.shape[1] - start >= size - n_waiting:
            stop = start + size - n_waiting
            yield np.concatenate([*waiting, part[:, start:stop]], axis=1)
            waiting, n_waiting, start = [], 0, stop
        if start < part.shape[1]:
            waiting.append(part[:, start:])
            n_waiting += part.shape[1] - start
    if n_waiting:
        yield np.concatenate(waiting, axis=1)


def joined_report(reports: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Add up the counts of all shards; name the first of the left-out items."""
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
    """Return how many segments count for any system, and for each."""
    total, by_system = 0, np.zeros(n_systems, dtype=np.int64)
    for content in shards_of(run).values_list("valid", flat=True).iterator(1):
        valid = np.frombuffer(content, dtype=np.bool_).reshape(n_systems, -1)
        total += int(valid.any(axis=0).sum())
        by_system += valid.sum(axis=1)
    return total, by_system.tolist()


def _undefined(systems: Sequence[System], intervals: Sequence[Interval | None]) -> dict[str, Any]:
    """Return the reasons of intervals that are undefined although there are resamples."""
    pairs = zip(systems, intervals, strict=True)
    reasons = {system.name: interval.reason for system, interval in pairs if interval is not None and interval.reason}
    return {"undefined": reasons} if reasons else {}
