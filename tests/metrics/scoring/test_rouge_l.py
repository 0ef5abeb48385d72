import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from metrics.scoring.metric import Workspace
from metrics.scoring.rouge_l import VARIANTS, RougeL, f_measure
from metrics.scoring.segments import Segments
from tests.metrics.scoring import overlap_oracles as oracles
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists

VARIANT = st.sampled_from(VARIANTS)


def scored(
    hypotheses: list[list[str]],
    references: list[list[list[str]]],
    mask: NDArray[np.bool_] | None = None,
    **parameters: object,
) -> list[float]:
    return oracles.segment_scores(RougeL(**parameters), hypotheses, references, mask)  # type: ignore[arg-type]


@given(corpora(min_tokens=1))
def test_the_coco_variant_is_pycocoevalcaps(corpus: Corpus) -> None:
    score, scores = oracles.coco_rouge_l(corpus.hypotheses, corpus.references)

    result = oracles.statistics(RougeL(), corpus.hypotheses, corpus.references)

    assert result.sentence_scores[0] == pytest.approx(scores, abs=1e-6)
    assert result.system_scores()[0] == pytest.approx(score, abs=1e-6)


@given(oracles.masked_corpora(min_tokens=1))
def test_a_subset_of_the_references_scores_as_if_the_others_were_not_there(
    masked: tuple[Corpus, NDArray[np.bool_]],
) -> None:
    corpus, mask = masked
    remaining = oracles.kept_references(corpus.references, mask)
    scores = scored(corpus.hypotheses, corpus.references, mask)
    for hypothesis, texts, score in zip(corpus.hypotheses, remaining, scores, strict=True):
        if texts:
            assert score == pytest.approx(oracles.coco_rouge_l([hypothesis], [texts])[0], abs=1e-6)
        else:
            assert math.isnan(score)


def test_the_coco_variant_is_pycocoevalcaps_on_real_conversations() -> None:
    sample = dstc7_sample()
    gold = [[text.split() for text in texts] for texts in sample.gold]
    for outputs in sample.outputs.values():
        hypotheses = [text.split() or ["nothing"] for text in outputs]
        score, scores = oracles.coco_rouge_l(hypotheses, gold)
        result = oracles.statistics(RougeL(), hypotheses, gold)
        assert result.sentence_scores[0] == pytest.approx(scores, abs=1e-6)
        assert result.system_scores()[0] == pytest.approx(score, abs=1e-6)


@given(token_lists(min_size=1), st.lists(token_lists(), min_size=1, max_size=4))
def test_the_best_f_is_that_of_the_rouge_score_package(hypothesis: list[str], references: list[list[str]]) -> None:
    expected = oracles.best_rouge_l(hypothesis, references)

    assert scored([hypothesis], [references], variant="best_f", beta=1.0) == [pytest.approx(expected, abs=1e-9)]


@pytest.mark.parametrize(
    ("candidate", "printed"),
    [("police kill the gunman", 0.75), ("the gunman kill police", 0.5), ("the gunman police killed", 0.5)],
)
def test_scores_are_those_printed_in_section_3_1_of_lin_2004(candidate: str, printed: float) -> None:
    # S2, S3 and S4 against S1, beta = 1.
    scores = scored([candidate.split()], [[["police", "killed", "the", "gunman"]]], beta=1.0)

    assert scores == [pytest.approx(printed)]


def test_the_variants_differ_where_precision_and_recall_are_best_in_different_references() -> None:
    hypothesis, references = ["a", "b"], [["a"], ["a", "b", "c", "d"]]

    assert scored([hypothesis], [references], beta=1.0) == [1.0]  # P = 2/2 of the second, R = 1/1 of the first
    assert scored([hypothesis], [references], beta=1.0, variant="best_f") == [pytest.approx(2 / 3)]


@given(corpora(), VARIANT, st.floats(0, 10))
def test_scores_lie_between_0_and_1(corpus: Corpus, variant: str, beta: float) -> None:
    scores = [s for s in scored(corpus.hypotheses, corpus.references, variant=variant, beta=beta) if not math.isnan(s)]

    assert all(0 <= score <= 1 + 1e-12 for score in scores)


@given(corpora(), VARIANT, st.randoms())
def test_the_order_of_references_does_not_matter(corpus: Corpus, variant: str, random: object) -> None:
    shuffled = [random.sample(texts, len(texts)) for texts in corpus.references]  # type: ignore[attr-defined]

    assert scored(corpus.hypotheses, shuffled, variant=variant) == pytest.approx(
        scored(corpus.hypotheses, corpus.references, variant=variant), nan_ok=True
    )


