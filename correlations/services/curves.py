"""What a study would have given with fewer ratings of outputs or references, or with fewer references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from annotation.core.numbers import finite_or_none
from correlations.results import sensitivity as results
from correlations.selectors.inputs import BoolArray, FloatArray, IntArray
from correlations.services.inputs import row_reads
from correlations.services.progress import part_of
from correlations.services.reweighing import ReferenceSide, corpus_weights, reads_references, rescored
from correlations.stats.subsampling import (
    USUAL_ASSIGNMENTS,
    Curve,
    Subset,
    counts_up_to,
    rank_within,
    subsampling_curve,
)
from correlations.stats.units import StudyMetric
from metrics.selectors.corpus import Corpus

if TYPE_CHECKING:
    from correlations.services.sensitivity import Shared

NO_REFERENCES = "no metric of this study reads references"
ONE_EACH = {
    results.RATINGS_OF_OUTPUTS: "no output has more than one rating",
    results.RATINGS_OF_REFERENCES: "no reference has more than one rating",
    results.N_REFERENCES: "no item has more than one reference that these metrics read",
}


class Plan(NamedTuple):
    """How to draw for a curve: ``counts`` are how many there are, of each output, reference or item."""

    counts: IntArray
    subset: Subset
    whole: tuple[list[StudyMetric], FloatArray]


def study_curves(shared: Shared, report: Callable[[int, int], None]) -> dict[str, results.Curve]:
    plans = {
        results.RATINGS_OF_OUTPUTS: _fewer_ratings_of_outputs(shared),
        results.RATINGS_OF_REFERENCES: _fewer_ratings_of_references(shared),
        results.N_REFERENCES: _fewer_references(shared),
    }
    curves = {}
    for place, (kind, plan) in enumerate(plans.items()):
        if isinstance(plan, str) or plan.counts.max(initial=0) < 2:
            curves[kind] = results.Curve(plan if isinstance(plan, str) else ONE_EACH[kind], ())
            continue
        drawn = subsampling_curve(
            counts_up_to(int(plan.counts.max())),
            plan.subset,
            plan.whole,
            shared.own,
            shared.inputs.pairs,
            replace(shared.inputs.sampling, n_assignments=min(USUAL_ASSIGNMENTS, shared.inputs.sampling.n_assignments)),
            n_draws=shared.n_draws,
            progress=part_of(report, place, len(plans)),
        )
        curves[kind] = _curve(drawn, plan.counts)
    return curves


def _curve(drawn: Curve, counts: IntArray) -> results.Curve:
    ahead = drawn.ahead().tolist()
    points = (
        results.CurvePoint(
            count=count,
            reached=float((counts >= count).mean()),
            rows=tuple(
                _value(drawn.values[place, :, row], float(drawn.segments[place, row]))
                for row in range(drawn.values.shape[2])
            ),
            ahead=tuple(ahead[place]),
        )
        for place, count in enumerate(drawn.points)
    )
    return results.Curve("", tuple(points))


def _value(values: FloatArray, items: float) -> results.CurveValue:
    """Summarise a row's draws; undefined if more than half of them are."""
    defined = values[~np.isnan(values)]
    if 2 * defined.size < values.size or not defined.size:
        return results.CurveValue(None, None, None, items)
    low, high = np.quantile(defined, results.MIDDLE)
    spread = finite_or_none(float(defined.std(ddof=1))) if defined.size > 1 else None
    return results.CurveValue(float(defined.mean()), spread, (float(low), float(high)), items)


def _fewer_ratings_of_outputs(shared: Shared) -> Plan | str:
    if reason := shared.missing.get(results.OUTPUTS, ""):
        return reason
    human = shared.inputs.human
    response = np.unique(human.table.response_id, return_inverse=True)[1]
    counted = np.unique(response[np.unique(shared.inputs.judged.judgement)])

    def subset(k: int, rng: np.random.Generator) -> tuple[list[StudyMetric], FloatArray]:
        ranks = rank_within(response, rng.random(response.size))
        return shared.metrics, human.mean_of(ranks[human.judgement] < k)

    return Plan(np.bincount(response)[counted], subset, (shared.metrics, human.mean))


def _fewer_ratings_of_references(shared: Shared) -> Plan | str:
    side = shared.references
    if not isinstance(side, ReferenceSide):
        return side

    def subset(k: int, rng: np.random.Generator) -> tuple[list[StudyMetric], FloatArray]:
        return shared.under(side.of_ratings(side.ranks(rng) < k)), shared.inputs.human.mean

    return Plan(side.counts(), subset, (shared.under(side.everything()), shared.inputs.human.mean))


def _fewer_references(shared: Shared) -> Plan | str:
    """Keep some of the references that a row reads, the same in every row that reads them."""
    inputs, reading = shared.inputs, [index for index, row in enumerate(shared.rows) if reads_references(row)]
    if not reading:
        return NO_REFERENCES
    read: dict[int, Corpus] = {}
    masks: dict[int, BoolArray] = {}
    for index in reading:
        row = shared.rows[index]
        read[index] = inputs.texts[row_reads(inputs.run_texts, row.metric, row.subset)].corpus
        masks[index] = row.subset.mask(corpus_weights(inputs, row), read[index].is_original)

    def subset(k: int, rng: np.random.Generator) -> tuple[list[StudyMetric], FloatArray]:
        keys = {id(corpus): rng.random(corpus.weights.size) for corpus in read.values()}
        metrics = list(shared.metrics)
        for index in reading:
            corpus, mask = read[index], masks[index]
            # Those that the row does not read come last.
            ranks = rank_within(corpus.reference_item, np.where(mask, keys[id(corpus)], 2.0))
            kept = (ranks < k)[None]
            (metrics[index],) = rescored(inputs, shared.rows[index], corpus.weights[None], kept)
        return metrics, inputs.human.mean

    counts = [
        np.bincount(read[index].reference_item, masks[index], len(read[index].references)).astype(np.int64)
        for index in reading
    ]
    return Plan(max(counts, key=lambda each: int(each.max(initial=0))), subset, (shared.metrics, inputs.human.mean))
