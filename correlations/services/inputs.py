"""The inputs of a study: texts, ratings and statistics, not yet correlated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.models import Campaign
from annotation.rating.selectors.ratings import rater_places
from correlations.errors import StudyError
from correlations.models import ParameterStudy, Study
from correlations.results.common import Versions
from correlations.results.study import NO_REFERENCES
from correlations.selectors.inputs import BoolArray, FloatArray, HumanSide, IntArray, human_side
from correlations.services.studies import study_systems
from correlations.specification import LAST_RATING, NAMED, WITHOUT_RATERS, Specification, StudySpecification
from correlations.stats.units import USUAL_SIZE, StudyMetric, UnitSampling, counted_by_pair, counted_by_system
from metrics.models import ScoreRun
from metrics.scoring import VERSION
from metrics.scoring.aggregates import Aggregate
from metrics.scoring.metric import Metric, MetricStatistics
from metrics.selectors.corpus import Corpus, load_corpus, plain_kinds
from metrics.services.runs import RunTexts, checked_subset
from metrics.services.scoring import Scorer
from metrics.subsets import Subset

RELEASE = "release"
UNRATED = "no two compared systems have ratings of their outputs"
UNSCORED = "no metric has a score of two compared systems"


class Read(NamedTuple):
    """Which references a row reads: those of the release, or those of the data set from sources of these kinds."""

    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class Texts:
    """The items that some rows of a study read, and their index among all items of the study."""

    corpus: Corpus
    scorer: Scorer
    places: IntArray

    def placed(self, statistics: MetricStatistics, n_items: int) -> MetricStatistics:
        """Return statistics of these items as those of all items; the others have no score."""
        if self.places.size == n_items:
            return statistics
        n_systems, _, width = statistics.packed.shape
        packed = np.zeros((n_systems, n_items, width))
        valid = np.zeros((n_systems, n_items), dtype=np.bool_)
        scores = np.full((n_systems, n_items), np.nan)
        packed[:, self.places] = statistics.packed
        valid[:, self.places] = statistics.valid
        scores[:, self.places] = statistics.sentence_scores
        return MetricStatistics(packed, valid, scores, statistics.aggregate)


@dataclass(frozen=True)
class Row:
    """One metric under one reference subset. Without a run, because not every system answers every item."""

    metric: Metric
    label: str
    subset: Subset
    statistics: MetricStatistics
    counted: BoolArray  # (P, S): on which items the row compares each pair
    signature: str
    run: ScoreRun | None

    @property
    def name(self) -> str:
        return f"{self.signature} {self.subset_name}"

    @property
    def subset_name(self) -> str:
        return str(self.subset) if self.metric.needs_references else NO_REFERENCES

    @property
    def subset_label(self) -> str:
        return self.subset.label if self.metric.needs_references else NO_REFERENCES


@dataclass(frozen=True)
class StudyInputs:
    """T systems, S items, P pairs, and the rows of the table: each metric under each subset."""

    specification: Specification
    corpus: Corpus  # of all S items
    texts: Mapping[Read, Texts]
    run_texts: RunTexts
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

    @property
    def n_items(self) -> int:
        return len(self.corpus.external_ids)

    @cached_property
    def referenced(self) -> Corpus | None:
        """Return the items with all references that a row reads; None if no row reads any."""
        corpora = [texts.corpus for read, texts in self.texts.items() if read.references]
        return max(corpora, key=lambda corpus: corpus.weights.size, default=None)

    @cached_property
    def counted(self) -> BoolArray:
        """Return the items (P, S) on which any row compares each pair."""
        return np.asarray(np.logical_or.reduce([row.counted for row in self.rows]))

    @cached_property
    def judged(self) -> HumanSide:
        """Return the ratings of outputs that count in any row."""
        return self.human.counted(self.of_pair(self.counted))

    @cached_property
    def used(self) -> BoolArray:
        """Return the items (S,) that count in any row."""
        return np.asarray(self.counted.any(axis=0))

    def statistics(self, metric: Metric, subset: Subset) -> MetricStatistics:
        """Return the statistics of the table's row, or compute them."""
        for row in self.rows:
            if row.metric == metric and (row.subset == subset or not metric.needs_references):
                return row.statistics
        texts = self.texts[row_reads(self.run_texts, metric, subset)]
        return texts.placed(texts.scorer.statistics(metric, subset), self.n_items)

    def of_pair(self, pairs: BoolArray) -> BoolArray:
        """Return the outputs (T, S) that count in any pair, from items (P, S)."""
        return counted_by_system(pairs, self.pairs, len(self.corpus.systems))

    def study_metric(self, row: Row) -> StudyMetric:
        return replace(study_metric(row.name, row.statistics, row.metric), valid=self.of_pair(row.counted))

    def counted_items(self, statistics: MetricStatistics) -> BoolArray:
        """Return the items (P, S) on which a metric with these statistics compares each pair."""
        return counted_by_pair(statistics.valid, self.human.mean, self.pairs)


