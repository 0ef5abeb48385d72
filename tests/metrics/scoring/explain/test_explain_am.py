"""AM as a sum over pairs of words: whatever the texts, the parts are those of the metric's score."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from metrics.scoring.am import Am
from metrics.scoring.explain.am import KnownWord, explain_am
from metrics.scoring.metric import Workspace
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import dstc7_sample
from tests.metrics.scoring.explain.talk import few, texts


@pytest.fixture(scope="module")
def model() -> LsaModel:
    return LsaModel.train(dstc7_sample().gold_texts, components=30)


def test_the_pairs_sum_to_the_cosine_that_scikit_learn_finds(model: LsaModel) -> None:
    # scikit-learn 1.x, cosine_similarity of counts times the model's singular vectors.
    hypothesis, reference = "i think the movie was good , the best", "the film was not good i think"
    explanation = explain_am(model, hypothesis, reference, k=20)
    index = {word: column for column, word in enumerate(model.words)}

    def vector(text: str) -> np.ndarray:
        counts = np.zeros(len(model.words))
        for word, count in Counter(text.split()).items():
            if word in index:
                counts[index[word]] = count
        return counts @ model.components[:20].T.astype(np.float64)

    expected = cosine_similarity([vector(hypothesis)], [vector(reference)])[0, 0]
    assert explanation.cosine == pytest.approx(expected, abs=1e-12)
    assert explanation.of_hypothesis.sum() == pytest.approx(expected, abs=1e-12)
    assert explanation.of_reference.sum() == pytest.approx(expected, abs=1e-12)


@few
@given(hypothesis=texts, reference=texts, k=st.integers(1, 30))
def test_the_score_is_the_metrics(store: tuple[ModelStore, str], hypothesis: str, reference: str, k: int) -> None:
    models, name = store
    metric = Am(model=name, k=k)
    workspace = Workspace(Segments([[hypothesis]], [[reference]]), [metric], models)
    explanation = explain_am(models.load("lsa", name), hypothesis, reference, k=k)
    assert explanation.score == pytest.approx(workspace.statistics(metric).sentence_scores[0, 0], abs=1e-9)
    assert explanation.amounts.sum() == pytest.approx(explanation.cosine, abs=1e-12)


def test_the_largest_parts_come_first_whatever_their_sign(model: LsaModel) -> None:
    explanation = explain_am(model, "i think the movie was good", "you do not know it", k=30)
    sizes = [abs(pair.amount) for pair in explanation.largest(1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(pair.amount for pair in explanation.largest(1000)) == pytest.approx(explanation.cosine, abs=1e-12)
    assert min(pair.amount for pair in explanation.largest(1000)) < 0


def test_words_that_the_space_does_not_know_are_named_and_add_nothing(model: LsaModel) -> None:
    explanation = explain_am(model, "Zyzzyva good, GOOD!", "good 😀", k=10)
    assert explanation.hypothesis_words == ["zyzzyva", "good", "good"]
    assert explanation.hypothesis == [KnownWord("good", 2)]
    assert explanation.cosine == pytest.approx(1)
    nothing = explain_am(model, "zyzzyva", "", k=10)
    assert (nothing.hypothesis, nothing.cosine, nothing.largest(3)) == ([], 0.0, [])


def test_a_model_without_so_many_dimensions_is_refused(model: LsaModel) -> None:
    with pytest.raises(ValueError, match="k: found 31; accepted: 1 to 30"):
        explain_am(model, "a", "b", k=31)
