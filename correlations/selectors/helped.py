"""Systems' mean ratings in a campaign, and their differences, with the help of a metric's scores."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.core.numbers import counted, decimals, finite_or_none
from annotation.models import Campaign, Criterion, JobState
from annotation.results.selectors.counted import CountedRatings, counted_ratings
from annotation.results.selectors.verdicts import shared_criteria
from correlations.selectors.inputs import FloatArray
from correlations.stats.helped import ENOUGH_OUTPUTS, TOO_FEW, regression_difference
from correlations.stats.worth import RegressionEstimate, regression_estimate
from metrics.models import ScoreRun, SystemScore
from metrics.scoring.external import SEGMENT
from metrics.scoring.settings import with_settings
from metrics.selectors.arrays import run_systems, segment_items, segment_scores
from metrics.selectors.runs import metric_label, run_metric
from metrics.subsets import Subset

MOST_RUNS = 100  # to choose from
PARTS = {2: "second", 5: "fifth", 10: "tenth"}  # of the items, as if raters had seen these alone
WORTH_SAYING = 0.02  # share of ratings saved
TOO_FEW_ITEMS = f"fewer than {ENOUGH_OUTPUTS} items with scores and ratings of both"


class RatedSystems(NamedTuple):
    """Systems that a campaign rates, and whether they have outputs that no rating counts for: a metric may help."""

    ids: list[int]
    have_unrated_outputs: bool


@dataclass(frozen=True)
class Helped:
    """A mean rating, or a difference of two, from the ratings alone and with the scores."""

    name: str
    rated: int
    scored: int
    estimate: RegressionEstimate | None
    too_few: str  # why there is no estimate

    @property
    def reason(self) -> str:
        return self.too_few if self.estimate is None else self.estimate.reason or ""

    @property
    def saved(self) -> float | None:
        return None if self.estimate is None else finite_or_none(self.estimate.saved)

    @property
    def is_defined(self) -> bool:
        return self.saved is not None

    @property
    def helps(self) -> bool:
        return self.saved is not None and self.saved >= WORTH_SAYING


@dataclass(frozen=True)
class HelpedCriterion:
    """A criterion: each system, and each two systems over the items that both answered."""

    criterion: str
    systems: Sequence[Helped]
    pairs: Sequence[Helped]

    @property
    def saved(self) -> float | None:
        """Return the share of ratings saved over all systems."""
        estimates = [each.estimate for each in self.systems if each.is_defined and each.estimate]
        without = sum(estimate.mean_error**2 for estimate in estimates)
        return 1 - sum(estimate.standard_error**2 for estimate in estimates) / without if without else None

    @property
    def is_all_rated(self) -> bool:
        return bool(self.systems) and all(each.rated == each.scored for each in self.systems)


@dataclass(frozen=True)
class HelpedResults:
    """A campaign's results with the help of one run's scores, as if raters had seen only one item in ``every``."""

    run: ScoreRun
    label: str
    criteria: Sequence[HelpedCriterion]
    every: int = 1

    @property
    def sentence(self) -> str:
        """Return whether the metric helps, and how much, on the first criterion."""
        part = "" if self.every == 1 else f" This is as if raters had seen every {PARTS[self.every]} item alone."
        return f"{self._whether_it_helps}{part}"

    @cached_property
    def _whether_it_helps(self) -> str:
        if not self.criteria:
            return "No criterion of this campaign is rated in points, so there is no mean to narrow."
        first = self.criteria[0]
        saved = first.saved
        if first.is_all_rated:
            return f"{self.label} cannot help: every output that it scored is rated, so that there is nothing to add."
        if saved is None:
            why = next((each.reason for each in first.systems if each.reason), "no output is both scored and rated")
            return f"Whether {self.label} helps is not known: {why}."
        if saved < WORTH_SAYING:
            return (
                f"{self.label} does not help here: its scores say too little of these ratings "
                f"({_percent(saved)} of them saved)."
            )
        n, of = sum(each.helps for each in first.systems), counted(len(first.systems), "system")
        return (
            f"With {self.label} the means are as sure as with {_percent(saved / (1 - saved))} more ratings; its scores "
            f"narrow the interval of {n} of {of}."
        )


def helping_runs(campaign: Campaign, rated: RatedSystems) -> QuerySet[ScoreRun]:
    """Return the finished runs with scores of single outputs of a system that the campaign rates, newest first."""
    theirs = SystemScore.objects.filter(run=OuterRef("pk"), system__in=rated.ids)
    runs = ScoreRun.objects.filter(Exists(theirs), dataset=campaign.dataset_id, state=JobState.DONE)
    # Of scores that were made elsewhere a run may hold those of systems alone; other runs have no such parameter.
    of_outputs = Q(parameters__level__isnull=True) | Q(parameters__level=SEGMENT)
    return runs.filter(of_outputs).order_by("-number")


def rated_systems(campaign: Campaign) -> RatedSystems:
    """Return the systems that a campaign rates.

    A system is not rated itself if ratings count for it only where it gives the text of one with more rated outputs,
    as a person's responses do that are references, too.
    """
    rated = counted_ratings([campaign])
    system, response = rated.outputs.system, rated.outputs.response
    is_rated = np.isin(response, rated.ratings.response_id)
    systems, code, n_outputs = np.unique(system, return_inverse=True, return_counts=True)
    n_rated = np.bincount(code[is_rated], minlength=systems.size)
    texts, text = np.unique(response, return_inverse=True)
    most = np.zeros(texts.size, dtype=np.int64)
    np.maximum.at(most, text, n_rated[code])
    itself = np.unique(code[is_rated & (n_rated[code] == most[text])])
    return RatedSystems(systems[itself].tolist(), bool((n_rated[itself] < n_outputs[itself]).any()))


def helping_run(campaign: Campaign, number: int | None, rated: RatedSystems) -> ScoreRun | None:
    """Return the run of this number, by default the newest that judges quality; None if there is none."""
    runs = helping_runs(campaign, rated)
    if number is not None:
        return runs.filter(number=number).first()
    newest = list(runs[:MOST_RUNS])
    return next(filter(judges_quality, newest), newest[0] if newest else None)


def judges_quality(run: ScoreRun) -> bool:
    """Return whether the run's metric says how good outputs are, and not only how long, say."""
    metric = run_metric(run)
    return metric is not None and metric.judges_quality


