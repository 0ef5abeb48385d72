"""Reads over score runs for pages and downloads."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Avg, Count, Exists, F, OuterRef, QuerySet

from annotation.core.errors import AnnotationError
from annotation.core.pages import newest_page
from annotation.models import Campaign, Item, JobState, Project, ReleaseWeight, Response, ResponseSource, System
from annotation.rating.selectors.ratings import campaign_criteria, current_ratings
from metrics.models import ScoreRun, SystemScore
from metrics.scoring.external import NOT_IN_FILE, External
from metrics.scoring.metric import Metric
from metrics.scoring.registry import METRICS, get_metric
from metrics.selectors.arrays import (
    items_at,
    iter_shards,
    n_segments,
    run_systems,
    scores_at,
    segment_items,
    segment_scores,
    shards_of,
)
from metrics.selectors.ranges import range_words
from metrics.subsets import Subset

PAGE = 50  # segments
RUNS_PAGE = 25
# Of scores made elsewhere: their label, the range that pages state anyhow, and a hash that the signature holds.
NEVER_SAID = ("scorer", "lowest", "highest", "content")
ALWAYS_SAID = ("max_order", "order", "k", "balance", "unit")


def run_page(
    project: Project, *, before: int | None = None, metric: str = "", state: str = ""
) -> tuple[list[ScoreRun], int | None]:
    """Return a page of runs, newest first, of a metric or in a state if given; and the id to continue from."""
    asked = {name: value for name, value in (("metric", metric), ("state", state)) if value}
    runs = ScoreRun.objects.filter(project=project, **asked).select_related("release__reference_set", "dataset")
    # Said, since a query that groups does without the model's own order.
    runs = runs.annotate(n_systems=Count("systems")).defer("report", "release__report").order_by("-pk")
    return newest_page(runs, before=before, size=RUNS_PAGE)


def run_kinds(project: Project) -> tuple[dict[str, str], list[str]]:
    """Names and labels of the metrics that the project has runs of, and the states that these are in."""
    kinds = list(ScoreRun.objects.filter(project=project).order_by().values_list("metric", "state").distinct())
    labels = {name: METRICS[name].label if name in METRICS else name for name, _ in kinds}
    labels |= {External.name: "Scores made elsewhere"} if External.name in labels else {}
    metrics = dict(sorted(labels.items(), key=lambda one: one[1].casefold()))
    return metrics, [state for state in JobState.values if state in {state for _, state in kinds}]


def ordered_systems(run: ScoreRun) -> list[System]:
    """The systems of a run in the order of its arrays: by name."""
    return sorted(run.systems.all(), key=lambda system: system.name)


def dropped_items(run: ScoreRun) -> Iterator[tuple[str, str]]:
    """Reason and external id of every item that was left out."""
    for report in shards_of(run).values_list("report", flat=True).iterator(1):
        for reason, items in report["dropped"].items():
            for item in items:
                yield reason, item


def metric_label(run: ScoreRun) -> str:
    """Scores made elsewhere are called what their makers call them."""
    metric = run_metric(run) or METRICS.get(run.metric)
    return metric.label if metric else run.metric


def run_metric(run: ScoreRun) -> Metric | None:
    """The metric with the run's parameters; None where this installation does not have it, or no longer so."""
    try:
        return get_metric(run.metric, **run.parameters)
    except ValueError:
        return None


def reads_references(run: ScoreRun) -> bool:
    """Whether the run's metric compares with references; a release may say which items are scored all the same."""
    metric = run_metric(run)
    return run.release_id is not None and (metric is None or metric.needs_references)


def unscored_reason(run: ScoreRun) -> str:
    """Why an output has no score of its own, as far as all of a run have in common."""
    if run.metric == External.name:
        return NOT_IN_FILE
    return "no usable reference" if reads_references(run) else "nothing to count"


def run_range(run: ScoreRun) -> str:
    """The published range of the metric's scores; empty where nothing is known of it."""
    metric = run_metric(run)
    if metric is None or (np.isinf(metric.low) and np.isinf(metric.high)):
        return ""
    return range_words(metric.low, metric.high)


