"""Rows of a study under other weights, or with fewer references: matches stay, sums are made again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.judgements.stand_ins import REASON as UNKNOWN_RATERS
from annotation.judgements.stand_ins import by_stand_ins
from annotation.models import Release
from annotation.references.weighing.selectors.columns import judged, release_columns
from annotation.weighting.redrawn import Reweighing
from annotation.weighting.schemes import SCHEMES
from correlations.selectors.inputs import BoolArray, FloatArray, IntArray
from correlations.services.inputs import Row, StudyInputs, row_reads, study_metric
from correlations.stats.subsampling import rank_within
from correlations.stats.units import StudyMetric
from metrics.scoring.external import External

NO_RELEASE = "without a release no metric reads weights"
IMPORTED = "the weights were imported: the judgements behind them are not stored here"
NOT_READ = "no metric of this study reads weights"
ONE_RATER = "one rater weighed all references: there is no other to draw"
CHANGED = "the judgements stored here do not give the release's weights"


def reads_weights(row: Row) -> bool:
    """Return whether the row's scores follow from weights: its metric reads them, or they choose its references."""
    return row.metric.needs_references and (row.metric.needs_weights or row.subset.kind == "threshold")


def reads_references(row: Row) -> bool:
    return row.metric.needs_references and row.metric.name != External.name


def rescored(inputs: StudyInputs, row: Row, weights: FloatArray, keep: BoolArray | None = None) -> list[StudyMetric]:
    """Return a row under each of B sets of weights (B, R) of its references; NaN, or not in ``keep``, is left out."""
    texts = inputs.texts[row_reads(inputs.run_texts, row.metric, row.subset)]
    metrics = []
    for scored in texts.scorer.reweighted(row.metric, row.subset, weights, keep):
        statistics = texts.placed(scored, inputs.n_items)
        valid = inputs.of_pair(inputs.counted_items(statistics))
        metrics.append(replace(study_metric(row.name, statistics, row.metric), valid=valid))
    return metrics


def corpus_weights(inputs: StudyInputs, row: Row) -> FloatArray:
    """Return the weights (R,) of the references that a row reads."""
    return inputs.texts[row_reads(inputs.run_texts, row.metric, row.subset)].corpus.weights


@dataclass(frozen=True)
class ReferenceSide:
    """The judgements behind the weights of a study's references."""

    again: Reweighing
    reference: IntArray  # (R,) of the study's references: their index among the release's

    @property
    def n_raters(self) -> int:
        return self.again.table.n_raters

    def everything(self) -> FloatArray:
        """Return the weights (R,) from all judgements."""
        return self.of_raters(np.ones(self.n_raters, dtype=np.int64))

    def of_raters(self, times: IntArray) -> FloatArray:
        return self.again.of_raters(times)[self.reference]

    def of_ratings(self, keep: BoolArray) -> FloatArray:
        return self.again.of_ratings(keep)[self.reference]

    def drawn(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Return the weights (size, R) if as many raters as there are were drawn, with replacement."""
        n = self.n_raters
        return np.stack([self.of_raters(np.bincount(rng.integers(0, n, n), minlength=n)) for _ in range(size)])

    def ranks(self, rng: np.random.Generator) -> IntArray:
        """Return each judgement's place in a random order of those of its reference."""
        table = self.again.table
        return rank_within(table.response, rng.random(len(table)))

    def counts(self) -> IntArray:
        """Return how many judgements each of the study's references has, (R,)."""
        return self.again.table.counts()[self.reference]


def reference_side(inputs: StudyInputs, release: Release | None, rows: Sequence[Row]) -> ReferenceSide | str:
    """Return the judgements behind the weights, or why they cannot be weighed again."""
    if release is None:
        return NO_RELEASE
    if not any(map(reads_weights, rows)):
        return NOT_READ
    evidence = judged(release)
    if evidence is None or release.method not in SCHEMES:
        return IMPORTED
    if by_stand_ins(evidence.rater_id).any():
        return UNKNOWN_RATERS
    if evidence.table.n_raters < 2:
        return ONE_RATER
    scheme, corpus = SCHEMES[release.method], inputs.referenced
    if corpus is None:
        return NOT_READ
    again = Reweighing(evidence.table, evidence.low, evidence.high, scheme, _parameters(release))
    side = ReferenceSide(again, reference_index(release, corpus.reference_ids))
    return side if np.allclose(side.everything(), corpus.weights, rtol=0, atol=1e-9) else CHANGED


def reference_index(release: Release, response_ids: IntArray) -> IntArray:
    """Return the index of these references among the release's."""
    stored = release_columns(release).response_id
    by_id = np.argsort(stored)
    return by_id[np.searchsorted(stored[by_id], response_ids)]


def _parameters(release: Release) -> Mapping[str, float]:
    scheme = SCHEMES[release.method]
    return scheme.defaults | {name: value for name, value in release.parameters.items() if name in scheme.defaults}
