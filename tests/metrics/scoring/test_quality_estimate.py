"""The quality estimate is what its model predicts for each output of its own source."""

import numpy as np
import pytest

from metrics.scoring.metric import Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.training import train
from metrics.scoring.quality_estimate import QualityEstimate
from metrics.scoring.segments import Segments

ACTS = [f"inform(name='X',food={food})" for food in ("Thai", "French", "Greek", "Cuban")]
OUTPUTS = ["x serves thai food", "x serves french food", "x food food", "is is is x", "x", "greek food at x", "cuban x"]
SYSTEMS = [OUTPUTS[:4], [OUTPUTS[0], *OUTPUTS[4:]]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ModelStore:
    return ModelStore([tmp_path_factory.mktemp("models")])


@pytest.fixture(scope="module")
def model(store: ModelStore) -> str:
    rated = [Instance(act, output, 1 + (len(output) % 9) / 2) for act in ACTS for output in OUTPUTS]
    return store.add(train(rated, QualityOptions(estimator="ridge")))


@pytest.mark.parametrize("rounded", [True, False])
def test_scores_are_the_models_predictions(store: ModelStore, model: str, rounded: bool) -> None:
    metric = QualityEstimate(model=model, rounded=rounded)
    segments = Segments(SYSTEMS, [[]] * 4, sources=[""] * 4, prompts=ACTS)

    statistics = Workspace(segments, [metric], store).statistics(metric)

    estimator = store.load(QualityEstimator.kind, model)
    expected = [
        [
            float(estimator.predict([act], [output], rounded=rounded)[0])
            for act, output in zip(ACTS, system, strict=True)
        ]
        for system in SYSTEMS
    ]
    np.testing.assert_allclose(statistics.sentence_scores, expected, rtol=1e-12)
    np.testing.assert_allclose(statistics.system_scores(), np.mean(expected, axis=1), rtol=1e-12)
    assert bool(np.all(statistics.sentence_scores * 2 % 1 == 0)) is rounded


def test_without_prompts_it_reads_the_messages(store: ModelStore, model: str) -> None:
    metric = QualityEstimate(model=model)
    of_prompts, of_sources = (
        Workspace(Segments(SYSTEMS, [[]] * 4, **{name: ACTS}), [metric], store).statistics(metric).sentence_scores
        for name in ("prompts", "sources")
    )

    np.testing.assert_array_equal(of_prompts, of_sources)
