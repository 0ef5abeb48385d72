import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.bleu import corpus_bleu, reference_delta_bleu, sentence_bleu
from metrics.scoring.delta_bleu import corpus_delta_bleu, sentence_delta_bleu
from tests.metrics.scoring import naive, sacrebleu_oracle
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample

ORDERS = st.integers(1, 4)
SEMANTICS = st.sampled_from(["galley2015", "sacrebleu2018"])


@given(corpora(), ORDERS, SEMANTICS)
def test_corpus_delta_bleu_is_the_equation(corpus: Corpus, max_order: int, semantics: str) -> None:
    result = corpus_delta_bleu(
        corpus.hypotheses, corpus.references, corpus.weights, max_order=max_order, semantics=semantics
    )
    items = list(zip(corpus.hypotheses, corpus.references, corpus.tenths, strict=True))
    for order in range(1, max_order + 1):
        # Exact: both are whole tenths.
        above = sum(naive.numerator(h, r, w, order, semantics) for h, r, w in items)
        below = sum(naive.denominator(h, w, order) for h, _, w in items)
        assert result.numerators[order - 1] == float(above)
        assert result.denominators[order - 1] == float(below)
        assert result.clamped[order - 1] == (above <= 0)
    expected = naive.corpus_score(corpus.hypotheses, corpus.references, corpus.tenths, max_order, semantics)
    assert result.score == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(corpora(min_tokens=1), ORDERS)
def test_the_formula_in_plain_python_gives_the_same(corpus: Corpus, max_order: int) -> None:
    texts = corpus.hypotheses, corpus.references

    # A numerator of 0 may be a rounding error of either sign when weights are added one by one.
    weighted = corpus_delta_bleu(*texts, corpus.weights, max_order=max_order)
    if all(abs(numerator) > 1e-9 for numerator in weighted.numerators):
        assert reference_delta_bleu(*texts, corpus.weights, max_order) == pytest.approx(weighted.score, abs=1e-9)
    plain = corpus_bleu(*texts, max_order=max_order)
    assert reference_delta_bleu(*texts, corpus.unit_weights, max_order) == pytest.approx(plain.score, abs=1e-9)


@given(corpora(min_tokens=1), ORDERS)
def test_with_unit_weights_it_is_sacrebleus_bleu(corpus: Corpus, max_order: int) -> None:
    expected = sacrebleu_oracle.corpus_score(
        sacrebleu_oracle.join(corpus.hypotheses), list(map(sacrebleu_oracle.join, corpus.references)), max_order
    )
    result = corpus_delta_bleu(corpus.hypotheses, corpus.references, corpus.unit_weights, max_order=max_order)
    assert result.score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("max_order", [1, 2, 3, 4])
def test_with_unit_weights_it_is_sacrebleus_bleu_on_real_conversations(max_order: int) -> None:
    sample = dstc7_sample()
    for hypotheses in sample.outputs.values():
        expected = sacrebleu_oracle.corpus_score(hypotheses, sample.gold, max_order, tokenize="13a", lowercase=True)
        units = [[1.0] * len(texts) for texts in sample.gold]
        result = corpus_delta_bleu(hypotheses, sample.gold, units, max_order=max_order, tokenize="13a", lowercase=True)
        assert result.score == pytest.approx(expected, abs=1e-9)


@given(corpora(min_tokens=4), ORDERS)
def test_a_hypothesis_equal_to_its_best_reference_everywhere_scores_one(corpus: Corpus, max_order: int) -> None:
    best = [texts[tenths.index(max(tenths))] for texts, tenths in zip(corpus.references, corpus.tenths, strict=True)]
    assert corpus_delta_bleu(best, corpus.references, corpus.weights, max_order=max_order).score == 1.0


@given(corpora(), st.randoms(use_true_random=False), SEMANTICS)
def test_the_order_of_references_and_of_items_changes_nothing(corpus: Corpus, random, semantics: str) -> None:
    shuffled = []
    for hypothesis, texts, weights in zip(corpus.hypotheses, corpus.references, corpus.weights, strict=True):
        pairs = list(zip(texts, weights, strict=True))
        random.shuffle(pairs)
        shuffled.append((hypothesis, *zip(*pairs, strict=True)))
    random.shuffle(shuffled)
    before = corpus_delta_bleu(corpus.hypotheses, corpus.references, corpus.weights, semantics=semantics)
    after = corpus_delta_bleu(*zip(*shuffled, strict=True), semantics=semantics)
    assert (after.numerators, after.denominators) == (before.numerators, before.denominators)
    assert after.score == pytest.approx(before.score, abs=0, nan_ok=True)


