"""Score runs as pages and downloads show them."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Exists, F, OuterRef, QuerySet

from annotation.core.errors import AnnotationError
from annotation.core.exports import Column
from annotation.core.numbers import counted, finite_or_none
from annotation.core.pages import newest_page
from annotation.models import (
    Campaign,
    Dataset,
    Item,
    JobState,
    Project,
    ReleaseWeight,
    Response,
    ResponseSource,
    SourceKind,
    System,
)
from annotation.models.jobs import FINISHED_STATES
from annotation.rating.selectors.ratings import campaign_criteria, rating_columns
from metrics.models import RunGroup, ScoreRun, SystemScore
from metrics.scoring.external import NOT_IN_FILE, External
from metrics.scoring.metric import Metric
from metrics.scoring.registry import METRICS, get_metric
from metrics.selectors.arrays import (
    iter_shards,
    n_segments,
    run_systems,
    segment_items,
    segment_scores,
    segments_at,
    shards_of,
)
from metrics.selectors.corpus import plain_kinds
from metrics.selectors.predictions import NOT_PREDICTED
from metrics.selectors.ranges import range_words
from metrics.subsets import Subset

PAGE = 50  # segments
RUNS_PAGE = 25
# Parameters of imported scores that pages show elsewhere: the label, the range, a hash in the signature.
HIDDEN_PARAMETERS = ("scorer", "lowest", "highest", "content")
SHOWN_PARAMETERS = ("max_order", "order", "k", "balance", "unit")  # even with their defaults


@dataclass(frozen=True)
class Group:
    """Runs that were requested together, newest first: those of a larger group have a page of their own."""

    group: RunGroup
    runs: list[ScoreRun]
    is_open: bool

    @property
    def is_single(self) -> bool:
        return len(self.runs) == 1

    @property
    def shown(self) -> list[ScoreRun]:
        """Return the runs that are listed one by one."""
        return self.runs if self.is_open or self.is_single else []

    @property
    def n_comparable(self) -> int:
        """Return how many of them can be ticked."""
        return sum(run.state == JobState.DONE for run in self.shown)

    @property
    def first(self) -> int:
        return min(run.number for run in self.runs)

    @property
    def last(self) -> int:
        return max(run.number for run in self.runs)

    @property
    def metrics(self) -> list[str]:
        return sorted({metric_label(run) for run in self.runs}, key=str.casefold)

    @property
    def states(self) -> dict[str, int]:
        counts = Counter(run.state for run in self.runs)
        return {state: counts[state] for state in JobState.values if counts[state]}


def run_group(project: Project, pk: int | None) -> RunGroup | None:
    return None if pk is None else RunGroup.objects.filter(project=project, pk=pk).first()


def waiting_text(project: Project) -> str:
    """Say how many runs of the project are queued, and how many are being computed; empty if all are finished."""
    unfinished = ScoreRun.objects.filter(project=project).exclude(state__in=FINISHED_STATES)
    counts = Counter(unfinished.values_list("state", flat=True))
    queued, running = counts[JobState.QUEUED], counts[JobState.RUNNING]
    parts = [f"{counted(running, 'run')} {'is' if running == 1 else 'are'} being computed"] if running else []
    if queued:
        runs = f"{queued:,}" if running else counted(queued, "run")
        parts.append(f"{runs} {'is' if queued == 1 else 'are'} queued")
    return f"{', '.join(parts)}." if parts else ""


def group_page(
    project: Project,
    *,
    before: int | None = None,
    group: RunGroup | None = None,
    each_run: bool = False,
    metric: str = "",
    state: str = "",
) -> tuple[list[Group], int | None]:
    """Return a page of groups, newest first, with their runs of a metric or in a state; the id to continue from.

    With ``group`` the page has that one alone, run by run; with ``each_run`` every group is open.
    """
    filters = {name: value for name, value in (("metric", metric), ("state", state)) if value}
    runs = ScoreRun.objects.filter(project=project, **filters)
    groups, older = RunGroup.objects.filter(Exists(runs.filter(group=OuterRef("pk"))), project=project), None
    if group is None:
        page, older = newest_page(groups.order_by("-pk"), before=before, size=RUNS_PAGE)
    else:
        page = list(groups.filter(pk=group.pk))
    of_page = runs.filter(group__in=page).select_related("release__reference_set", "dataset")
    # A query that groups ignores the model's default order.
    of_page = of_page.annotate(n_systems=Count("systems")).defer("report", "release__report").order_by("-number")
    by_group: dict[int, list[ScoreRun]] = {}
    for run in of_page:
        by_group.setdefault(run.group_id, []).append(run)
    return [
        Group(each, by_group[each.pk], each_run or group is not None) for each in page if each.pk in by_group
    ], older


def run_kinds(project: Project) -> tuple[dict[str, str], list[str]]:
    """Return the names and labels of the metrics of the project's runs, and the states of these runs."""
    kinds = list(ScoreRun.objects.filter(project=project).order_by().values_list("metric", "state").distinct())
    labels = {name: METRICS[name].label if name in METRICS else name for name, _ in kinds}
    labels |= {External.name: "Scores made elsewhere"} if External.name in labels else {}
    metrics = dict(sorted(labels.items(), key=lambda pair: pair[1].casefold()))
    return metrics, [state for state in JobState.values if state in {state for _, state in kinds}]


