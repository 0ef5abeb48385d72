"""Outputs that a metric and the raters rank most differently, among those on which the raters agree.

As in D'Haro et al. (2019), Table 4: the metric high and the raters low, and the other way round.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy
from django.db.models import Exists, OuterRef

from annotation.core.errors import AnnotationError
from annotation.core.exports import Column
from annotation.models import Campaign, Item, Rating, ReleaseWeight, Response, ResponseSource
from annotation.rating.selectors.ratings import campaign_criteria, judgements, rating_columns, scale_groups
from annotation.weighting.evidence import Bins, Evidence, histogram_bins, response_evidence
from annotation.weighting.table import RatingTable
from metrics.models import ScoreRun
from metrics.selectors.arrays import FLOAT, INTEGER, shards_of
from metrics.selectors.corpus import plain_responses
from metrics.selectors.explanations import plain_row
from metrics.selectors.runs import plain_kinds_of, run_metric
from metrics.subsets import Subset

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHOWN = 6
MOST_DOWNLOADED = 1000
SHOWN_REFERENCES = 4
LEAST_JUDGEMENTS = 2  # one has no spread
SHARES = (0.125, 0.25, 0.5)  # spreads to choose from, as shares of the scale's range
DEFAULT_SHARE = 0.25
OPEN_RANGE = 4.0  # the range of a scale without ends, whose judgements are natural logarithms of ratios


@dataclass(frozen=True)
class Bar:
    label: str
    count: int
    percent: int


@dataclass
class Disagreement:
    """An output, with its ranks by the metric and by the raters, from 0 to 1."""

    item_id: int
    response_id: int
    systems: list[tuple[int, str]]  # ids and names
    score: float
    rating: float
    n_judgements: int
    spread: float
    metric_rank: float  # 0: the worst of the outputs compared, 1: the best
    rater_rank: float
    counts: Sequence[int]
    bars: Sequence[Bar] = ()
    item: Item | None = None
    response: Response | None = None
    references: list[ReleaseWeight] = field(default_factory=list)
    n_more: int = 0

    @property
    def system_names(self) -> list[str]:
        return [name for _, name in self.systems]

    @property
    def gap(self) -> float:
        return self.metric_rank - self.rater_rank


@dataclass
class Disagreements:
    """Both lists, the largest gap first; ``reason`` says why there are none."""

    campaigns: list[Campaign]
    chosen: list[Campaign]
    spread: float = 0.0
    spreads: Sequence[float] = ()
    low: float = np.nan
    high: float = np.nan
    n_rated: int = 0
    n_agreed: int = 0
    liked_by_metric: list[Disagreement] = field(default_factory=list)
    liked_by_raters: list[Disagreement] = field(default_factory=list)
    bins: Bins | None = None
    reason: str = ""

    @property
    def outputs(self) -> list[Disagreement]:
        return [*self.liked_by_metric, *self.liked_by_raters]


def rating_campaigns(run: ScoreRun) -> list[Campaign]:
    """Return the campaigns that rated outputs of the run's systems, newest first."""
    outputs = ResponseSource.objects.filter(system__in=run.systems.all()).order_by()
    rated = Rating.objects.filter(response__in=outputs.values("response_id")).order_by()
    return list(Campaign.objects.filter(pk__in=rated.values("campaign_id").distinct()).order_by("-pk"))


