import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.delta_bleu import corpus_delta_bleu, sentence_delta_bleu
from metrics.scoring.explain.ngrams import NO_POSITIVE, explain_hypothesis
from metrics.scoring.ngrams import build_match_table
from metrics.scoring.sbleu import SentenceBleu
from metrics.scoring.statistics import SEMANTICS, delta_bleu_statistics
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists

SEMANTIC_NAMES = st.sampled_from(SEMANTICS)


@given(corpora(), st.integers(1, 4), SEMANTIC_NAMES)
def test_contributions_add_up_to_the_statistics(corpus: Corpus, max_order: int, semantics: str) -> None:
    hypothesis, references, weights = corpus.hypotheses[0], corpus.references[0], corpus.weights[0]
    options = {"max_order": max_order, "semantics": semantics}
    parts = explain_hypothesis(hypothesis, references, weights, **options).parts
    score = corpus_delta_bleu([hypothesis], [references], [weights], **options)
    for order in range(1, max_order + 1):
        of_order = [part for part in parts if part.order == order]
        assert sum(part.contribution for part in of_order) == pytest.approx(score.numerators[order - 1], abs=1e-12)
        assert sum(part.ceiling for part in of_order) == pytest.approx(score.denominators[order - 1], abs=1e-12)
        assert sorted(start for part in of_order for start in part.positions) == list(
            range(len(hypothesis) - order + 1)
        )


@given(corpora(), st.integers(1, 4), SEMANTIC_NAMES)
def test_the_account_is_the_array_codes_to_the_last_tenth(corpus: Corpus, max_order: int, semantics: str) -> None:
    """Whole tenths have no rounding: totals are equal, not nearly so. Every segment of the corpus is held to it."""
    table = build_match_table([corpus.hypotheses], corpus.references, max_order=max_order)
    tenths = np.concatenate([np.array(segment_tenths) for segment_tenths in corpus.tenths])
    statistics = delta_bleu_statistics(table, tenths / 10, semantics=semantics)[0]
    for index, hypothesis in enumerate(corpus.hypotheses):
        explanation = explain_hypothesis(
            hypothesis, corpus.references[index], corpus.weights[index], max_order=max_order, semantics=semantics
        )
        scale = statistics.weight_scale
        assert [total.numerator for total in explanation.totals] == (statistics.numerators[index] / scale).tolist()
        assert [total.denominator for total in explanation.totals] == (statistics.denominators[index] / scale).tolist()
        assert (explanation.hyp_len, explanation.ref_len) == (statistics.hyp_len[index], statistics.ref_len[index])
        assert explanation.score == pytest.approx(statistics.sentence_scores()[index], abs=1e-12, nan_ok=True)
        assert math.isnan(explanation.score) == bool(explanation.reason)


@given(token_lists(), st.lists(token_lists(), min_size=1, max_size=5), st.data(), SEMANTIC_NAMES)
def test_weights_that_are_no_tenths_add_up_as_well(hypothesis, references, data, semantics: str) -> None:
    weights = data.draw(
        st.lists(st.floats(-1, 1), min_size=len(references), max_size=len(references)).filter(
            lambda drawn: max(drawn) > 1e-3
        )
    )
    explanation = explain_hypothesis(hypothesis, references, weights, semantics=semantics)
    score = corpus_delta_bleu([hypothesis], [references], [weights], semantics=semantics)
    assert [total.numerator for total in explanation.totals] == pytest.approx(score.numerators, abs=1e-12)
    assert [total.denominator for total in explanation.totals] == pytest.approx(score.denominators, abs=1e-12)


@given(corpora(), st.integers(1, 4), SEMANTIC_NAMES)
def test_what_the_references_won_is_the_whole_numerator(corpus: Corpus, max_order: int, semantics: str) -> None:
    references, weights = corpus.references[0], corpus.weights[0]
    explanation = explain_hypothesis(
        corpus.hypotheses[0], references, weights, max_order=max_order, semantics=semantics
    )
    won = math.fsum(explanation.won(index) for index in range(len(references)))
    assert won == pytest.approx(math.fsum(total.numerator for total in explanation.totals), abs=1e-12)
    for part in explanation.parts:
        holders = [index for index, reference in enumerate(references) if contains(reference, part.ngram)]
        assert [offer.reference for offer in part.offers] == holders
        if semantics == "galley2015" and part.offers:
            assert part.contribution == max(offer.value for offer in part.offers)
        for offer in part.offers:
            assert all(
                tuple(references[offer.reference][start : start + part.order]) == part.ngram for start in offer.starts
            )


def contains(tokens, ngram) -> bool:
    return any(tuple(tokens[start : start + len(ngram)]) == ngram for start in range(len(tokens)))