def datasets_to_score(project: Project, most: int) -> list[tuple[Dataset, bool]]:
    """Return the newest data sets with outputs of systems, and whether each has references of its own."""
    datasets = Dataset.objects.filter(project=project, systems__isnull=False).distinct().order_by("-pk")[:most]
    references = ResponseSource.objects.filter(kind__in=SourceKind.of_references())
    return [(dataset, references.filter(item__dataset=dataset).exists()) for dataset in datasets]


def ordered_systems(run: ScoreRun) -> list[System]:
    """Return the systems of a run by name, the order of its arrays."""
    return sorted(run.systems.all(), key=lambda system: system.name)


def dropped_items(run: ScoreRun) -> Iterator[tuple[str, str]]:
    """Yield the reason and external id of every left-out item."""
    for report in shards_of(run).values_list("report", flat=True).iterator(1):
        for reason, items in report["dropped"].items():
            for item in items:
                yield reason, item


def metric_label(run: ScoreRun) -> str:
    """Return the metric's label; imported scores have the name that they were imported with."""
    metric = run_metric(run) or METRICS.get(run.metric)
    return metric.label if metric else run.metric


def run_metric(run: ScoreRun) -> Metric | None:
    """Return the metric with the run's parameters; None if this installation lacks it or its parameters changed."""
    try:
        return get_metric(run.metric, **run.parameters)
    except ValueError:
        return None


def is_higher_better(run: ScoreRun) -> bool:
    """Return whether higher scores of the run are the better ones, or come first if it does not judge quality."""
    metric = run_metric(run)
    return metric is None or metric.higher_is_better


def reads_references(run: ScoreRun) -> bool:
    """Return whether the run's metric compares with references; if not, a release may still choose the items.

    The references are a release's or, without one, the data set's own.
    """
    metric = run_metric(run)
    return run.release_id is not None if metric is None else metric.needs_references


def plain_kinds_of(run: ScoreRun) -> list[str]:
    """Return the kinds of source of the data set's own references that the run reads; none if it reads a release's."""
    if run.release_id is not None or not reads_references(run):
        return []
    return plain_kinds(Subset.from_mapping(run.subset))


def unscored_reason(run: ScoreRun) -> str:
    """Return why an output of the run has no score."""
    if run.metric == External.name:
        return NOT_PREDICTED if "cross_validated" in run.report else NOT_IN_FILE
    return "no usable reference" if reads_references(run) else "nothing to count"


def run_range(run: ScoreRun) -> str:
    """Return the published range of the metric's scores; empty if it is unknown or unbounded."""
    metric = run_metric(run)
    if metric is None or (np.isinf(metric.low) and np.isinf(metric.high)):
        return ""
    return range_words(metric.low, metric.high)


def parameter_summary(run: ScoreRun, models: Mapping[str, str]) -> str:
    """Return the run's parameters in a line, without most of those that have their defaults."""
    metric = METRICS.get(run.metric)
    if metric is None:
        return ", ".join(f"{name} {value}" for name, value in run.parameters.items())
    parts = []
    for parameter in metric.parameter_list():
        value = run.parameters.get(parameter.name, parameter.default)
        if parameter.kind == "model":
            parts.append(models.get(value) or f"{parameter.label} {parameter.written(value)}")
        elif parameter.name == "tokenize":
            parts.append(f"{value} tokens" if value != "none" else "tokens as they are")
        elif parameter.name == "lowercase":
            parts.append("lowercase" if value else "case kept")
        elif parameter.name in HIDDEN_PARAMETERS:
            continue
        elif parameter.name in SHOWN_PARAMETERS or value not in (parameter.default, "none"):
            name = parameter.label[:1].lower() + parameter.label[1:]
            parts.append(name if value is True else f"{parameter.key} {parameter.written(value)}")
    return ", ".join(parts)


