"""Every metric of the registry that can be computed here, ready to score: those that need a model have a small one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.metric import Metric, MetricStatistics, Workspace
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import Model, ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.training import train as train_estimator
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import WORDS

# What the small models are trained on: the words of the random corpora and of the examples.
TRAINING = [" ".join(WORDS[start:] + WORDS[:start]) for start in range(len(WORDS))] + [
    *(" ".join(WORDS[: start + 1]) for start in range(len(WORDS))),
    "the cat sat on the mat",
    "a dog sat down by the door",
    "yes we can talk about the weather",
    "it rains cats and dogs in the street",
    "we sat by the street and the cat sat down",
    "can the dog talk in the rain",
]

# Rated by the number of their words.
RATED = [Instance("the cat", text, float(1 + len(text.split()) % 5)) for text in TRAINING]

# By kind of model: how a small one is trained.
TRAINED: dict[str, Callable[[], Model]] = {
    LanguageModel.kind: lambda: LanguageModel.train(TRAINING),
    LsaModel.kind: lambda: LsaModel.train(TRAINING + " ".join(TRAINING).split(), components=16),
    WordVectors.kind: lambda: WordVectors.train(TRAINING, min_count=1, dimension=12),
    QualityEstimator.kind: lambda: train_estimator(RATED, QualityOptions(estimator="ridge", source="text")),
}


def kinds_needed(name: str) -> set[str]:
    return {parameter.choices[0] for parameter in METRICS[name].parameter_list() if parameter.kind == "model"}


def ready(name: str) -> bool:
    metric = METRICS[name]
    return metric.group != "external" and not metric.unavailable() and kinds_needed(name) <= set(TRAINED)


# METEOR starts a Java program for each corpus, which takes seconds: its own tests hold it to these laws on fewer texts.
STARTS_A_PROGRAM = {"meteor"}

#: Names of the metrics that the tests of every metric are about.
CAST = [name for name in METRICS if ready(name) and name not in STARTS_A_PROGRAM]
#: Those of them that compare with references and read no model.
WITH_REFERENCES_ALONE = [name for name in CAST if METRICS[name].needs_references and not kinds_needed(name)]


@dataclass(frozen=True)
class Models:
    """A store, and what its models are called."""

    store: ModelStore
    names: dict[str, str]

    def metric(self, name: str, **parameters: Any) -> Metric:
        """The metric, with a model wherever it takes one."""
        trained = {
            parameter.name: self.names[parameter.choices[0]]
            for parameter in METRICS[name].parameter_list()
            if parameter.kind == "model"
        }
        return get_metric(name, **(trained | parameters))

    def score(
        self,
        metric: Metric,
        segments: Segments,
        weights: list[float] | NDArray[np.float64] | None = None,
        mask: list[bool] | NDArray[np.bool_] | None = None,
    ) -> MetricStatistics:
        if weights is None and metric.needs_weights:
            weights = np.ones(segments.n_references)
        workspace = Workspace(segments, [metric], self.store)
        return workspace.statistics(metric, weights=weights, reference_mask=mask)


def train(store: ModelStore) -> Models:
    return Models(store, {kind: store.add(build()) for kind, build in TRAINED.items()})