def disagreements_of(
    run: ScoreRun, *, campaign: int | None = None, spread: float | None = None, n: int = SHOWN
) -> Disagreements:
    """Return where a finished run and the ratings of its outputs disagree.

    ``campaign`` is the id of the campaign whose ratings count; by default all count. Raters agree on an output if the
    standard deviation of its judgements is at most ``spread``, in units of the scale.
    """
    campaigns = rating_campaigns(run)
    chosen = [rated for rated in campaigns if campaign in (None, rated.pk)]
    result = Disagreements(campaigns, chosen)
    if not chosen:
        result.reason = "No output of these systems is rated, so there is nothing to compare with."
        return result
    try:
        criteria = campaign_criteria(chosen)
    except AnnotationError as error:
        result.reason = f"{error} Choose one campaign."
        return result
    table = judgements(rating_columns(chosen, timed=False), criteria)
    result.low, result.high = table.low, table.high
    width = OPEN_RANGE if np.isnan(table.high) else table.high - table.low
    result.spreads = [share * width for share in SHARES]
    result.spread = DEFAULT_SHARE * width if spread is None else spread
    has_points = len(scale_groups(criteria)) == 1 and criteria[0].scale.has_points
    result.bins = histogram_bins(table.low, table.high, has_points=has_points)
    outputs = _outputs(run)
    is_output = np.isin(table.response_id, list(outputs))
    if is_output.any():
        rated = _RatedOutputs.of(outputs, table.response_id[is_output], table.value[is_output], result.bins)
        _compare(run, rated, result, n)
    else:
        result.reason = "None of the outputs that the run scored has a complete judgement."
    return result


@dataclass(frozen=True, eq=False)
class _RatedOutputs:
    """Outputs that the metric scored and raters judged."""

    outputs: list["_Output"]
    response_ids: Ints
    scores: Floats  # NaN for an output without a score
    n_judgements: Ints
    means: Floats
    evidence: Evidence

    @classmethod
    def of(cls, outputs: dict[int, "_Output"], response_id: Ints, value: Floats, bins: Bins) -> "_RatedOutputs":
        pks, codes = np.unique(response_id, return_inverse=True)
        n_judgements = np.bincount(codes, minlength=pks.size)
        means = np.bincount(codes, weights=value, minlength=pks.size) / n_judgements
        one_criterion = np.zeros(codes.size, dtype=np.int64)
        evidence = response_evidence(RatingTable(codes, one_criterion, value, n_responses=pks.size), bins)
        rated = [outputs[pk] for pk in pks.tolist()]
        return cls(rated, pks, np.array([output.score for output in rated]), n_judgements, means, evidence)

    def disagreement(self, i: int, metric_rank: float, rater_rank: float) -> Disagreement:
        return Disagreement(
            item_id=self.outputs[i].item_id,
            response_id=int(self.response_ids[i]),
            systems=self.outputs[i].systems,
            score=float(self.scores[i]),
            rating=float(self.means[i]),
            n_judgements=int(self.n_judgements[i]),
            spread=float(self.evidence.spread[i]),
            metric_rank=metric_rank,
            rater_rank=rater_rank,
            counts=self.evidence.counts[i].tolist(),
        )


def _compare(run: ScoreRun, rated: _RatedOutputs, result: Disagreements, n: int) -> None:
    """Fill the two lists with up to ``n`` outputs each."""
    is_scored = ~np.isnan(rated.scores)
    is_agreed = (rated.n_judgements >= LEAST_JUDGEMENTS) & (rated.evidence.spread <= result.spread + 1e-9)
    agreed = np.flatnonzero(is_scored & is_agreed)
    result.n_rated, result.n_agreed = int(is_scored.sum()), int(agreed.size)
    if agreed.size < 2:
        result.reason = (
            f"On {agreed.size} of {result.n_rated:,} rated outputs the ratings lie within a spread of "
            f"{result.spread:g}. Allow a wider spread."
        )
        return
    metric = run_metric(run)
    scores = rated.scores[agreed] if metric is None or metric.higher_is_better else -rated.scores[agreed]
    metric_rank, rater_rank = _ranks(scores), _ranks(rated.means[agreed])
    ranked = list(zip(agreed.tolist(), metric_rank.tolist(), rater_rank.tolist(), strict=True))
    order = np.argsort(rater_rank - metric_rank, kind="stable").tolist()  # the metric's favourites first
    best, worst = ([rated.disagreement(*ranked[i]) for i in part] for part in (order[:n], order[::-1][:n]))
    result.liked_by_metric = [output for output in best if output.gap > 0]
    result.liked_by_raters = [output for output in worst if output.gap < 0]


