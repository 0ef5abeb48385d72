"""Scores of any metric over any reference subset of a corpus; preparations are shared between metrics."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from annotation.core.numbers import finite_or_none
from metrics.scoring.aggregates import Aggregate, BleuAggregate, IBleuAggregate, log_brevity_penalty
from metrics.scoring.metric import CorpusState, Metric, MetricStatistics, PooledStatistics, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.resampling import Interval
from metrics.scoring.segments import Segments
from metrics.selectors.corpus import BoolArray, Corpus, IntArray, prompt_texts
from metrics.subsets import Subset

FloatArray = npt.NDArray[np.float64]


def model_store() -> ModelStore:
    """Return the store of this installation's trained models."""
    return ModelStore([settings.MODELS_DIR])


class Scorer:
    """Scores of a corpus under several metrics. Several scorers can share ``models``."""

    def __init__(self, corpus: Corpus, metrics: Iterable[Metric], models: ModelStore | None = None) -> None:
        self.corpus = corpus
        metrics = list(metrics)
        prompts = prompt_texts(corpus.item_ids) if any(metric.needs_prompts for metric in metrics) else None
        segments = Segments(corpus.hypotheses, corpus.references, corpus.sources, prompts)
        self.workspace = Workspace(segments, metrics, models or model_store())

    def statistics(self, metric: Metric, subset: Subset, state: CorpusState | None = None) -> MetricStatistics:
        """Return the statistics; ``state`` is the whole data set's if the corpus is a part of it.

        Where a system has no output, it has no score.
        """
        statistics = metric.statistics(self.workspace.prepared(metric), **self._references(metric, subset), state=state)
        return of_outputs(statistics, self.corpus.answered)

    def reweighted(
        self, metric: Metric, subset: Subset, weights: FloatArray, keep: BoolArray | None = None
    ) -> list[MetricStatistics]:
        """Return the statistics under each of B sets of weights (B, R) of the same references.

        A reference whose weight is NaN, or that is not in ``keep`` (B, R), is left out.
        """
        known = np.isfinite(weights) if keep is None else np.isfinite(weights) & keep
        filled = np.where(known, weights, 0.0)
        masks = np.stack([subset.mask(each, self.corpus.is_original) for each in filled]) & known
        redrawn = self.workspace.redrawn(metric, weights=filled, reference_masks=masks)
        return [of_outputs(statistics, self.corpus.answered) for statistics in redrawn]

    def threshold_sweep(self, metric: Metric, thresholds: Sequence[float]) -> list[MetricStatistics]:
        """Return the statistics with the references of weight >= t, for each t of the ascending ``thresholds``."""
        swept = self.workspace.threshold_sweep(metric, weights=self.corpus.weights, thresholds=thresholds)
        return [of_outputs(statistics, self.corpus.answered) for statistics in swept]

    def corpus_state(self, metric: Metric, subset: Subset) -> CorpusState | None:
        """Return this part's share of what the parts of a data set must know about each other."""
        return metric.corpus_state(self._state_texts(metric), **self._references(metric, subset))

    def state_of_texts(self, metric: Metric, state: CorpusState) -> CorpusState:
        """Return what this part needs of the whole data set's state, or of one range of it."""
        return state.of_texts(self._state_texts(metric))

    def _state_texts(self, metric: Metric) -> Any:
        """Return the texts as the metric's states read them."""
        return self.workspace.prepared(metric) if metric.state_reads_texts else None

    def _references(self, metric: Metric, subset: Subset) -> dict[str, Any]:
        corpus = self.corpus
        mask = subset.mask(corpus.weights, corpus.is_original)
        return {"weights": corpus.weights if metric.needs_weights else None, "reference_mask": mask}


def of_outputs(statistics: MetricStatistics, answered: BoolArray) -> MetricStatistics:
    """Return statistics without the empty texts that stand where a system has no output; ``answered`` is (T, S)."""
    if answered.all():
        return statistics
    arrays = (
        np.where(answered[..., None], statistics.packed, 0.0),
        statistics.valid & answered,
        np.where(answered, statistics.sentence_scores, np.nan),
        statistics.aggregate,
    )
    if not isinstance(statistics, PooledStatistics):
        return MetricStatistics(*arrays)
    pooled = statistics.pooled

    def of_answered(segments: IntArray | None) -> FloatArray:
        chosen = np.arange(answered.shape[1]) if segments is None else segments
        scores = [
            pooled(chosen[outputs[chosen]])[system] if outputs[chosen].any() else math.nan
            for system, outputs in enumerate(answered)
        ]
        return np.array(scores, dtype=np.float64)

    return PooledStatistics(*arrays, of_answered, statistics.means)