@given(corpora(min_tokens=1), st.floats(0.01, 1.0))
def test_a_common_scale_of_the_weights_changes_nothing(corpus: Corpus, scale: float) -> None:
    scaled = [[weight * scale for weight in segment_weights] for segment_weights in corpus.weights]
    before = corpus_delta_bleu(corpus.hypotheses, corpus.references, corpus.weights)
    after = corpus_delta_bleu(corpus.hypotheses, corpus.references, scaled)
    # Precisions, not scores: the root of a sum that cancels to 1e-17 instead of 0 is no small number.
    assert after.precisions == pytest.approx(before.precisions, abs=1e-12)
    assert after.brevity_penalty == before.brevity_penalty


@pytest.mark.parametrize(("semantics", "expected"), [("galley2015", 1.0), ("sacrebleu2018", 1.8)])
def test_the_two_semantics_differ_where_weight_and_count_come_from_two_references(
    semantics: str, expected: float
) -> None:
    # max(.9 * 1, .5 * 2) = 1.0 by the equation; max(.9, .5) * max(1, 2) = 1.8 with the maxima apart
    result = corpus_delta_bleu(["a a"], [["a", "a a"]], [[0.9, 0.5]], max_order=1, semantics=semantics)
    assert result.numerators == (expected,)


def test_a_match_found_only_in_a_negative_reference_lowers_the_numerator() -> None:
    without = corpus_delta_bleu(["a b"], [["a x", "y"]], [[1.0, -0.4]], max_order=1)
    punished = corpus_delta_bleu(["a b"], [["a x", "b"]], [[1.0, -0.4]], max_order=1)
    assert without.numerators == (1.0,)
    assert punished.numerators == (0.6,)


def test_a_reference_of_weight_zero_lifts_a_punished_match_to_zero() -> None:
    lifted = corpus_delta_bleu(["a b"], [["a x", "b", "b"]], [[1.0, -0.4, 0.0]], max_order=1)
    assert lifted.numerators == (1.0,)


def test_among_negative_references_the_smaller_clipped_count_wins() -> None:
    result = corpus_delta_bleu(["a a a"], [["a a a", "a a", "b"]], [[-0.5, -0.5, 1.0]], max_order=1)
    assert result.numerators == (-1.0,)


def test_a_negative_numerator_makes_the_score_zero_and_is_flagged() -> None:
    result = corpus_delta_bleu(["a b"], [["a b", "c"]], [[-0.5, 1.0]])
    assert (result.score, result.numerators, result.precisions) == (0.0, (-1.0, -0.5), (0.0, 0.0))
    assert result.clamped == (True, True)


def test_the_2018_semantics_clamps_and_smooths_exponentially() -> None:
    # Unigrams: "a" 1.0 * min(2, 1), "b" -0.5, of 3. Bigrams: "a b" -0.5, clamped, then 1 / (2 * 2 bigrams).
    result = corpus_delta_bleu(["a b a"], [["a", "a b"]], [[1.0, -0.5]], semantics="sacrebleu2018")
    assert result.numerators == (0.5, -0.5)
    assert result.precisions == pytest.approx((0.5 / 3, 0.25))
    assert result.score == pytest.approx(math.sqrt(0.5 / 3 * 0.25))


def test_the_2018_semantics_smooths_a_corpus_without_any_positive_numerator() -> None:
    """sacrebleu of 2018 has no exception for it: `compute_bleu` in github.com/mgalley/sacreBLEU, commit 08bd687."""
    result = corpus_delta_bleu(["a b"], [["a b", "c"]], [[-0.5, 1.0]], semantics="sacrebleu2018")
    # 1 / (2 * 2 unigrams) and 1 / (4 * 1 bigram); the closest reference has two tokens.
    assert result.precisions == pytest.approx((0.25, 0.25))
    assert (result.score, result.clamped) == (pytest.approx(0.25), (True, True))
    by_the_paper = corpus_delta_bleu(["a b"], [["a b", "c"]], [[-0.5, 1.0]], smoothing="exp")
    assert by_the_paper.score == 0


def test_an_item_without_a_positive_weight_is_named() -> None:
    with pytest.raises(ValueError, match=r"weights\[1\]: found highest weight -0.2; accepted: .* above 0"):
        corpus_delta_bleu(["a", "b"], [["a"], ["b", "c"]], [[0.5], [-0.2, -0.3]])