def system_scores(run: ScoreRun) -> QuerySet[SystemScore]:
    """Return the scores, best first; undefined ones last."""
    score = F("score")
    best = score.desc(nulls_last=True) if is_higher_better(run) else score.asc(nulls_last=True)
    return SystemScore.objects.filter(run=run).select_related("system").order_by(best, "system__name")


def shown_digits(largest: float) -> int:
    """Return with how many decimals scores are shown: with two from 2 on, as points of a judge.

    >>> shown_digits(0.41), shown_digits(3.6333)
    (4, 2)
    """
    return 2 if largest >= 2 else 4


def item_digits(run: ScoreRun, score: float | None) -> int | str:
    """Return with how many decimals a run's scores of items are shown, none for whole points; ``score``: a mean."""
    return "-2" if run.metric == External.name and shown_digits(abs(score or 0.0)) == 2 else 3


def self_references(run: ScoreRun) -> list[tuple[str, int]]:
    """Return (system, segments) of systems whose outputs are among the references they were scored with."""
    if run.release_id is None:
        return []
    same_text = ReleaseWeight.objects.filter(release=run.release_id, response=OuterRef("response"))
    outputs = ResponseSource.objects.filter(Exists(same_text), system__in=run.systems.all())
    candidates = list(outputs.order_by("system__name").values_list("system__name", "response_id", "item_id"))
    if not candidates:
        return []
    is_scored = np.isin([item for _, _, item in candidates], segment_items(run)).tolist()
    scored = [(name, pk) for (name, pk, _), counts in zip(candidates, is_scored, strict=True) if counts]
    weights = ReleaseWeight.objects.filter(release=run.release_id, response__in={pk for _, pk in scored})
    rows = list(weights.only("response_id", "weight", "is_original"))
    mask = Subset.from_mapping(run.subset).row_mask(rows)
    used = {row.response_id for row, counts in zip(rows, mask.tolist(), strict=True) if counts}
    return list(Counter(name for name, pk in scored if pk in used).items())


SCORE_COLUMNS: dict[str, Column] = {
    "run": "run.number",
    "metric": "run.metric",
    "references": "run.subset_text",
    "system": "system.name",
    "score": "score",
    "low": "low",
    "high": "high",
    "segments": "n_segments",
    "undefined_reason": "undefined_reason",
    "clamped_orders": "clamped_orders",
    "precisions": lambda score: score.details.get("precisions"),
    "brevity_penalty": lambda score: score.details.get("brevity_penalty"),
    "hypothesis_length": lambda score: score.details.get("hypothesis_length"),
    "reference_length": lambda score: score.details.get("reference_length"),
    "signature": "run.signature",
}
SCORE_TYPES = dict.fromkeys(("score", "low", "high", "brevity_penalty"), "number")


def scores_of(runs: QuerySet[ScoreRun]) -> Iterator[SystemScore]:
    """Yield the scores of runs, newest first; unfinished runs have none."""
    scores = SystemScore.objects.filter(run__in=runs).select_related("run", "system")
    return scores.defer("run__report", "run__replicates").order_by("-run", "system__name").iterator(500)


SEGMENT_COLUMNS = ("item", "system", "score")
ITEMS_AT_ONCE = 1000


def segment_score_rows(run: ScoreRun) -> Iterator[tuple[str, str, float]]:
    """Yield a row per item and system, in the order of the items; NaN for a missing score."""
    names = [system.name for system in run_systems(run)]
    for shard in iter_shards(run):
        for start in range(0, shard.item_ids.size, ITEMS_AT_ONCE):
            ids = shard.item_ids[start : start + ITEMS_AT_ONCE].tolist()
            external = dict(Item.objects.filter(pk__in=ids).values_list("pk", "external_id"))
            for pk, scores in zip(ids, shard.scores[:, start : start + ITEMS_AT_ONCE].T.tolist(), strict=True):
                for name, score in zip(names, scores, strict=True):
                    yield external[pk], name, score


BINS = 20
MOST_WHOLE = 30  # whole numbers that have a bin each
NICE = (1, 2, 2.5, 5, 10)