def row_reads(texts: RunTexts, metric: Metric, subset: Subset) -> Read:
    """Return which references a metric under a subset reads."""
    if not metric.needs_references:
        return Read()
    if texts.release is not None:
        return Read((RELEASE,))
    return Read(tuple(plain_kinds(checked_subset(texts, metric, subset))))


def read_corpus(texts: RunTexts, read: Read) -> Corpus:
    """Load the items with such references and an output of any system; without references all items with outputs."""
    if RELEASE in read.references:
        return load_corpus(texts.release, texts.systems, of_every_system=False)
    return load_corpus(None, texts.systems, reference_kinds=read.references, of_every_system=False)


def study_texts(study: Study | ParameterStudy, systems: Sequence[str]) -> RunTexts:
    return RunTexts(study.dataset, study.release, study_systems(study.dataset_id, systems))


def study_ratings(
    study: Study | ParameterStudy, corpus: Corpus, spec: StudySpecification, campaigns: Sequence[Campaign] = ()
) -> HumanSide:
    """Return the ratings of a corpus's outputs that existed when the study was created.

    ``campaigns`` are by default those that are stored with the study.
    """
    if not corpus.external_ids:
        counts = "; ".join(f"{reason}: {len(names)}" for reason, names in corpus.dropped.items())
        raise StudyError(f"No item can be used. Left out: {counts or 'the data set is empty'}.")
    last = study.specification[LAST_RATING]
    campaigns = campaigns or list(study.campaigns.order_by("name"))
    places = set(study.specification[NAMED].get(WITHOUT_RATERS, []))
    without = [pk for pk, place in rater_places(study.project_id).items() if place in places] if places else []
    return human_side(corpus, campaigns, spec.criteria, up_to=last, without_raters=without)


def counts(study: Study | ParameterStudy, referenced: Corpus | None, human: HumanSide) -> dict[str, int]:
    """Return the counts that studies of both kinds report."""
    return {
        "references": 0 if referenced is None else int(referenced.weights.size),
        "judgements": human.n_judgements,
        "raters": human.n_raters,
        "raters_excluded": len(study.specification[NAMED].get(WITHOUT_RATERS, [])),
    }


def versions() -> Versions:
    return Versions(assay=VERSION, numpy=np.__version__)


def mean_rating(ratings: FloatArray) -> tuple[float | None, int]:
    """Return the mean of the ratings that are there, None if there are none, and their number."""
    rated = ratings[~np.isnan(ratings)]
    return float(rated.mean()) if rated.size else None, int(rated.size)


@dataclass(frozen=True, eq=False)
class Turned:
    """An aggregate whose scores are turned if low ones are the better."""

    aggregate: Aggregate
    sign: float

    def __call__(self, sums: FloatArray) -> FloatArray:
        return self.sign * self.aggregate(sums)


def study_metric(name: str, statistics: MetricStatistics, metric: Metric) -> StudyMetric:
    """Return statistics as a row of a study. If low scores of the metric are the better ones, its sign is turned."""
    aggregate = statistics.aggregate
    return StudyMetric(
        name,
        statistics.packed,
        aggregate if metric.higher_is_better else Turned(aggregate, -1.0),
        statistics.valid,
        aggregate.clamped,
    )