def test_dropping_items_without_a_positive_weight_is_leaving_them_out() -> None:
    dropped = corpus_delta_bleu(["a b", "b c", "c"], [["a b"], ["b c"], []], [[0.5], [0.0], []], on_no_positive="drop")
    alone = corpus_delta_bleu(["a b"], [["a b"]], [[0.5]])
    assert dropped.dropped == (1, 2)
    assert (dropped.score, dropped.hyp_len, dropped.ref_len) == (alone.score, alone.hyp_len, alone.ref_len)


def test_dropping_every_item_leaves_the_score_undefined_and_says_why() -> None:
    result = corpus_delta_bleu(["a"], [["a"]], [[-1.0]], on_no_positive="drop")
    assert math.isnan(result.score)
    assert result.reason == "no segment counts"


def test_mean_ratings_of_three_judges_cancel_exactly() -> None:
    # 1/3 + 1/3 - 2/3: in floating point that need not be 0, and a precision of 1e-17 is no precision.
    thirds = [[1 / 3, 1.0], [1 / 3, 1.0], [-2 / 3, 1.0]]
    result = corpus_delta_bleu(["a"] * 3, [["a", "b"]] * 3, thirds, max_order=1)
    assert result.numerators == (0.0,)
    assert result.clamped == (True,)


@given(corpora(), ORDERS, st.booleans())
def test_sentence_delta_bleu_is_the_equation(corpus: Corpus, max_order: int, smooth_brevity: bool) -> None:
    hypothesis, references, tenths = corpus.hypotheses[0], corpus.references[0], corpus.tenths[0]
    result = sentence_delta_bleu(
        hypothesis, references, corpus.weights[0], max_order=max_order, smooth_brevity=smooth_brevity
    )
    expected = naive.sentence_score(hypothesis, references, tenths, max_order, smooth_brevity)
    assert result == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(corpora(), ORDERS)
def test_sentence_delta_bleu_with_unit_weights_is_sentence_bleu(corpus: Corpus, max_order: int) -> None:
    hypothesis, references = corpus.hypotheses[0], corpus.references[0]
    weighted = sentence_delta_bleu(hypothesis, references, corpus.unit_weights[0], max_order=max_order)
    assert weighted == pytest.approx(sentence_bleu(hypothesis, references, max_order=max_order), abs=1e-12, nan_ok=True)


def test_the_signature_tells_weights_apart() -> None:
    first = corpus_delta_bleu(["A b"], [["a b"]], [[0.5]], tokenize="whitespace", lowercase=True)
    second = corpus_delta_bleu(["A b"], [["a b"]], [[0.6]], tokenize="whitespace", lowercase=True)
    start, end = first.signature.split("|weights:sha256-")
    assert start == "delta_bleu|order:2|sem:galley2015|tok:whitespace|lc:yes|smooth:none"
    assert end[12:] == "|refs:all|nrefs:1|nopos:error|version:0.1.0"
    assert first.signature != second.signature


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        ([[0.5]], {}, r"weights: found 1; accepted: 2"),
        ([0.5, 0.5], {}, r"weights\[0\]: found 0.5; accepted: a list of numbers"),
        ([[0.5], [0.5]], {}, r"weights\[1\]: found 1 weights; accepted: 2, one per reference"),
        ([[0.5], [0.5, 4.2]], {}, r"weights\[1\]\[1\]: found 4.2; accepted: -1 to \+1"),
        ([[0.5], [math.nan, 0.5]], {}, r"weights\[1\]\[0\]: found nan; accepted: -1 to \+1"),
        ([[0.5], [0.5, "x"]], {}, r"weights\[1\]: found 'x'; accepted: numbers"),
        ([[0.5], [0.5, 0.1]], {"semantics": "2015"}, r"semantics: found '2015'; accepted: 'galley2015', "),
        ([[0.5], [0.5, 0.1]], {"on_no_positive": "skip"}, r"on_no_positive: found 'skip'; accepted: 'error', 'drop'"),
        ([[0.5], [0.5, 0.1]], {"smoothing": "add-one"}, r"smoothing: found 'add-one'; accepted: 'none', 'exp'"),
    ],
)
def test_bad_input_is_named(weights: list, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corpus_delta_bleu(["a", "b"], [["a"], ["b", "c"]], weights, **options)