def load_texts(run: ScoreRun, disagreements: Disagreements) -> None:
    """Load the items, outputs and references that the run used, heaviest first."""
    outputs = disagreements.outputs
    items = Item.objects.in_bulk([output.item_id for output in outputs])
    responses = Response.objects.in_bulk([output.response_id for output in outputs])
    by_item: dict[int, list[ReleaseWeight]] = {}
    for weight in _references(run, items):
        by_item.setdefault(weight.item_id, []).append(weight)
    subset = Subset.from_mapping(run.subset)
    labels = disagreements.bins.labels if disagreements.bins else ()
    for output in outputs:
        output.item, output.response = items[output.item_id], responses[output.response_id]
        rows = by_item.get(output.item_id, [])
        used = [row for row, counts in zip(rows, subset.row_mask(rows).tolist(), strict=True) if counts]
        output.references, output.n_more = used[:SHOWN_REFERENCES], max(0, len(used) - SHOWN_REFERENCES)
        tallest = max(output.counts) or 1
        output.bars = [Bar(label, n, 100 * n // tallest) for label, n in zip(labels, output.counts, strict=True)]


def _references(run: ScoreRun, item_ids: Collection[int]) -> Iterable[ReleaseWeight]:
    """Return the references of these items, the heaviest of each first."""
    if run.release_id is None:
        return map(plain_row, plain_responses(item_ids, plain_kinds_of(run)).prefetch_related("sources"))
    weights = ReleaseWeight.objects.filter(release=run.release_id, item__in=item_ids).select_related("response")
    return weights.order_by("-weight", "response_id")


DISAGREEMENT_COLUMNS: dict[str, Column] = {
    "list": lambda output: "metric_high_raters_low" if output.gap > 0 else "raters_high_metric_low",
    "item": "item.external_id",
    "systems": "system_names",
    "output": "response.text",
    "score": "score",
    "metric_rank": "metric_rank",
    "mean_rating": "rating",
    "rater_rank": "rater_rank",
    "gap": "gap",
    "judgements": "n_judgements",
    "spread": "spread",
}


@dataclass
class _Output:
    item_id: int
    systems: list[tuple[int, str]]
    score: float


def _outputs(run: ScoreRun) -> dict[int, _Output]:
    """Return the rated outputs that the run scored by the id of their response; equal outputs of systems are one."""
    scores = list(run.scores.select_related("system"))
    names = {score.system_id: score.system.name for score in scores}
    position = {score.system_id: score.position for score in scores}
    index: dict[int, int] = {}
    parts = [np.zeros((len(scores), 0))]
    for shard in shards_of(run).defer(None).only("item_ids", "segment_scores"):
        item_ids = np.frombuffer(shard.item_ids, dtype=INTEGER)
        index |= {item_id: i for i, item_id in enumerate(item_ids.tolist(), start=len(index))}
        parts.append(np.frombuffer(shard.segment_scores, dtype=FLOAT).reshape(len(scores), item_ids.size))
    matrix = np.concatenate(parts, axis=1)
    rated = Rating.objects.filter(response=OuterRef("response"))
    sources = ResponseSource.objects.filter(Exists(rated), system__in=names)
    outputs: dict[int, _Output] = {}
    for response_id, item_id, pk in sources.order_by("system__name").values_list("response_id", "item_id", "system_id"):
        if item_id in index:
            score = float(matrix[position[pk], index[item_id]])
            outputs.setdefault(response_id, _Output(item_id, [], score)).systems.append((pk, names[pk]))
    return outputs


def _ranks(values: Floats) -> Floats:
    """Return ranks from 0 to 1; equal values have the same."""
    ranks: Floats = (scipy.stats.rankdata(values) - 1) / max(values.size - 1, 1)
    return ranks
