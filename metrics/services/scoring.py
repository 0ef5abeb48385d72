"""Scores of any metric over any reference subset of one corpus; what metrics share is prepared once."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from metrics.scoring.aggregates import BleuAggregate, log_brevity_penalty
from metrics.scoring.metric import Metric, MetricStatistics, Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from metrics.selectors.corpus import Corpus
from metrics.subsets import Subset

FloatArray = npt.NDArray[np.float64]


def model_store() -> ModelStore:
    """Where this installation keeps trained models."""
    return ModelStore([settings.MODELS_DIR])


class Scorer:
    """A corpus under the metrics that will be asked for."""

    def __init__(self, corpus: Corpus, metrics: Iterable[Metric]) -> None:
        self.corpus = corpus
        segments = Segments(corpus.hypotheses, corpus.references, corpus.sources)
        self.workspace = Workspace(segments, metrics, model_store())

    def statistics(self, metric: Metric, subset: Subset) -> MetricStatistics:
        corpus = self.corpus
        mask = subset.mask(corpus.weights, corpus.is_original)
        weights = corpus.weights if metric.needs_weights else None
        return self.workspace.statistics(metric, weights=weights, reference_mask=mask)


def unusable_reason(metric: Metric, subset: Subset) -> str:
    """Why an item is left out of this metric under this subset."""
    if subset.kind == "threshold":
        which = f"no reference with {subset.label}"
        return f"{which} and above 0" if metric.needs_weights and subset.value < 0 else which
    which = "no original reference" if subset.kind == "original" else "no reference"
    return f"{which} of positive weight" if metric.needs_weights else which


def system_score_fields(statistics: MetricStatistics, system: int) -> dict[str, Any]:
    """What is stored of one system: the score with all it was summed from."""
    packed, aggregate = statistics.packed[system], statistics.aggregate
    sums = packed.sum(axis=0)
    score = float(aggregate(sums))
    fields: dict[str, Any] = {
        "score": none_if_nan(score),
        "undefined_reason": "",
        "clamped_orders": [],
        "segment_scores": [none_if_nan(value) for value in statistics.sentence_scores[system].tolist()],
        "statistics": packed.ravel().tolist(),
        "statistics_width": packed.shape[1],
        "details": {},
    }
    if math.isnan(score):
        counted = bool(statistics.valid[system].any())
        fields["undefined_reason"] = "nothing but empty texts" if counted else "no item has a usable reference"
    if isinstance(aggregate, BleuAggregate):
        fields["clamped_orders"] = [int(order) + 1 for order in np.flatnonzero(aggregate.clamped_orders(sums))]
        fields["details"] = bleu_details(aggregate, sums)
    return fields


def bleu_details(aggregate: BleuAggregate, sums: FloatArray) -> dict[str, Any]:
    """Precisions, brevity penalty, lengths and sums, in units of matches (BLEU) or weight (ΔBLEU)."""
    order, scale = aggregate.max_order, aggregate.weight_scale
    return {
        "precisions": aggregate.precisions(sums).tolist(),
        "brevity_penalty": none_if_nan(float(np.exp(log_brevity_penalty(sums[0], sums[1])))),
        "hypothesis_length": int(sums[0]),
        "reference_length": int(sums[1]),
        "numerators": (sums[2 : 2 + order] / scale).tolist(),
        "denominators": (sums[2 + order :] / scale).tolist(),
    }


def run_report(
    corpus: Corpus, metric: Metric, subset: Subset, statistics: MetricStatistics, seconds: float
) -> dict[str, Any]:
    """Counts that say what the score rests on."""
    mask = subset.mask(corpus.weights, corpus.is_original)
    usable = statistics.valid.all(axis=0)
    dropped: dict[str, list[str]] = dict(corpus.dropped)
    unusable = np.flatnonzero(~usable)
    if unusable.size:
        dropped[unusable_reason(metric, subset)] = [corpus.external_ids[place] for place in unusable.tolist()]
    return {
        "items": int(usable.size),
        "items_scored": int(usable.sum()),
        "dropped": [{"reason": reason, "count": len(names), "items": names} for reason, names in dropped.items()],
        "references": int(mask.sum()),
        "references_in_release": int(mask.size),
        "aggregate": statistics.aggregate.parameters(),
        "seconds": round(seconds, 3),
    }


def none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