def parameter_words(run: ScoreRun, models: Mapping[str, str]) -> str:
    """The run's parameters in a line: those of the texts always, others where they are not the usual ones."""
    metric = METRICS.get(run.metric)
    if metric is None:
        return ", ".join(f"{name} {value}" for name, value in run.parameters.items())
    words = []
    for parameter in metric.parameter_list():
        value = run.parameters.get(parameter.name, parameter.default)
        if parameter.kind == "model":
            words.append(models.get(value) or f"{parameter.label} {parameter.written(value)}")
        elif parameter.name == "tokenize":
            words.append(f"{value} tokens" if value != "none" else "tokens as they are")
        elif parameter.name == "lowercase":
            words.append("lowercase" if value else "case kept")
        elif parameter.name in NEVER_SAID:
            continue
        elif parameter.name in ALWAYS_SAID or value not in (parameter.default, "none"):
            name = parameter.label[:1].lower() + parameter.label[1:]
            words.append(name if value is True else f"{parameter.key} {parameter.written(value)}")
    return ", ".join(words)


def system_scores(run: ScoreRun) -> QuerySet[SystemScore]:
    """Best first, those without a score last."""
    metric = run_metric(run)
    lower = metric is not None and not metric.higher_is_better
    best = F("score").asc(nulls_last=True) if lower else F("score").desc(nulls_last=True)
    return SystemScore.objects.filter(run=run).select_related("system").order_by(best, "system__name")


def self_references(run: ScoreRun) -> list[tuple[str, int]]:
    """(system, segments) of systems whose own output is among the references that the run scored it with."""
    if run.release_id is None:
        return []
    held = ReleaseWeight.objects.filter(release=run.release_id, response=OuterRef("response"))
    outputs = ResponseSource.objects.filter(Exists(held), system__in=run.systems.all())
    candidates = list(outputs.order_by("system__name").values_list("system__name", "response_id", "item_id"))
    if not candidates:
        return []
    is_scored = np.isin([item for _, _, item in candidates], segment_items(run)).tolist()
    scored = [(name, pk) for (name, pk, _), counts in zip(candidates, is_scored, strict=True) if counts]
    weights = ReleaseWeight.objects.filter(release=run.release_id, response__in={pk for _, pk in scored})
    rows = list(weights.values_list("response_id", "weight", "is_original"))
    mask = Subset.from_mapping(run.subset).mask(
        np.array([weight for _, weight, _ in rows], dtype=np.float64),
        np.array([is_original for _, _, is_original in rows], dtype=np.bool_),
    )
    used = {pk for (pk, _, _), counts in zip(rows, mask.tolist(), strict=True) if counts}
    return list(Counter(name for name, pk in scored if pk in used).items())


SCORE_COLUMNS = (
    "run",
    "metric",
    "references",
    "system",
    "score",
    "low",
    "high",
    "segments",
    "undefined_reason",
    "clamped_orders",
    "precisions",
    "brevity_penalty",
    "hypothesis_length",
    "reference_length",
    "signature",
)
SCORE_TYPES = dict.fromkeys(("score", "low", "high", "brevity_penalty"), "number")


def score_rows(runs: QuerySet[ScoreRun]) -> Iterator[Sequence[Any]]:
    """One row per run and system; runs without a result have none."""
    scores = SystemScore.objects.filter(run__in=runs).select_related("run", "system")
    long = ("run__report", "run__replicates")
    scores = scores.defer(*long).order_by("-run", "system__name")
    for score in scores.iterator(500):
        details = score.details
        yield (
            score.run_id,
            score.run.metric,
            str(Subset.from_mapping(score.run.subset)),
            score.system.name,
            score.score,
            score.low,
            score.high,
            score.n_segments,
            score.undefined_reason,
            score.clamped_orders,
            details.get("precisions"),
            details.get("brevity_penalty"),
            details.get("hypothesis_length"),
            details.get("reference_length"),
            score.run.signature,
        )


SEGMENT_COLUMNS = ("item", "system", "score")
ITEMS_AT_ONCE = 1000


def segment_score_rows(run: ScoreRun) -> Iterator[tuple[str, str, float]]:
    """One row per item and system, in the order of the items; NaN where a segment has no score."""
    names = [system.name for system in run_systems(run)]
    for shard in iter_shards(run):
        for start in range(0, shard.item_ids.size, ITEMS_AT_ONCE):
            ids = shard.item_ids[start : start + ITEMS_AT_ONCE].tolist()
            external = dict(Item.objects.filter(pk__in=ids).values_list("pk", "external_id"))
            for pk, scores in zip(ids, shard.scores[:, start : start + ITEMS_AT_ONCE].T.tolist(), strict=True):
                for name, score in zip(names, scores, strict=True):
                    yield external[pk], name, score