@given(corpora(), corpora(), VARIANT)
def test_segments_score_beside_others_as_alone(first: Corpus, second: Corpus, variant: str) -> None:
    together = scored(first.hypotheses + second.hypotheses, first.references + second.references, variant=variant)
    alone = [scored(corpus.hypotheses, corpus.references, variant=variant) for corpus in (first, second)]

    assert together == pytest.approx(alone[0] + alone[1], nan_ok=True)


@given(token_lists(min_size=1, max_size=80), st.lists(token_lists(), max_size=3), VARIANT)
def test_a_text_against_itself_has_1(text: list[str], others: list[list[str]], variant: str) -> None:
    assert scored([text], [[text, *others]], variant=variant) == [pytest.approx(1.0)]


@given(token_lists(min_size=1), token_lists(min_size=1))
def test_with_beta_1_either_text_may_be_the_reference(left: list[str], right: list[str]) -> None:
    assert scored([left], [[right]], beta=1.0) == pytest.approx(scored([right], [[left]], beta=1.0))


@given(token_lists(min_size=1), st.lists(token_lists(min_size=1), min_size=1, max_size=4), VARIANT)
def test_another_reference_never_lowers_a_score(text: list[str], references: list[list[str]], variant: str) -> None:
    fewer = scored([text], [references[1:] or references], variant=variant)[0]

    assert scored([text], [references], variant=variant)[0] >= fewer - 1e-12


def test_beta_0_is_precision_and_a_large_beta_nearly_recall() -> None:
    assert f_measure([0.5], [0.25], beta=0).tolist() == [0.5]
    assert f_measure([0.5], [0.25], beta=100).tolist() == [pytest.approx(0.25, abs=1e-4)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        ("", ["a b"], 0.0),
        ("a b", [""], 0.0),
        ("a b", ["", "a b"], 1.0),
        ("", [""], math.nan),
        ("", ["", "a"], 0.0),
        ("a b", [], math.nan),
        ("a", ["a"], 1.0),
        ("a", ["b"], 0.0),
        ("🙂 🙂", ["🙂"], 2.44 * 0.5 / (1 + 1.44 * 0.5)),  # P = 1/2, R = 1, beta = 1.2
        ("שלום עולם", ["שלום עולם"], 1.0),
        ("e\u0301te", ["e\u0301te"], 1.0),
        ("e\u0301te", ["\u00e9te"], 0.0),  # another code point sequence is another token: nothing is normalised
    ],
)
def test_edge_cases_are_defined(variant: str, hypothesis: str, references: list[str], expected: float) -> None:
    scores = scored([hypothesis], [references], variant=variant)  # type: ignore[list-item]

    assert scores == pytest.approx([expected], nan_ok=True)


def test_a_segment_without_a_reference_in_the_subset_does_not_count() -> None:
    result = oracles.statistics(RougeL(), [["a"], ["b"]], [[["a"]], [["c"]]], np.array([True, False]))

    assert result.valid.tolist() == [[True, False]]
    assert result.system_scores().tolist() == [1.0]


@pytest.mark.parametrize("tokenize", ["zh", "char"])
def test_chinese_is_compared_by_characters_with_a_tokeniser_for_it(tokenize: str) -> None:
    metric = RougeL(tokenize=tokenize, beta=1.0)

    assert oracles.segment_scores(metric, ["我喜欢猫"], [["我喜欢狗"]]) == [pytest.approx(0.75)]  # type: ignore[list-item]


def test_systems_share_what_they_have_in_common() -> None:
    segments = Segments([["a b", "c"], ["a b", "d"]], [["a b c"], ["d"]])
    scores = Workspace(segments).statistics(RougeL()).sentence_scores

    assert scores[0, 0] == scores[1, 0]
    assert scores[:, 1].tolist() == [0.0, 1.0]


def test_its_signature_names_every_choice() -> None:
    assert RougeL().signature().startswith("rouge_l|var:coco|beta:1.2|tok:none|lc:no|refs:all|")


@pytest.mark.parametrize(("name", "value"), [("variant", "sum"), ("beta", -1), ("tokenize", "ptb"), ("lowercase", 1)])
def test_it_says_which_parameter_is_wrong(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name}: found .*; accepted: "):
        RougeL(**{name: value})  # type: ignore[arg-type]
