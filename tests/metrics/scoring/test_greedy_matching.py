import tracemalloc

import numpy as np
import pytest

from metrics.scoring.greedy_matching import GreedyMatching
from metrics.scoring.metric import Workspace
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.segments import Segments


def score(store, model, hypothesis, reference, variant="nlg-eval"):
    metric = GreedyMatching(model=model, variant=variant)
    segments = Segments([[hypothesis]], [[reference]])
    return Workspace(segments, [metric], store).statistics(metric).system_scores()[0]


def test_both_directions_are_averaged_and_a_word_counts_as_often_as_it_comes(tmp_path):
    store = ModelStore([tmp_path])
    model = store.add(WordVectors.from_words(["east", "north", "far east"], [[1, 0], [0, 1], [9, 0]]))
    # From the hypothesis: east, east, north match 1, 1, 0; from the reference: east matches 1.
    assert score(store, model, "east east north", "east") == pytest.approx((2 / 3 + 1) / 2)
    assert score(store, model, ["far east"], ["east"]) == pytest.approx(1)


def test_a_word_that_fits_nowhere_counts_against_the_text_or_not_at_all(tmp_path):
    store = ModelStore([tmp_path])
    model = store.add(WordVectors.from_words(["east", "west"], [[1, 0], [-1, 0]]))
    assert score(store, model, "west", "east") == pytest.approx(-1)
    assert score(store, model, "west", "east", "liu2016") == 0.0


def test_texts_of_ten_thousand_words_take_little_memory(tmp_path):
    words = [f"w{i}" for i in range(6000)]
    store = ModelStore([tmp_path])
    model = store.add(WordVectors.from_words(words, np.random.default_rng(0).normal(size=(6000, 8))))
    text, reference = " ".join(words + words[:4000]), " ".join(reversed(words))
    tracemalloc.start()
    similarity = score(store, model, text, reference)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert similarity == pytest.approx(1)
    # All similarities at once would be 6,000 x 6,000 numbers of 8 bytes.
    assert peak < 6000 * 6000 * 8 / 2
