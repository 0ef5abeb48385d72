"""Outputs that a metric and the raters see most differently, among those on which the raters agree with each other.

The reading of D'Haro et al. (2019), Table 4, as two lists: the metric high and the raters low, and the other way round.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef
from scipy.stats import rankdata

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Item, Rating, ReleaseWeight, Response, ResponseSource
from annotation.rating.selectors.ratings import campaign_criteria, judgements, rating_columns
from annotation.weighting.evidence import Bins, histogram_bins, response_evidence
from annotation.weighting.table import RatingTable
from metrics.models import ScoreRun
from metrics.selectors.arrays import FLOAT, INTEGER, shards_of
from metrics.selectors.runs import run_metric
from metrics.subsets import Subset

Floats = npt.NDArray[np.float64]

SHOWN = 6
MOST_DOWNLOADED = 1000
SHOWN_REFERENCES = 4
LEAST_JUDGEMENTS = 2  # below that there is no spread
SHARES = (0.125, 0.25, 0.5)  # of the scale's range: spreads to choose from
USUAL_SHARE = 0.25
OPEN_RANGE = 4.0  # taken for the range of a scale without ends, whose judgements are natural logarithms of ratios


@dataclass(frozen=True)
class Bar:
    label: str
    count: int
    percent: int


@dataclass
class Disagreement:
    """One output, where the metric and the raters rank it, as shares of the outputs compared."""

    item_id: int
    response_id: int
    systems: list[tuple[int, str]]  # ids and names of those that gave it
    score: float
    rating: float
    n_judgements: int
    spread: float
    metric_rank: float  # 0: the worst, 1: the best
    rater_rank: float
    counts: Sequence[int]
    bars: Sequence[Bar] = ()
    item: Item | None = None
    response: Response | None = None
    references: list[ReleaseWeight] = field(default_factory=list)
    n_more: int = 0

    @property
    def gap(self) -> float:
        return self.metric_rank - self.rater_rank


@dataclass
class Disagreements:
    """Both lists, the farthest apart first; ``reason`` says why there are none."""

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


def rating_campaigns(run: ScoreRun) -> list[Campaign]:
    """Those with ratings of outputs of the run's systems, newest first."""
    outputs = ResponseSource.objects.filter(system__in=run.systems.all()).order_by()
    rated = Rating.objects.filter(response__in=outputs.values("response_id")).order_by()
    return list(Campaign.objects.filter(pk__in=rated.values("campaign_id").distinct()).order_by("-pk"))


def disagreements_of(
    run: ScoreRun, *, campaign: int | None = None, spread: float | None = None, n: int = SHOWN
) -> Disagreements:
    """Where a finished run and the ratings of its outputs disagree.

    ``campaign`` is the id of the one whose ratings count; by default all that rated outputs of the run. ``spread`` is
    the largest standard deviation of an output's judgements at which its raters agree, in units of the scale.
    """
    campaigns = rating_campaigns(run)
    chosen = [one for one in campaigns if campaign in (None, one.pk)]
    found = Disagreements(campaigns, chosen)
    if not chosen:
        found.reason = "Nobody has rated an output of these systems, so there is nothing to compare with."
        return found
    try:
        criteria = campaign_criteria(chosen)
    except AnnotationError as error:
        found.reason = f"{error} Choose one campaign."
        return found
    table = judgements(rating_columns(chosen, timed=False), criteria)
    has_points = all(one.scale.has_points for one in criteria)
    found.low, found.high = table.low, table.high
    width = OPEN_RANGE if np.isnan(table.high) else table.high - table.low
    found.spreads = [share * width for share in SHARES]
    found.spread = USUAL_SHARE * width if spread is None else spread
    found.bins = histogram_bins(table.low, table.high, has_points=has_points)
    outputs = _outputs(run)
    wanted = np.isin(table.response_id, list(outputs))
    codes, responses = np.unique(table.response_id[wanted], return_inverse=True)
    if not codes.size:
        found.reason = "None of the outputs that the run scored has a complete judgement."
        return found
    rated = RatingTable(
        responses, np.zeros(responses.size, dtype=np.int64), table.value[wanted], n_responses=codes.size
    )
    evidence = response_evidence(rated, found.bins)
    n_judged = np.bincount(responses, minlength=codes.size)
    mean = np.bincount(responses, weights=table.value[wanted], minlength=codes.size) / n_judged
    scores = np.array([outputs[pk].score for pk in codes.tolist()])
    scored = ~np.isnan(scores)
    found.n_rated = int(scored.sum())
    agreed = np.flatnonzero(scored & (n_judged >= LEAST_JUDGEMENTS) & (evidence.spread <= found.spread + 1e-9))
    found.n_agreed = int(agreed.size)
    if agreed.size < 2:
        found.reason = (
            f"On {agreed.size} of {found.n_rated:,} rated outputs the raters agree within {found.spread:g}. "
            "Allow a wider spread."
        )
        return found
    metric = run_metric(run)
    signed = scores[agreed] if metric is None or metric.higher_is_better else -scores[agreed]
    metric_rank, rater_rank = _shares(signed), _shares(mean[agreed])
    order = np.argsort(rater_rank - metric_rank, kind="stable")  # the metric's favourites first

    def told(place: int) -> Disagreement:
        at = agreed[place]
        pk = int(codes[at])
        return Disagreement(
            outputs[pk].item_id,
            pk,
            outputs[pk].systems,
            float(scores[at]),
            float(mean[at]),
            int(n_judged[at]),
            float(evidence.spread[at]),
            float(metric_rank[place]),
            float(rater_rank[place]),
            evidence.counts[at].tolist(),
        )

    found.liked_by_metric = [one for one in map(told, order[:n].tolist()) if one.gap > 0]
    found.liked_by_raters = [one for one in map(told, order[::-1][:n].tolist()) if one.gap < 0]
    return found


