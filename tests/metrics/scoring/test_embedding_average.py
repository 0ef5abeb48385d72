import numpy as np
import pytest

from metrics.scoring.embedding_average import EmbeddingAverage
from metrics.scoring.metric import Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.segments import Segments


def test_a_word_counts_as_often_as_it_comes_and_long_vectors_weigh_more(tmp_path):
    store = ModelStore([tmp_path])
    model = store.add(WordVectors.from_words(["east", "north"], [[4, 0], [0, 1]]))
    segments = Segments([["east east north"]], [["north"]])
    for variant, expected in (("nlg-eval", 1 / np.hypot(8, 1)), ("liu2016", 1 / np.hypot(2, 1))):
        metric = EmbeddingAverage(model=model, variant=variant)
        scores = Workspace(segments, [metric], store).statistics(metric).system_scores()
        assert scores[0] == pytest.approx(expected)