def run_name(run: ScoreRun) -> str:
    """Return the metric with its settings, and its references if it reads any."""
    metric, name = run_metric(run), with_settings(metric_label(run), run.signature)
    if metric is None or not metric.needs_references:
        return name
    return f"{name}, {Subset.from_mapping(run.subset).label}"


def helped_results(campaign: Campaign, run: ScoreRun, every: int = 1) -> HelpedResults:
    """Return systems' means on each criterion that is rated in points, with and without the run's scores.

    If all are rated, only ratings of one item in ``every`` count: what a metric would have saved.
    """
    label = f"{metric_label(run)} (run {run.number})"
    rated = counted_ratings([campaign])
    systems, items = run_systems(run), segment_items(run)
    scores = np.stack([segment_scores(run, position) for position in range(len(systems))])
    place = {pk: index for index, pk in enumerate(items.tolist())}
    codes = {system.pk: t for t, system in enumerate(systems)}
    names = [system.name for system in systems]
    criteria = []
    for (criterion,) in shared_criteria([campaign]):
        if criterion.scale.ranked != "means":
            continue
        ratings = _mean_ratings(rated, criterion, codes, place)
        ratings[:, np.arange(len(place)) % every != 0] = np.nan
        if np.isfinite(ratings).any():
            criteria.append(_criterion(criterion.name, names, ratings, scores))
    return HelpedResults(run, label, criteria, every)


def _mean_ratings(
    rated: CountedRatings, criterion: Criterion, codes: dict[int, int], place: dict[int, int]
) -> FloatArray:
    """Return the mean rating of each output of the run, (T, S); NaN for an output without a rating."""
    ratings = rated.of([criterion.pk])
    values = criterion.scale.weighed(ratings.value)
    row, output = rated.outputs.credited(ratings.response_id)
    system = np.array([codes.get(pk, -1) for pk in rated.outputs.system[output].tolist()], dtype=np.int64)
    item = np.array([place.get(pk, -1) for pk in rated.outputs.item[output].tolist()], dtype=np.int64)
    there = (system >= 0) & (item >= 0)
    cell = system[there] * len(place) + item[there]
    size = len(codes) * len(place)
    total = np.bincount(cell, weights=np.asarray(values, dtype=np.float64)[row[there]], minlength=size)
    count = np.bincount(cell, minlength=size)
    mean = np.full(size, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean.reshape(len(codes), len(place))


def _criterion(name: str, names: Sequence[str], ratings: FloatArray, scores: FloatArray) -> HelpedCriterion:
    rated = np.flatnonzero(np.isfinite(ratings).any(axis=1)).tolist()
    systems = [_system(names[t], ratings[t], scores[t]) for t in rated]
    means = np.array([np.nanmean(ratings[t]) for t in rated])
    best_first = [rated[place] for place in np.argsort(-means, kind="stable").tolist()]
    pairs = [
        _pair(f"{names[a]} – {names[b]}", (ratings[a], ratings[b]), (scores[a], scores[b]))
        for a, b in combinations(best_first, 2)
    ]
    order = np.argsort(-means, kind="stable").tolist()
    return HelpedCriterion(name, [systems[place] for place in order], pairs)


def _system(name: str, ratings: FloatArray, scores: FloatArray) -> Helped:
    scored = np.isfinite(scores)
    both = scored & np.isfinite(ratings)
    estimate = None
    if both.sum() >= ENOUGH_OUTPUTS:
        estimate = regression_estimate(ratings[both], scores[both], scores[scored])
    return Helped(name, int(both.sum()), int(scored.sum()), estimate, TOO_FEW)


def _pair(name: str, ratings: tuple[FloatArray, FloatArray], scores: tuple[FloatArray, FloatArray]) -> Helped:
    scored = np.isfinite(scores[0]) & np.isfinite(scores[1])
    both = scored & np.isfinite(ratings[0]) & np.isfinite(ratings[1])
    estimate = regression_difference(*ratings, *scores) if both.sum() >= ENOUGH_OUTPUTS else None
    return Helped(name, int(both.sum()), int(scored.sum()), estimate, TOO_FEW_ITEMS)


def _percent(share: float) -> str:
    return f"{decimals(100 * share, 0)} %"


# --- Downloads --------------------------------------------------------------------------------------------------------

COLUMNS = (
    *("criterion", "of", "name", "rated", "scored", "mean", "low", "high"),
    *("with_scores", "with_scores_low", "with_scores_high", "ratings_saved", "undefined_reason"),
)


def table_rows(results: HelpedResults) -> Iterator[Sequence[object]]:
    for criterion in results.criteria:
        for of, entries in (("system", criterion.systems), ("difference", criterion.pairs)):
            for each in entries:
                yield (criterion.criterion, of, each.name, each.rated, each.scored, *_numbers(each), each.reason)


def _numbers(each: Helped) -> tuple[float | None, ...]:
    estimate = each.estimate
    if estimate is None:
        return (None,) * 7
    numbers = (estimate.mean, *estimate.mean_interval, estimate.estimate, *estimate.interval, estimate.saved)
    return tuple(None if math.isnan(number) else number for number in numbers)