def test_it_names_the_reference_that_won() -> None:
    # For "a": max(.9 * 1, .5 * 2) is the second reference's; "b" is in the bad one alone; "c" is in none.
    a, b, c = explain_hypothesis("a a b c", ["a", "a a", "b"], [0.9, 0.5, -0.4], max_order=1).parts
    assert (a.reference, a.weight, a.clipped, a.contribution, a.positions) == (1, 0.5, 2, 1.0, (0, 1))
    assert (b.reference, b.weight, b.clipped, b.contribution) == (2, -0.4, 1, -0.4)
    assert (c.reference, c.weight, c.clipped, c.contribution, c.ceiling) == (None, None, 0, 0.0, 0.9)


@pytest.mark.parametrize(
    ("semantics", "numerator", "winner", "counted_by"), [("galley2015", 1.0, 1, 1), ("sacrebleu2018", 1.8, 0, 1)]
)
def test_the_two_semantics_differ_as_worked_by_hand(
    semantics: str, numerator: float, winner: int, counted_by: int
) -> None:
    """h = "a a", "a" (.9), "a a" (.5): max(.9 x 1, .5 x 2) = 1.0 by the paper's equation, .9 x 2 = 1.8 by the code."""
    explanation = explain_hypothesis("a a", ["a", "a a"], [0.9, 0.5], max_order=1, semantics=semantics)
    (part,), (total,) = explanation.parts, explanation.totals
    assert (total.numerator, total.denominator) == (numerator, 1.8)
    assert (part.reference, part.counted_by) == (winner, counted_by)
    assert [(offer.clipped, offer.value) for offer in part.offers] == [(1, 0.9), (2, 1.0)]
    assert explanation.score == pytest.approx(numerator / 1.8)


def test_tenths_that_rounding_would_part_are_a_tie_and_the_first_wins() -> None:
    # 3 * 0.1 is 0.30000000000000004 in binary floating point, more than 0.3: in tenths the two are equal.
    (part, *_) = explain_hypothesis("a a a", ["a", "a a a"], [0.3, 0.1], max_order=1).parts
    assert (part.reference, part.contribution) == (0, 0.3)


def test_the_terms_of_the_sum_are_grouped_by_weight() -> None:
    """By hand: the and cat (.8), sat (-.4, in one reference); "mat" has no holder; four words at .8 are 3.2."""
    explanation = explain_hypothesis("the cat sat mat", ["the cat", "sat down"], [0.8, -0.4], max_order=2)
    unigrams, bigrams = explanation.totals
    assert unigrams.terms == ((0.8, 2), (-0.4, 1))
    assert (unigrams.numerator, unigrams.denominator, unigrams.precision) == (1.2, 3.2, 0.375)
    assert (bigrams.numerator, bigrams.denominator, bigrams.added) == (0.8, 2.4, 0.8)
    assert bigrams.smoothed == pytest.approx(1.6 / 3.2)
    assert (explanation.hyp_len, explanation.ref_len, explanation.brevity_penalty) == (4, 2, 1.0)
    assert explanation.score == pytest.approx((0.375 * 0.5) ** 0.5)


def test_without_weights_it_is_bleu_plus_one() -> None:
    hypothesis, references = ["a", "b", "c", "d"], [["a", "b", "x", "d"], ["a"]]
    table = build_match_table([[hypothesis]], [references], max_order=2)
    expected = SentenceBleu().statistics(table).sentence_scores.item()
    assert explain_hypothesis(hypothesis, references).score == pytest.approx(expected)


@given(token_lists(), st.lists(token_lists(), min_size=1, max_size=4), st.booleans())
def test_the_brevity_penalty_is_the_array_codes(hypothesis, references, smooth_brevity: bool) -> None:
    table = build_match_table([[hypothesis]], [references], max_order=2)
    expected = SentenceBleu(smooth_brevity=smooth_brevity).statistics(table).sentence_scores.item()
    explanation = explain_hypothesis(hypothesis, references, smooth_brevity=smooth_brevity)
    assert explanation.score == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_without_a_positive_weight_it_says_why_there_is_no_score() -> None:
    explanation = explain_hypothesis("a b", ["a", "b"], [-0.2, 0.0])
    assert math.isnan(explanation.score)
    assert explanation.reason == NO_POSITIVE
    assert [part.contribution for part in explanation.parts] == [-0.2, 0.0, 0.0]


def test_real_conversations_are_explained_as_they_are_scored() -> None:
    sample = dstc7_sample()
    n_explained = 0
    for name, outputs in sample.outputs.items():
        for output, references, weights in zip(outputs, sample.weighted, sample.weights, strict=True):
            if max(weights) > 0:
                options = {"tokenize": "13a", "lowercase": True, "max_order": 3}
                score = explain_hypothesis(output, references, weights, **options).score
                assert score == pytest.approx(sentence_delta_bleu(output, references, weights, **options)), name
                n_explained += 1
    assert n_explained > 100


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="references: found no reference; accepted: one or more"):
        explain_hypothesis("a", [])
    with pytest.raises(ValueError, match="weights: found 1; accepted: 2, one per reference"):
        explain_hypothesis("a", ["a", "b"], [1.0])
    with pytest.raises(ValueError, match=r"weights\[1\]: found nan; accepted: finite numbers"):
        explain_hypothesis("a", ["a", "b"], [1.0, math.nan])
