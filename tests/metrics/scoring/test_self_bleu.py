import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.self_bleu import SMOOTHINGS, SelfBleu
from tests.metrics.scoring import sacrebleu_oracle
from tests.metrics.scoring.corpora import dstc7_sample, token_lists
from tests.metrics.scoring.naive import closest_length, ngram_counts
from tests.metrics.scoring.sacrebleu_oracle import join
from tests.metrics.scoring.scored import scored

SAMPLE = dstc7_sample()


def one_against_the_others(outputs: list[list[str]], index: int, max_order: int, smoothing: str) -> float:
    """BLEU of one output as NLTK's sentence_bleu goes about it, all references at hand."""
    output, others = outputs[index], outputs[:index] + outputs[index + 1 :]
    if not output or not others:
        return math.nan
    score = math.exp(min(0.0, 1 - closest_length(output, others) / len(output)))
    for order in range(1, max_order + 1):
        most = {
            gram: max(ngram_counts(reference, order)[gram] for reference in others)
            for gram in ngram_counts(output, order)
        }
        matches = float(sum(min(count, most[gram]) for gram, count in ngram_counts(output, order).items()))
        total = max(len(output) - order + 1, 0)
        if order == 1 and matches == 0:
            return 0.0
        if smoothing == "add-one" and order > 1:
            matches, total = matches + 1, total + 1
        elif smoothing == "epsilon":
            matches = matches or 0.1
        score *= (matches / max(total, 1)) ** (1 / max_order)
    return score


@given(st.lists(token_lists(), min_size=1, max_size=7), st.integers(1, 5), st.sampled_from(SMOOTHINGS))
def test_it_is_what_comparing_every_output_with_every_other_gives(
    outputs: list[list[str]], max_order: int, smoothing: str
) -> None:
    statistics = scored(SelfBleu(max_order=max_order, smoothing=smoothing), outputs)
    wanted = [one_against_the_others(outputs, index, max_order, smoothing) for index in range(len(outputs))]
    np.testing.assert_allclose(statistics.sentence_scores[0], wanted, rtol=0, atol=1e-12)
    mean = np.nanmean(wanted) if not np.isnan(wanted).all() else math.nan
    np.testing.assert_allclose(statistics.system_scores(), [mean], rtol=0, atol=1e-12)


# NLTK 3.10.4: the mean of sentence_bleu(others, output, weights=[1 / n] * n, smoothing_function=method1), which is what
# Texygen's SelfBleu computes, over the 60 outputs of each system, split at whitespace.
@pytest.mark.parametrize(
    ("system", "max_order", "score"),
    [
        ("TeamA", 2, 0.43583204662840386),
        ("TeamA", 3, 0.31981802965354633),
        ("TeamA", 4, 0.23850590564256816),
        ("TeamG", 2, 0.36856842343230556),
        ("TeamG", 3, 0.19146415252538776),
        ("TeamG", 4, 0.11054649735127932),
    ],
)
def test_it_is_texygens_number_on_real_conversations(system: str, max_order: int, score: float) -> None:
    system_scores = scored(SelfBleu(max_order=max_order, tokenize="whitespace"), SAMPLE.outputs[system]).system_scores()
    assert system_scores.item() == pytest.approx(score, abs=1e-12)


@given(st.lists(token_lists(min_size=1), min_size=2, max_size=6), st.integers(1, 4))
def test_an_output_scores_sacrebleus_smoothed_sentence_bleu_against_the_others(
    outputs: list[list[str]], max_order: int
) -> None:
    scores = scored(SelfBleu(max_order=max_order, smoothing="add-one"), outputs).sentence_scores[0]
    for index, score in enumerate(scores):
        others = join(outputs[:index] + outputs[index + 1 :])
        wanted = sacrebleu_oracle.sentence_score(" ".join(outputs[index]), others, max_order, effective_order=False)
        assert score == pytest.approx(wanted, abs=1e-9)


def test_an_output_that_comes_twice_is_no_new_one() -> None:
    assert scored(SelfBleu(), ["a b c d", "x y", "a b c d"]).sentence_scores[0, [0, 2]].tolist() == [1.0, 1.0]


def test_a_part_of_the_segments_is_compared_within_itself() -> None:
    outputs = SAMPLE.outputs["TeamA"]
    chosen = [3, 8, 20, 21, 40]
    full, part = scored(SelfBleu(), outputs), scored(SelfBleu(), [outputs[index] for index in chosen])
    np.testing.assert_array_equal(full.system_scores(chosen), part.system_scores())


def test_one_output_alone_and_empty_outputs_have_no_score() -> None:
    assert np.isnan(scored(SelfBleu(), ["a b"]).system_scores()).all()
    statistics = scored(SelfBleu(max_order=1), ["a", "", "a"])
    np.testing.assert_array_equal(statistics.sentence_scores, [[1.0, np.nan, 1.0]])
    assert statistics.system_scores() == 1.0
    assert np.isnan(scored(SelfBleu(), ["", ""]).system_scores()).all()
