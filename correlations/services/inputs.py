"""The inputs of a study: texts, ratings and statistics, not yet correlated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from correlations.errors import StudyError
from correlations.models import ParameterStudy, Study
from correlations.results.common import Versions
from correlations.results.study import NO_REFERENCES
from correlations.selectors.inputs import FloatArray, HumanSide, human_side
from correlations.services.studies import study_systems
from correlations.specification import NAMED, WITHOUT_RATERS, Specification
from correlations.stats.units import USUAL_SIZE, StudyMetric, UnitSampling
from metrics.models import ScoreRun
from metrics.scoring import VERSION
from metrics.scoring.metric import Metric, MetricStatistics
from metrics.selectors.corpus import Corpus, load_corpus
from metrics.services.scoring import Scorer
from metrics.subsets import Subset


@dataclass(frozen=True)
class Row:
    """One metric under one reference subset."""

    metric: Metric
    label: str
    subset: Subset
    statistics: MetricStatistics
    run: ScoreRun

    @property
    def subset_name(self) -> str:
        return str(self.subset) if self.metric.needs_references else NO_REFERENCES

    @property
    def subset_label(self) -> str:
        return self.subset.label if self.metric.needs_references else NO_REFERENCES

    def study_metric(self) -> StudyMetric:
        return study_metric(self.run.signature, self.statistics, self.metric)


@dataclass(frozen=True)
class StudyInputs:
    """T systems, S items, P pairs, and the rows of the table: each metric under each subset."""

    specification: Specification
    corpus: Corpus
    scorer: Scorer
    human: HumanSide
    pairs: npt.NDArray[np.int64]  # (P, 2)
    rows: list[Row]

    @property
    def sampling(self) -> UnitSampling:
        spec = self.specification
        return UnitSampling(
            seed=spec.seed,
            unit_size=spec.unit_size or USUAL_SIZE,
            n_assignments=spec.assignments,
            remainder=spec.remainder,
            orientation=spec.orientation,
            coefficients=spec.coefficients,
        )


def rated_corpus(
    study: Study | ParameterStudy, systems: Sequence[str], criteria: Sequence[str], *, items: str
) -> tuple[Corpus, HumanSide]:
    """Return the texts of a study, and the ratings that existed when it was created."""
    corpus = load_corpus(study.release, study_systems(study.release, systems), items=items)
    if not corpus.external_ids:
        counts = "; ".join(f"{reason}: {len(names)}" for reason, names in corpus.dropped.items())
        raise StudyError(f"No item can be used. Left out: {counts or 'the data set is empty'}.")
    named = study.specification[NAMED]
    last = max((mark["last"] for mark in named["ratings"].values()), default=0)
    campaigns = list(study.campaigns.order_by("name"))
    without = named.get(WITHOUT_RATERS, [])
    return corpus, human_side(corpus, campaigns, criteria, up_to=last, without_raters=without)


def counts(study: Study | ParameterStudy, corpus: Corpus, human: HumanSide) -> dict[str, int]:
    """Return the counts that studies of both kinds report."""
    return {
        "references": int(corpus.weights.size),
        "judgements": int(human.table.response_id.size),
        "raters": int(np.unique(human.table.rater_id).size),
        "raters_excluded": len(study.specification[NAMED].get(WITHOUT_RATERS, [])),
    }


def versions() -> Versions:
    return Versions(assay=VERSION, numpy=np.__version__)


def mean_rating(ratings: FloatArray) -> tuple[float | None, int]:
    """Return the mean of the ratings that are there, None if there are none, and their number."""
    rated = ratings[~np.isnan(ratings)]
    return float(rated.mean()) if rated.size else None, int(rated.size)


def study_metric(name: str, statistics: MetricStatistics, metric: Metric) -> StudyMetric:
    """Return statistics as a row of a study. The row leaves out items that any system lacks a score for.

    If low scores of the metric are the better ones, its sign is turned.
    """
    aggregate = statistics.aggregate
    return StudyMetric(
        name,
        statistics.packed,
        aggregate if metric.higher_is_better else (lambda sums: -aggregate(sums)),
        np.asarray(statistics.valid.all(axis=0)),
        aggregate.clamped,
    )
