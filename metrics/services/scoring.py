"""Scores of any metric over any reference subset of one corpus; what metrics share is prepared once."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from annotation.core.numbers import finite_or_none
from metrics.scoring.aggregates import Aggregate, BleuAggregate, log_brevity_penalty
from metrics.scoring.metric import CorpusState, Metric, MetricStatistics, PooledStatistics, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.resampling import Interval
from metrics.scoring.segments import Segments
from metrics.selectors.corpus import Corpus
from metrics.subsets import Subset

FloatArray = npt.NDArray[np.float64]


def model_store() -> ModelStore:
    """Where this installation keeps trained models."""
    return ModelStore([settings.MODELS_DIR])


class Scorer:
    """A corpus under the metrics that will be asked for. What scores many corpora shares ``models`` among them."""

    def __init__(self, corpus: Corpus, metrics: Iterable[Metric], models: ModelStore | None = None) -> None:
        self.corpus = corpus
        segments = Segments(corpus.hypotheses, corpus.references, corpus.sources)
        self.workspace = Workspace(segments, metrics, models or model_store())

    def statistics(self, metric: Metric, subset: Subset, state: CorpusState | None = None) -> MetricStatistics:
        """``state`` is the whole data set's, where the corpus is a part of it."""
        given = self._given(metric, subset)
        return metric.statistics(self.workspace.prepared(metric), **given, state=state)

    def threshold_sweep(self, metric: Metric, thresholds: Sequence[float]) -> list[MetricStatistics]:
        """Against the references of weight >= t, for each of ``thresholds``, which ascend."""
        return self.workspace.threshold_sweep(metric, weights=self.corpus.weights, thresholds=thresholds)

    def corpus_state(self, metric: Metric, subset: Subset) -> CorpusState | None:
        """What parts of a data set must know of each other: this part's share of it."""
        return metric.corpus_state(self._read(metric), **self._given(metric, subset))

    def state_of_texts(self, metric: Metric, state: CorpusState) -> CorpusState:
        """What this part must know of the whole data set's state, or of one range of it."""
        return state.of_texts(self._read(metric))

    def _read(self, metric: Metric) -> Any:
        """The texts as the metric's states read them."""
        return self.workspace.prepared(metric) if metric.state_reads_texts else None

    def _given(self, metric: Metric, subset: Subset) -> dict[str, Any]:
        corpus = self.corpus
        mask = subset.mask(corpus.weights, corpus.is_original)
        return {"weights": corpus.weights if metric.needs_weights else None, "reference_mask": mask}


def unusable_reason(metric: Metric, subset: Subset) -> str:
    """Why an item is left out of this metric under this subset."""
    if not metric.needs_references:
        return "no system has a score there"
    if subset.kind == "threshold":
        which = f"no reference with {subset.label}"
        return f"{which} and above 0" if metric.needs_weights and subset.value < 0 else which
    which = "no original reference" if subset.kind == "original" else "no reference"
    return f"{which} of positive weight" if metric.needs_weights else which


def system_score_fields(
    aggregate: Aggregate, sums: FloatArray, n_segments: int, score: float, interval: Interval | None
) -> dict[str, Any]:
    """What is stored of one system, whose segments that count have these sums."""
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
    if isinstance(aggregate, BleuAggregate):
        fields["clamped_orders"] = [int(order) + 1 for order in np.flatnonzero(aggregate.clamped_orders(sums))]
        fields["details"] = bleu_details(aggregate, sums)
    return fields


def bleu_details(aggregate: BleuAggregate, sums: FloatArray) -> dict[str, Any]:
    """Precisions, brevity penalty, lengths and sums, in units of matches (BLEU) or weight (ΔBLEU)."""
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
    """What is stored of some segments: their arrays, and counts that say what the scores rest on."""
    corpus = scorer.corpus
    mask = subset.mask(corpus.weights, corpus.is_original)
    dropped: dict[str, list[str]] = dict(corpus.dropped)
    # In a pool of outputs every one counts, whether or not it has a score of its own.
    counted = statistics.valid.any(axis=0) | metric.pools
    unused = np.flatnonzero(~counted).tolist()
    if unused:
        dropped[unusable_reason(metric, subset)] = [corpus.external_ids[place] for place in unused]
    n_items = corpus.item_ids.size
    report = {
        "items": int(n_items),
        "items_scored": int(n_items) - len(unused),
        "items_partly": partly_scored(statistics),
        "dropped": dropped,
        "references": int(np.count_nonzero(mask & np.repeat(counted, [len(own) for own in corpus.references]))),
        "references_in_release": int(mask.size),
        "aggregate": statistics.aggregate.parameters(),
    }
    if isinstance(statistics, PooledStatistics):
        scores = None if statistics.means else statistics.system_scores().tolist()
        report["pooled"] = scores and [finite_or_none(score) for score in scores]
    return {
        "n": corpus.item_ids.size,
        "item_ids": little_endian(corpus.item_ids, "<i8"),
        "segment_scores": little_endian(statistics.sentence_scores, "<f8"),
        "valid": little_endian(statistics.valid, "?"),
        "statistics": little_endian(statistics.packed, "<f8"),
        "report": report,
    }


def partly_scored(statistics: MetricStatistics) -> int:
    """Segments that some system has a score for, and another has not."""
    return int((statistics.valid.any(axis=0) & ~statistics.valid.all(axis=0)).sum())


def empty_shard_fields(corpus: Corpus) -> dict[str, Any]:
    """Of a part of a data set whose items are all left out."""
    nothing = dict.fromkeys(("items", "items_scored", "references", "references_in_release"), 0)
    return {"n": 0, "report": nothing | {"dropped": corpus.dropped}}


def little_endian(array: npt.NDArray[Any], kind: str) -> bytes:
    return np.ascontiguousarray(array, dtype=kind).tobytes()
