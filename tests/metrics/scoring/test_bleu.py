import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.bleu import corpus_bleu, sentence_bleu
from tests.metrics.scoring import naive, sacrebleu_oracle
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists

ORDERS = st.integers(1, 4)


def _has_tokens(corpus: Corpus) -> bool:
    # sacrebleu calls nothing against nothing 0; here it is undefined.
    return any(corpus.hypotheses) or all(map(all, corpus.references))


@given(corpora().filter(_has_tokens), ORDERS, st.sampled_from([("none", "none"), ("exp", "exp"), ("add-one", "add-k")]))
def test_corpus_bleu_is_sacrebleus(corpus: Corpus, max_order: int, smoothing: tuple[str, str]) -> None:
    our_smoothing, sacrebleus_smoothing = smoothing
    expected = sacrebleu_oracle.corpus_score(
        sacrebleu_oracle.join(corpus.hypotheses),
        list(map(sacrebleu_oracle.join, corpus.references)),
        max_order,
        smoothing=sacrebleus_smoothing,
    )

    result = corpus_bleu(corpus.hypotheses, corpus.references, max_order=max_order, smoothing=our_smoothing)

    assert result.score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("max_order", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("tokenize", "lowercase"),
    [("none", False), ("13a", False), ("13a", True), ("char", True), ("intl", True), ("zh", True)],
)
def test_corpus_bleu_is_sacrebleus_on_real_conversations(max_order: int, tokenize: str, lowercase: bool) -> None:
    sample = dstc7_sample()
    text = {"tokenize": tokenize, "lowercase": lowercase}
    for name in ("TeamA", "TeamCE"):
        expected = sacrebleu_oracle.corpus_score(sample.outputs[name], sample.gold, max_order, **text)
        result = corpus_bleu(sample.outputs[name], sample.gold, max_order=max_order, **text)
        assert result.score == pytest.approx(expected, abs=1e-9)


@given(token_lists(min_size=1), st.lists(token_lists(), min_size=1, max_size=4), ORDERS, st.booleans())
def test_sentence_bleu_is_sacrebleus_with_one_added_above_unigrams(
    hypothesis: list[str], references: list[list[str]], max_order: int, effective_order: bool
) -> None:
    expected = sacrebleu_oracle.sentence_score(
        " ".join(hypothesis), sacrebleu_oracle.join(references), max_order, effective_order
    )
    assert sentence_bleu(hypothesis, references, max_order=max_order) == pytest.approx(expected, abs=1e-9)


@given(token_lists(), st.lists(token_lists(), min_size=1, max_size=4), ORDERS, st.booleans())
def test_sentence_bleu_is_the_equation(
    hypothesis: list[str], references: list[list[str]], max_order: int, smooth_brevity: bool
) -> None:
    expected = naive.sentence_score(hypothesis, references, [10] * len(references), max_order, smooth_brevity)
    result = sentence_bleu(hypothesis, references, max_order=max_order, smooth_brevity=smooth_brevity)
    assert result == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_a_one_word_hypothesis_has_bigram_precision_one() -> None:
    # p_1 = 1, p_2 = (0 + 1) / (0 + 1); the reference is three words long, so BP = exp(1 - 3/1)
    assert sentence_bleu(["yes"], [["yes", "i", "can"]], max_order=4) == pytest.approx(math.exp(-2))


def test_of_equally_close_references_the_shorter_sets_the_brevity_penalty() -> None:
    result = corpus_bleu([["a", "b", "c"]], [[["a", "b", "c", "d"], ["a", "b"]]])
    assert (result.ref_len, result.brevity_penalty) == (2, 1.0)


def test_an_empty_hypothesis_scores_zero() -> None:
    result = corpus_bleu([[]], [[["a"]]])
    assert (result.score, result.brevity_penalty, result.clamped) == (0.0, 0.0, (True, True))


def test_nothing_against_nothing_is_undefined_and_says_why() -> None:
    result = corpus_bleu([""], [["  "]])
    assert math.isnan(result.score)
    assert result.reason == "no token in any counted hypothesis or reference"


def test_an_order_without_a_match_is_flagged() -> None:
    result = corpus_bleu(["a b c"], [["c b a"]])
    assert (result.score, result.precisions, result.clamped) == (0.0, (1.0, 0.0), (False, True))


def test_strings_and_token_lists_are_the_same_corpus() -> None:
    as_strings = corpus_bleu(["Été  à Paris", "🙂"], [["un été à paris"], ["🙂 🙂"]], lowercase=True)
    as_tokens = corpus_bleu(
        [("Été", "à", "Paris"), ["🙂"]], [[["un", "été", "à", "paris"]], [["🙂", "🙂"]]], lowercase=True
    )
    assert as_strings == as_tokens
    assert as_tokens.numerators == (4.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((["a"], [["a"], ["b"]]), {}, r"hypotheses: found 1; accepted: 2"),
        (("a", [["a"]]), {}, r"hypotheses: found one string"),
        ((["a", "b"], [["a"], "b"]), {}, r"references\[1\]: found one string"),
        ((["a", "b"], [["a"], []]), {}, r"references\[1\]: found no reference"),
        ((["a", "b"], [["a"], None]), {}, r"references\[1\]: found NoneType; accepted: a sequence of references"),
        (([], []), {}, r"references: found no segment"),
        ((["a", None], [["a"], ["b"]]), {}, r"hypotheses\[1\]: found NoneType"),
        ((["a", "b"], [["a"], ["b", ["c"]]]), {"tokenize": "13a"}, r"references\[1\]\[1\]: found list"),
        ((["a"], [["a"]]), {"tokenize": "14a"}, r"tokenize: found '14a'; accepted: 'none', 'whitespace', '13a'"),
        ((["a"], [["a"]]), {"max_order": 5}, r"max_order: found 5; accepted: an integer from 1 to 4"),
        ((["a"], [["a"]]), {"lowercase": "yes"}, r"lowercase: found 'yes'; accepted: True or False"),
        ((["a"], [["a"]]), {"smoothing": "floor"}, r"smoothing: found 'floor'; accepted: 'none', 'exp', 'add-one'"),
    ],
)
def test_bad_input_is_named(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corpus_bleu(*arguments, **options)
