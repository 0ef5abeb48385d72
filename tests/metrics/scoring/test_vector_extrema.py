import numpy as np
import pytest

from metrics.scoring.metric import Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.segments import Segments
from metrics.scoring.vector_extrema import VectorExtrema


def score(store, model, hypothesis, reference, variant):
    metric = VectorExtrema(model=model, variant=variant)
    segments = Segments([[hypothesis]], [[reference]])
    return Workspace(segments, [metric], store).statistics(metric).system_scores()[0]


def test_each_dimension_takes_the_value_furthest_from_0(tmp_path):
    store = ModelStore([tmp_path])
    model = store.add(WordVectors.from_words(["a", "b", "c"], [[3, -1], [-2, 0.5], [1, 0]]))
    # (3, -1) against (1, 0); the vector of "a" alone. Repeating a word changes nothing.
    assert score(store, model, "a b b", "c", "nlg-eval") == pytest.approx(3 / np.sqrt(10))


def test_a_tie_goes_to_the_smaller_value_as_by_the_formula_or_to_the_larger_as_in_the_program_of_liu(tmp_path):
    store = ModelStore([tmp_path])
    model = store.add(WordVectors.from_words(["a", "b", "right", "left"], [[1, 0], [-1, 0], [2, 0], [-2, 0]]))
    assert score(store, model, "a b", "left", "nlg-eval") == pytest.approx(1)
    assert score(store, model, "a b", "right", "liu2016") == pytest.approx(1)
