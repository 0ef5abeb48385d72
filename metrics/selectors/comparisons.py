"""The systems of a run against each other, on the same resamples of its segments."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.core.cache import cache

from metrics.models import ScoreRun, SystemScore
from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.comparisons import (
    LEVEL,
    PairOfSystems,
    best_first,
    compare_on_shared_segments,
    compare_systems,
    place_ranges,
)
from metrics.selectors.arrays import run_aggregate, run_arrays, run_replicates
from metrics.selectors.runs import run_metric

MOST_IN_MATRIX = 14
KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Ranked:
    """A system, and the places it can have when only differences that stand are heeded."""

    score: SystemScore
    first: int
    last: int

    @property
    def places(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Pair:
    better: SystemScore
    worse: SystemScore
    test: PairOfSystems

    @property
    def scores(self) -> tuple[SystemScore, SystemScore]:
        return self.better, self.worse

    @property
    def width(self) -> float:
        return self.test.high - self.test.low


@dataclass(frozen=True)
class Comparisons:
    """All pairs of a finished run, or the reason why there are none."""

    scores: list[SystemScore]  # best first
    pairs: list[Pair]
    places: list[tuple[int, int]]  # in the order of ``scores``
    reason: str = ""
    n_resamples: int = 0

    @property
    def too_many(self) -> bool:
        """Whether no corrected p can be small enough: p of one pair is never below 1 / (resamples + 1)."""
        return len(self.pairs) > LEVEL * (self.n_resamples + 1)

    @cached_property
    def ranked(self) -> list[Ranked]:
        return [Ranked(score, *own) for score, own in zip(self.scores, self.places, strict=True)]

    @cached_property
    def _by_systems(self) -> dict[frozenset[int], Pair]:
        return {frozenset((pair.better.system_id, pair.worse.system_id)): pair for pair in self.pairs}

    def pair(self, one: int, other: int) -> Pair | None:
        """Of the systems with these ids."""
        return self._by_systems.get(frozenset((one, other)))

    @property
    def matrix(self) -> list[tuple[Ranked, list[Pair | None]]]:
        """A row per system: it against every other, itself left empty."""
        return [
            (row, [self.pair(row.score.system_id, column.system_id) for column in self.scores]) for row in self.ranked
        ]

    @property
    def fits_matrix(self) -> bool:
        return len(self.scores) <= MOST_IN_MATRIX

    @property
    def n_apart(self) -> int:
        return sum(pair.test.differs for pair in self.pairs)

    @property
    def leaders(self) -> list[SystemScore]:
        """Those that may have the first place."""
        return [one.score for one in self.ranked if one.first == 1]


def why_no_intervals(run: ScoreRun) -> str:
    """Return why a finished run has no resamples; empty if it has them."""
    return str(run.bootstrap.get("reason", ""))


def comparisons_of(run: ScoreRun) -> Comparisons:
    """Every pair of the run's systems, tested on its resamples."""
    metric = run_metric(run)
    higher_is_better = metric is None or metric.higher_is_better
    scores = list(run.scores.select_related("system").order_by("position"))
    values = [np.nan if score.score is None else score.score for score in scores]
    ordered = [scores[place] for place in best_first(values, higher_is_better=higher_is_better)]
    replicates = run_replicates(run)
    if replicates is None:
        return Comparisons(ordered, [], [(1, len(scores))] * len(scores), why_no_intervals(run))
    if len(scores) < 2:
        return Comparisons(ordered, [], [(1, 1)] * len(scores), "there is one system")
    if lacks_scores(run):
        tests = _on_shared_segments(run, higher_is_better=higher_is_better)
    else:
        tests = compare_systems(values, replicates, higher_is_better=higher_is_better)
    places = dict(zip((score.pk for score in scores), place_ranges(len(scores), tests), strict=True))
    pairs = [Pair(scores[test.first], scores[test.second], test) for test in tests]
    return Comparisons(ordered, pairs, [places[score.pk] for score in ordered], n_resamples=len(replicates))


def lacks_scores(run: ScoreRun) -> bool:
    """Whether systems' scores are means over different segments, so that only pairs on shared ones can be compared."""
    return bool(run.report.get("items_partly")) and isinstance(run_aggregate(run), MeanAggregate)


def _on_shared_segments(run: ScoreRun, *, higher_is_better: bool) -> list[PairOfSystems]:
    """Of a finished run, whose arrays do not change: computed once, in the order of ``SystemScore.position``."""
    key = f"pairs-on-shared-segments:{run.pk}:{run.finished_at and run.finished_at.timestamp()}"
    found: list[PairOfSystems] | None = cache.get(key)
    if found is None:
        found = compare_on_shared_segments(
            run_arrays(run).scores,
            higher_is_better=higher_is_better,
            replicates=run.bootstrap["replicates"],
            seed=run.bootstrap["seed"],
        )
        cache.set(key, found, KEPT_SECONDS)
    return found


PAIR_COLUMNS = (
    "better",
    "worse",
    "better_score",
    "worse_score",
    "difference",
    "low",
    "high",
    "p_value",
    "p_holm",
    "differs",
    "undefined_reason",
    "shared_items",
)
PAIR_TYPES = dict.fromkeys(
    ("better_score", "worse_score", "difference", "low", "high", "p_value", "p_holm", "shared_items"), "number"
)


def pair_rows(found: Comparisons) -> Iterator[tuple[Any, ...]]:
    for pair in found.pairs:
        test = pair.test
        yield (
            pair.better.system.name,
            pair.worse.system.name,
            pair.better.score,
            pair.worse.score,
            test.difference,
            test.low,
            test.high,
            test.p_value,
            test.adjusted,
            test.differs,
            test.reason,
            test.segments,
        )
