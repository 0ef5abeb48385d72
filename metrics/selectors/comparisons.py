"""Pairs of a run's systems, compared on the same resamples of its segments."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.core.cache import cache

from metrics.models import ScoreRun, SystemScore
from metrics.scoring.aggregates import MeanAggregate, aggregate_from
from metrics.scoring.arrays import Ints
from metrics.scoring.comparisons import (
    PairOfSystems,
    best_first,
    compare_on_shared_segments,
    compare_systems,
    place_ranges,
)
from metrics.scoring.resampling import FEW_SEGMENTS
from metrics.selectors.arrays import iter_shards, run_arrays, run_replicates
from metrics.selectors.runs import is_higher_better, run_metric

MOST_IN_MATRIX = 14
CACHE_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Ranked:
    """A system, and the ranks that it can have if only significant differences count."""

    score: SystemScore
    first: int
    last: int

    @property
    def ranks(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Pair:
    better: SystemScore
    worse: SystemScore
    test: PairOfSystems
    n_items: int = 0  # that the test counts

    @property
    def has_few_items(self) -> bool:
        """Return whether Student's t makes p visibly larger than the range suggests."""
        return self.n_items < FEW_SEGMENTS

    @property
    def scores(self) -> tuple[SystemScore, SystemScore]:
        return self.better, self.worse

    @property
    def keys(self) -> tuple[int, int]:
        return self.better.pk, self.worse.pk


@dataclass(frozen=True)
class Comparisons:
    """All pairs of a finished run, or the reason why there are none."""

    scores: list[SystemScore]  # best first
    pairs: list[Pair]
    ranks: list[tuple[int, int]]  # first and last possible, in the order of ``scores``
    reason: str = ""
    n_resamples: int = 0
    judges_quality: bool = True  # of the metric; if not, a better score is only a higher one

    @cached_property
    def ranked(self) -> list[Ranked]:
        return [Ranked(score, *ranks) for score, ranks in zip(self.scores, self.ranks, strict=True)]

    @cached_property
    def _by_systems(self) -> dict[frozenset[int], Pair]:
        return {frozenset((pair.better.system_id, pair.worse.system_id)): pair for pair in self.pairs}

    def pair(self, system_id: int, other_id: int) -> Pair | None:
        return self._by_systems.get(frozenset((system_id, other_id)))

    @property
    def matrix(self) -> list[tuple[Ranked, list[Pair | None]]]:
        """Return a row per system with its pairs; None for the system itself."""
        return [
            (row, [self.pair(row.score.system_id, column.system_id) for column in self.scores]) for row in self.ranked
        ]

    @property
    def fits_matrix(self) -> bool:
        return len(self.scores) <= MOST_IN_MATRIX

    @property
    def n_different(self) -> int:
        return sum(pair.test.differs for pair in self.pairs)

    @property
    def is_one_ahead_of_all(self) -> bool:
        """Return whether the first system was tested against each other one and is better; two may share no segment."""
        first = self.scores[0].pk
        return all(pair.test.differs and pair.better.pk == first for pair in self.pairs if first in pair.keys)

    @property
    def leaders(self) -> list[SystemScore]:
        """Return the systems that may be first."""
        return [ranked.score for ranked in self.ranked if ranked.first == 1]


def why_no_intervals(run: ScoreRun) -> str:
    """Return why a finished run has no resamples; empty if it has them."""
    return str(run.bootstrap.get("reason", ""))


def comparisons_of(run: ScoreRun) -> Comparisons:
    """Test every pair of the run's systems on its resamples."""
    metric = run_metric(run)
    higher_is_better = is_higher_better(run)
    scores = list(run.scores.select_related("system").order_by("position"))
    values = [np.nan if score.score is None else score.score for score in scores]
    ordered = [scores[i] for i in best_first(values, higher_is_better=higher_is_better)]
    replicates = run_replicates(run)
    if replicates is None:
        return Comparisons(ordered, [], [(1, len(scores))] * len(scores), why_no_intervals(run))
    if len(scores) < 2:
        return Comparisons(ordered, [], [(1, 1)] * len(scores), "there is one system")
    n_segments = max(score.n_segments for score in scores)
    if compares_shared_segments(run.report):
        tests = _on_shared_segments(run, higher_is_better=higher_is_better)
    else:
        tests = compare_systems(
            values,
            replicates,
            n_segments=n_segments,
            higher_is_better=higher_is_better,
            shared=shared_segments(run, run.report),
        )
    ranks = dict(zip((score.pk for score in scores), place_ranges(len(scores), tests), strict=True))
    pairs = [
        Pair(scores[test.first], scores[test.second], test, n_segments if test.segments is None else test.segments)
        for test in tests
    ]
    return Comparisons(
        ordered,
        pairs,
        [ranks[score.pk] for score in ordered],
        n_resamples=len(replicates),
        judges_quality=metric is None or metric.judges_quality,
    )


def compares_shared_segments(report: Mapping[str, Any]) -> bool:
    """Return whether systems' scores are means over different segments, so that pairs are compared on shared ones."""
    return bool(report.get("items_partly")) and isinstance(aggregate_from(report["aggregate"]), MeanAggregate)


def shared_segments(run: ScoreRun, report: Mapping[str, Any]) -> Ints | None:
    """Return (T, T) how many segments count for both of two systems; None if all count for all."""
    if not report.get("items_partly"):
        return None
    counts = [
        shard.valid.astype(np.int64) @ shard.valid.T.astype(np.int64)
        for shard in iter_shards(run)
        if shard.item_ids.size
    ]
    return sum(counts[1:], start=counts[0]) if counts else None


def _on_shared_segments(run: ScoreRun, *, higher_is_better: bool) -> list[PairOfSystems]:
    """Return the cached tests of a finished run, whose arrays do not change, by ``SystemScore.position``."""
    key = f"pairs-on-shared-segments:{run.pk}:{run.finished_at and run.finished_at.timestamp()}"
    tests: list[PairOfSystems] | None = cache.get(key)
    if tests is None:
        tests = compare_on_shared_segments(
            run_arrays(run).scores,
            higher_is_better=higher_is_better,
            replicates=run.bootstrap["replicates"],
            seed=run.bootstrap["seed"],
        )
        cache.set(key, tests, CACHE_SECONDS)
    return tests


PAIR_FIELDS = {
    "better": "better.system.name",
    "worse": "worse.system.name",
    "better_score": "better.score",
    "worse_score": "worse.score",
    "difference": "test.difference",
    "low": "test.low",
    "high": "test.high",
    "p_value": "test.p_value",
    "p_corrected": "test.adjusted",
    "differs": "test.differs",
    "undefined_reason": "test.reason",
    "shared_items": "test.segments",
}
PAIR_TYPES = dict.fromkeys(PAIR_FIELDS.keys() - {"better", "worse", "differs", "undefined_reason"}, "number")