def with_texts(run: ScoreRun, found: Disagreements) -> None:
    """Load what a page shows of them: items, outputs, the references that the run used, heaviest first."""
    every = [*found.liked_by_metric, *found.liked_by_raters]
    items = Item.objects.in_bulk([one.item_id for one in every])
    responses = Response.objects.in_bulk([one.response_id for one in every])
    weights = ReleaseWeight.objects.filter(release=run.release_id, item__in=items).select_related("response")
    by_item: dict[int, list[ReleaseWeight]] = {}
    for weight in weights.order_by("-weight", "response_id") if run.release_id else ():
        by_item.setdefault(weight.item_id, []).append(weight)
    subset = Subset.from_mapping(run.subset)
    labels = found.bins.labels if found.bins else ()
    for one in every:
        one.item, one.response = items[one.item_id], responses[one.response_id]
        own = by_item.get(one.item_id, [])
        mask = subset.mask(
            np.array([row.weight for row in own]), np.array([row.is_original for row in own], dtype=bool)
        )
        used = [row for row, counts in zip(own, mask.tolist(), strict=True) if counts]
        one.references, one.n_more = used[:SHOWN_REFERENCES], max(0, len(used) - SHOWN_REFERENCES)
        tallest = max(one.counts) or 1
        one.bars = [Bar(label, n, 100 * n // tallest) for label, n in zip(labels, one.counts, strict=True)]


DISAGREEMENT_COLUMNS = (
    "list",
    "item",
    "systems",
    "output",
    "score",
    "metric_rank",
    "mean_rating",
    "rater_rank",
    "gap",
    "judgements",
    "spread",
)


def disagreement_rows(run: ScoreRun, found: Disagreements) -> Iterator[tuple[Any, ...]]:
    with_texts(run, found)
    lists = (("metric_high_raters_low", found.liked_by_metric), ("raters_high_metric_low", found.liked_by_raters))
    for name, rows in lists:
        for one in rows:
            if one.item and one.response:
                yield (
                    name,
                    one.item.external_id,
                    [system for _, system in one.systems],
                    one.response.text,
                    one.score,
                    one.metric_rank,
                    one.rating,
                    one.rater_rank,
                    one.gap,
                    one.n_judgements,
                    one.spread,
                )


@dataclass
class _Output:
    item_id: int
    systems: list[tuple[int, str]]
    score: float


def _outputs(run: ScoreRun) -> dict[int, _Output]:
    """Every rated output that the run scored, by the id of its response; what several systems said is one."""
    scores = list(run.scores.select_related("system"))
    names = {score.system_id: score.system.name for score in scores}
    position = {score.system_id: score.position for score in scores}
    place: dict[int, int] = {}
    parts = [np.zeros((len(scores), 0))]
    for shard in shards_of(run).defer(None).only("item_ids", "segment_scores"):
        item_ids = np.frombuffer(shard.item_ids, dtype=INTEGER)
        place |= {item_id: at for at, item_id in enumerate(item_ids.tolist(), start=len(place))}
        parts.append(np.frombuffer(shard.segment_scores, dtype=FLOAT).reshape(len(scores), item_ids.size))
    whole = np.concatenate(parts, axis=1)
    rated = Rating.objects.filter(response=OuterRef("response"))
    sources = ResponseSource.objects.filter(Exists(rated), system__in=names)
    found: dict[int, _Output] = {}
    for response_id, item_id, pk in sources.order_by("system__name").values_list("response_id", "item_id", "system_id"):
        if item_id in place:
            output = found.setdefault(response_id, _Output(item_id, [], float(whole[position[pk], place[item_id]])))
            output.systems.append((pk, names[pk]))
    return found


def _shares(values: Floats) -> Floats:
    """Ranks from 0 to 1, equal values alike."""
    ranks: Floats = (rankdata(values) - 1) / max(values.size - 1, 1)
    return ranks
