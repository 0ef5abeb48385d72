"""What a study is computed from, loaded and matched but not yet correlated."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from correlations.selectors.inputs import HumanSide
from correlations.specification import Specification
from correlations.stats.units import StudyMetric
from metrics.models import ScoreRun
from metrics.scoring.metric import Metric, MetricStatistics
from metrics.selectors.corpus import Corpus
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

    def study_metric(self) -> StudyMetric:
        return study_metric(self.run.signature, self.statistics)


@dataclass(frozen=True)
class StudyInputs:
    """T systems, S items, P pairs, and the rows of the table: each metric under each subset."""

    specification: Specification
    corpus: Corpus
    scorer: Scorer
    human: HumanSide
    pairs: npt.NDArray[np.int64]  # (P, 2)
    rows: list[Row]


def study_metric(name: str, statistics: MetricStatistics) -> StudyMetric:
    """Statistics as a row of a study: an item that any system lacks a score for drops out of the row."""
    return StudyMetric(
        name,
        statistics.packed,
        statistics.aggregate,
        np.asarray(statistics.valid.all(axis=0)),
        statistics.aggregate.clamped,
    )