BINS = 20
NICE = (1, 2, 2.5, 5, 10)


def segment_histogram(run: ScoreRun) -> list[dict[str, Any]]:
    """Share of each system's segments per bin of the metric's range, or of what was found where it has no bound."""
    found = {}
    for name, position in SystemScore.objects.filter(run=run).values_list("system__name", "position"):
        scores = segment_scores(run, position)
        found[name] = scores[np.isfinite(scores)]
    low, high = histogram_range(run_metric(run), np.concatenate([*found.values(), np.zeros(0)]))
    # Bounds as people write them: 0.15, not 0.15000000000000002.
    decimals = 3 - math.floor(math.log10((high - low) / BINS))
    return [
        {"system": name, "low": start, "high": end, "share": float(count / max(scores.size, 1))}
        for name, scores in found.items()
        for counts, edges in [np.histogram(scores, bins=BINS, range=(low, high))]
        for count, (start, end) in zip(counts, pairwise(round(edge, decimals) for edge in edges.tolist()), strict=True)
    ]


def histogram_range(metric: Metric | None, scores: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The published range where it is no wider than from -1 to 1; else as far as the scores go, rounded outwards."""
    low, high = (metric.low, metric.high) if metric else (-np.inf, np.inf)
    if high - low <= 2 and (not scores.size or (scores.min() >= low and scores.max() <= high)):
        if low < 0 and scores.size and scores.min() >= 0:
            low = 0.0  # nobody is below 0, as is usual with cosines
        return low, high
    if not scores.size:
        return 0.0, 1.0
    least, most = float(scores.min()), float(scores.max())
    least = min(low, least) if np.isfinite(low) else least
    step = _nice((most - least) / BINS or 1 / BINS)
    first = step * np.floor(least / step + 1e-9)
    return float(first), float(first + step * max(BINS * np.ceil((most - first) / step / BINS - 1e-9), BINS))


def _nice(step: float) -> float:
    """The next larger of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(factor for factor in NICE if factor * power >= step * (1 - 1e-9)) * power)


@dataclass(frozen=True)
class Segment:
    item: Item
    response: Response | None
    score: float | None
    rating: float | None
    n_ratings: int


SORTS = {"position": "Order of the items", "lowest": "Lowest score first", "highest": "Highest score first"}


def segment_order(run: ScoreRun, score: SystemScore, sort: str) -> npt.NDArray[np.int64]:
    """Places of the segments in the asked order; those without a score come last."""
    if sort == "position":
        return np.arange(n_segments(run))
    values = segment_scores(run, score.position)
    return np.argsort(-values if sort == "highest" else values, kind="stable")


def segments(run: ScoreRun, score: SystemScore, places: Sequence[int]) -> list[Segment]:
    """The segments at these places, with the mean of all ratings of their responses."""
    item_ids, scores = items_at(run, places), scores_at(run, score.position, places)
    items = Item.objects.in_bulk(item_ids)
    outputs = ResponseSource.objects.filter(system=score.system_id, item__in=item_ids).select_related("response")
    responses = {source.item_id: source.response for source in outputs}
    ratings = mean_ratings(run.dataset_id, [response.pk for response in responses.values()])
    found = []
    for item_id, value in zip(item_ids, scores, strict=True):
        response = responses.get(item_id)
        mean, n = ratings.get(response.pk, (None, 0)) if response else (None, 0)
        found.append(Segment(items[item_id], response, value, mean, n))
    return found


def mean_ratings(dataset_id: int, response_ids: Sequence[int]) -> dict[int, tuple[float, int]]:
    """Mean and number of the current ratings of responses; nothing where the data set's campaigns differ in scale."""
    campaigns = list(Campaign.objects.filter(dataset=dataset_id, ratings__response__in=response_ids).distinct())
    try:
        campaign_criteria(campaigns)
    except AnnotationError:
        return {}
    ratings = current_ratings(campaigns).filter(response__in=response_ids).order_by()
    rows = ratings.values("response_id").annotate(mean=Avg("value"), n=Count("pk"))
    return {row["response_id"]: (row["mean"], row["n"]) for row in rows}