def unusable_reason(metric: Metric, subset: Subset) -> str:
    """Return why an item is left out of this metric under this subset."""
    if not metric.needs_references:
        return "no system has a score there"
    if subset.kind == "threshold":
        reason = f"no reference with {subset.label}"
        return f"{reason} and above 0" if metric.needs_weights and subset.value < 0 else reason
    reason = "no original reference" if subset.kind == "original" else "no reference"
    return f"{reason} of positive weight" if metric.needs_weights else reason


def system_score_fields(
    aggregate: Aggregate, sums: FloatArray, n_segments: int, score: float, interval: Interval | None
) -> dict[str, Any]:
    """Return what is stored for a system; ``sums`` are those of its segments that count."""
    fields: dict[str, Any] = {
        "score": finite_or_none(score),
        "low": None if interval is None else finite_or_none(interval.low),
        "high": None if interval is None else finite_or_none(interval.high),
        "n_segments": n_segments,
        "undefined_reason": "",
        "clamped_orders": [],
        "details": {},
    }
    if math.isnan(score):
        fields["undefined_reason"] = "nothing but empty texts" if n_segments else "no item has a usable reference"
    if isinstance(aggregate, BleuAggregate | IBleuAggregate):
        fields["clamped_orders"] = [int(order) + 1 for order in np.flatnonzero(aggregate.clamped_orders(sums))]
    if isinstance(aggregate, BleuAggregate):
        fields["details"] = bleu_details(aggregate, sums)
    return fields


def bleu_details(aggregate: BleuAggregate, sums: FloatArray) -> dict[str, Any]:
    """Return precisions, brevity penalty, lengths and sums, in units of matches (BLEU) or weight (ΔBLEU)."""
    order, scale = aggregate.max_order, aggregate.weight_scale
    return {
        "precisions": aggregate.precisions(sums).tolist(),
        "brevity_penalty": finite_or_none(float(np.exp(log_brevity_penalty(sums[0], sums[1])))),
        "hypothesis_length": int(sums[0]),
        "reference_length": int(sums[1]),
        "numerators": (sums[2 : 2 + order] / scale).tolist(),
        "denominators": (sums[2 + order :] / scale).tolist(),
    }


def shard_fields(scorer: Scorer, metric: Metric, subset: Subset, statistics: MetricStatistics) -> dict[str, Any]:
    """Return what is stored for a shard: its segments' arrays, and counts of items and references."""
    corpus = scorer.corpus
    mask = subset.mask(corpus.weights, corpus.is_original)
    dropped: dict[str, list[str]] = dict(corpus.dropped)
    # In a pool of outputs every output counts, whether or not it has a segment score.
    counted = statistics.valid.any(axis=0) | metric.pools
    unused = np.flatnonzero(~counted).tolist()
    if unused:
        dropped[unusable_reason(metric, subset)] = [corpus.external_ids[index] for index in unused]
    n_items = corpus.item_ids.size
    report = {
        "items": int(n_items),
        "items_scored": int(n_items) - len(unused),
        "items_partly": partly_scored(statistics),
        "dropped": dropped,
        "references": int(np.count_nonzero(mask & np.repeat(counted, list(map(len, corpus.references))))),
        "references_in_release": int(mask.size),
        "aggregate": statistics.aggregate.parameters(),
    }
    if isinstance(statistics, PooledStatistics):
        scores = None if statistics.means else statistics.system_scores().tolist()
        report["pooled"] = scores and [finite_or_none(score) for score in scores]
    return {**array_fields(corpus.item_ids, statistics, statistics.sentence_scores), "report": report}


def array_fields(item_ids: IntArray, statistics: MetricStatistics, scores: FloatArray) -> dict[str, Any]:
    """Return a shard's arrays as they are stored."""
    return {
        "n": item_ids.size,
        "item_ids": little_endian(item_ids, "<i8"),
        "segment_scores": little_endian(scores, "<f8"),
        "valid": little_endian(statistics.valid, "?"),
        "statistics": little_endian(statistics.packed, "<f8"),
    }


def partly_scored(statistics: MetricStatistics) -> int:
    """Return how many segments have a score of some systems, but not of all."""
    return int((statistics.valid.any(axis=0) & ~statistics.valid.all(axis=0)).sum())


def empty_shard_fields(corpus: Corpus) -> dict[str, Any]:
    """Return what is stored for a shard whose items are all left out."""
    counts = dict.fromkeys(("items", "items_scored", "references", "references_in_release"), 0)
    return {"n": 0, "report": counts | {"dropped": corpus.dropped}}


def little_endian(array: npt.NDArray[Any], kind: str) -> bytes:
    return np.ascontiguousarray(array, dtype=kind).tobytes()
