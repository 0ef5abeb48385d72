"""FM word by word: the words' logarithms sum to the text's, and each is what another reader of the model finds."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import arpa
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.explain.fm import explain_fluency, fluency_ratio
from metrics.scoring.fm import Fm
from metrics.scoring.metric import Workspace
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import dstc7_sample
from tests.metrics.scoring.explain.talk import few, texts


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return LanguageModel.train(dstc7_sample().gold_texts, order=3)


def test_each_word_has_the_probability_that_another_reader_of_arpa_files_finds(
    model: LanguageModel, tmp_path: Path
) -> None:
    # python-arpa 0.1.0b4
    model.write_arpa(tmp_path / "model.arpa")
    [oracle] = arpa.loadf(tmp_path / "model.arpa")
    explanation = explain_fluency(model, "i think the zyzzyva was good", order=3)
    history = ["<s>"]
    for word in explanation.words:
        token = word.text if word.is_known else "<unk>"
        expected = oracle.log_p_raw(tuple([*history, token][-3:]))
        assert word.log_probability == pytest.approx(expected * math.log(10), abs=1e-5)
        history.append(token)


@few
@given(text=texts, order=st.integers(1, 3))
def test_the_words_sum_to_the_text(model: LanguageModel, text: str, order: int) -> None:
    explanation = explain_fluency(model, text, order=order)
    logs, lengths = model.log_probabilities([text], [order])
    assert explanation.log_probability == pytest.approx(logs[order][0], abs=1e-9)
    assert explanation.n_words == lengths[0]
    assert all(1 <= word.order <= word.longest <= order for word in explanation.words)


@few
@given(hypothesis=texts, reference=texts, order=st.integers(1, 3))
def test_the_ratio_is_the_metrics(store: tuple[ModelStore, str], hypothesis: str, reference: str, order: int) -> None:
    models, name = store
    metric = Fm(model=name, order=order)
    workspace = Workspace(Segments([[hypothesis]], [[reference]]), [metric], models)
    language_model = models.load("language_model", name)
    of_hypothesis, of_reference = (
        explain_fluency(language_model, text, order=order) for text in (hypothesis, reference)
    )
    assert fluency_ratio(of_hypothesis, of_reference) == pytest.approx(
        workspace.statistics(metric).sentence_scores[0, 0], abs=1e-9
    )


def test_the_n_gram_that_gave_a_probability_is_the_longest_listed(model: LanguageModel) -> None:
    words = dstc7_sample().gold_texts[0].split()[:2]
    listed = {
        n: {tuple(model.words[index] for index in row) for row in model.backoff.rows(n).tolist()} for n in (1, 2, 3)
    }
    explanation = explain_fluency(model, " ".join([*words, "zyzzyva", "i", "i", "i"]), order=3)
    history = ["<s>"]
    for word in explanation.words:
        history.append(word.text if word.is_known else "<unk>")
        longest = max(n for n in (1, 2, 3) if n <= len(history) and tuple(history[-n:]) in listed[n])
        assert word.order == longest
        assert word.backed_off == (longest < min(3, len(history)))


def test_an_empty_text_is_read_as_the_word_for_it(model: LanguageModel) -> None:
    explanation = explain_fluency(model, "", order=2)
    assert [word.text for word in explanation.words] == ["_EMPTY_", "</s>"]
    assert explanation.n_words == 1


def test_two_texts_of_no_probability_are_equally_fluent(model: LanguageModel) -> None:
    logs = (np.where(np.arange(model.backoff.n_words) == 0, -np.inf, model.backoff.logs[0]), *model.backoff.logs[1:])
    strict = replace(model, backoff=replace(model.backoff, logs=logs))
    impossible = explain_fluency(strict, "zyzzyva", order=1)
    assert impossible.probability == 0
    assert fluency_ratio(impossible, impossible) == 1
    assert fluency_ratio(impossible, explain_fluency(strict, "good", order=1)) == 0


def test_an_order_that_the_model_lacks_is_refused(model: LanguageModel) -> None:
    with pytest.raises(ValueError, match="order: found 4; accepted: 1 to 3"):
        explain_fluency(model, "a", order=4)