def segment_histogram(run: ScoreRun) -> list[dict[str, Any]]:
    """Return the share of each system's segments per bin of the metric's range, or of the scores' if that is open.

    Systems are in the order of their scores, best first.
    """
    by_system = {}
    for name, position in system_scores(run).values_list("system__name", "position"):
        scores = segment_scores(run, position)
        by_system[name] = scores[np.isfinite(scores)]
    edges = histogram_edges(run_metric(run), np.concatenate([*by_system.values(), np.zeros(0)]))
    # Bounds are rounded: 0.15, not 0.15000000000000002.
    decimals = 3 - math.floor(math.log10(edges[1] - edges[0]))
    bounds = list(pairwise(round(edge, decimals) for edge in edges.tolist()))
    return [
        {"system": name, "low": start, "high": end, "share": float(count / max(scores.size, 1))}
        for name, scores in by_system.items()
        for count, (start, end) in zip(np.histogram(scores, bins=edges)[0], bounds, strict=True)
    ]


def histogram_edges(metric: Metric | None, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the bounds of bins: each whole number in the middle of one if all scores are such, as a judge's are."""
    low, high = histogram_range(metric, scores)
    is_label = isinstance(metric, External) or high - low > 2
    if is_label and scores.size and np.array_equal(scores, np.rint(scores)):
        ends = [metric.low, metric.high] if metric else []
        known = [*scores.tolist(), *(end for end in ends if np.isfinite(end))]
        first, last = math.floor(min(known)), math.ceil(max(known))
        if last - first < MOST_WHOLE:
            return np.arange(first, last + 2) - 0.5
    return np.linspace(low, high, BINS + 1)


def histogram_range(metric: Metric | None, scores: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the published range if it is no wider than 2, else that of the scores, rounded outwards."""
    low, high = (metric.low, metric.high) if metric else (-np.inf, np.inf)
    if high - low <= 2 and (not scores.size or (scores.min() >= low and scores.max() <= high)):
        if low < 0 and scores.size and scores.min() >= 0:
            low = 0.0  # cosines are seldom below 0
        return low, high
    if not scores.size:
        return 0.0, 1.0
    lowest, highest = float(scores.min()), float(scores.max())
    lowest = min(low, lowest) if np.isfinite(low) else lowest
    step = _nice((highest - lowest) / BINS or 1 / BINS)
    first = step * np.floor(lowest / step + 1e-9)
    return float(first), float(first + step * max(BINS * np.ceil((highest - first) / step / BINS - 1e-9), BINS))


def _nice(step: float) -> float:
    """Return the next larger of 1, 2, 2.5 and 5 times a power of ten."""
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
    """Return the indices of the segments in this order; those without a score come last."""
    if sort == "position":
        return np.arange(n_segments(run))
    values = segment_scores(run, score.position)
    return np.argsort(-values if sort == "highest" else values, kind="stable")


def segments(run: ScoreRun, score: SystemScore, indices: Sequence[int]) -> list[Segment]:
    """Return these segments with the mean ratings of their responses."""
    item_ids, scores = segments_at(run, indices)
    values = scores[score.position].tolist() if item_ids else []
    items = Item.objects.in_bulk(item_ids)
    outputs = ResponseSource.objects.filter(system=score.system_id, item__in=item_ids).select_related("response")
    responses = {source.item_id: source.response for source in outputs}
    ratings = mean_ratings(run.dataset_id, [response.pk for response in responses.values()])
    rows = []
    for item_id, value in zip(item_ids, values, strict=True):
        response = responses.get(item_id)
        mean, n = ratings.get(response.pk, (None, 0)) if response else (None, 0)
        rows.append(Segment(items[item_id], response, finite_or_none(value), mean, n))
    return rows


def mean_ratings(dataset_id: int, response_ids: Sequence[int]) -> dict[int, tuple[float, int]]:
    """Return mean and number of the responses' ratings; nothing if the data set's campaigns differ in scale."""
    campaigns = list(Campaign.objects.filter(dataset=dataset_id, ratings__response__in=response_ids).distinct())
    try:
        campaign_criteria(campaigns, on_one_scale=True)
    except AnnotationError:
        return {}
    ratings = rating_columns(campaigns, response_ids, timed=False)
    rated, index, n = np.unique(ratings.response_id, return_inverse=True, return_counts=True)
    means = np.bincount(index, ratings.value, minlength=len(rated)) / n
    return {
        pk: (mean, n_ratings) for pk, mean, n_ratings in zip(*map(np.ndarray.tolist, (rated, means, n)), strict=True)
    }
