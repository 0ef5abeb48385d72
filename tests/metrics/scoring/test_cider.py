import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from metrics.scoring.cider import (
    VARIANTS,
    Cider,
    DocumentFrequencies,
    GramTable,
    build_gram_table,
    document_frequencies,
)
from metrics.scoring.metric import Workspace
from metrics.scoring.segments import Segments
from metrics.scoring.tallies import token_hashes
from metrics.scoring.token_ids import number_segments
from tests.metrics.scoring import overlap_oracles as oracles
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists

VARIANT = st.sampled_from(VARIANTS)
# Two segments that every corpus below is given as well: with one document alone there is no idf.
OTHERS = Corpus([["q", "r"], ["s"]], [[["q", "r", "s"]], [["s", "t"], ["u"]]], [[1], [1, 1]])


def with_others(corpus: Corpus) -> tuple[list[list[str]], list[list[list[str]]]]:
    return corpus.hypotheses + OTHERS.hypotheses, corpus.references + OTHERS.references


def scored(
    hypotheses: list[list[str]],
    references: list[list[list[str]]],
    mask: NDArray[np.bool_] | None = None,
    **parameters: object,
) -> list[float]:
    return oracles.segment_scores(Cider(**parameters), hypotheses, references, mask)  # type: ignore[arg-type]


@given(corpora(min_tokens=1))
def test_cider_d_is_pycocoevalcaps_cider(corpus: Corpus) -> None:
    hypotheses, references = with_others(corpus)
    score, scores = oracles.coco_cider(hypotheses, references)

    result = oracles.statistics(Cider(), hypotheses, references)

    assert result.sentence_scores[0] == pytest.approx(scores, abs=1e-6)
    assert result.system_scores()[0] == pytest.approx(score, abs=1e-6)


def test_cider_d_is_pycocoevalcaps_cider_on_real_conversations() -> None:
    sample = dstc7_sample()
    gold = [[text.split() for text in texts] for texts in sample.gold]
    for outputs in sample.outputs.values():
        hypotheses = [text.split() for text in outputs]
        score, scores = oracles.coco_cider(hypotheses, gold)
        result = oracles.statistics(Cider(), hypotheses, gold)
        assert result.sentence_scores[0] == pytest.approx(scores, abs=1e-6)
        assert result.system_scores()[0] == pytest.approx(score, abs=1e-6)


@given(oracles.masked_corpora(min_tokens=1))
def test_a_subset_of_the_references_scores_as_pycocoevalcap_scores_it_alone(
    masked: tuple[Corpus, NDArray[np.bool_]],
) -> None:
    corpus, mask = masked
    hypotheses, references = with_others(corpus)
    mask = np.concatenate([mask, [True, True, False]])
    remaining = oracles.kept_references(references, mask)
    counted = [index for index, texts in enumerate(remaining) if texts]
    score, scores = oracles.coco_cider([hypotheses[i] for i in counted], [remaining[i] for i in counted])

    result = oracles.statistics(Cider(), hypotheses, references, mask)

    assert result.valid[0].tolist() == [bool(texts) for texts in remaining]
    assert result.sentence_scores[0][counted] == pytest.approx(scores, abs=1e-6)
    assert result.system_scores()[0] == pytest.approx(score, abs=1e-6)


@given(corpora(min_tokens=1))
def test_the_plain_variant_is_equations_1_to_3_by_scikit_learn(corpus: Corpus) -> None:
    hypotheses, references = with_others(corpus)

    scores = scored(hypotheses, references, variant="cider")

    assert scores == pytest.approx(oracles.plain_cider(hypotheses, references), abs=1e-9)


@given(st.lists(st.permutations("abcdefg"), min_size=2, max_size=4))
def test_without_repeated_words_the_plain_variant_is_pycocoevalcaps_without_its_penalty(texts: list[list[str]]) -> None:
    # Where no word repeats there is nothing to clip, and a wide enough sigma penalises nothing.
    hypotheses = [text[: 2 + index] for index, text in enumerate(texts)]
    references = [[text[1:], text[::-1]] for text in texts[::-1]]
    _, scores = oracles.coco_cider_unpenalised(hypotheses, references)

    assert scored(hypotheses, references, variant="cider") == pytest.approx(scores, abs=1e-6)


@given(corpora(), VARIANT)
def test_scores_lie_between_0_and_10(corpus: Corpus, variant: str) -> None:
    scores = scored(*with_others(corpus), variant=variant)

    assert all(0 <= score <= 10 + 1e-9 for score in scores if not math.isnan(score))


@given(corpora(), VARIANT, st.randoms())
def test_the_order_of_references_does_not_matter(corpus: Corpus, variant: str, random: object) -> None:
    hypotheses, references = with_others(corpus)
    shuffled = [random.sample(texts, len(texts)) for texts in references]  # type: ignore[attr-defined]

    assert scored(hypotheses, shuffled, variant=variant) == pytest.approx(
        scored(hypotheses, references, variant=variant), nan_ok=True
    )


@given(st.permutations(["a", "b", "c", "d", "e"]), VARIANT)
def test_a_text_that_is_its_only_reference_has_the_maximum(text: list[str], variant: str) -> None:
    assert scored([text, *OTHERS.hypotheses], [[text], *OTHERS.references], variant=variant)[0] == pytest.approx(10.0)


@given(token_lists(min_size=4), VARIANT)
def test_no_text_fits_a_reference_better_than_itself(text: list[str], variant: str) -> None:
    references = [[text], *OTHERS.references]
    best = scored([text, *OTHERS.hypotheses], references, variant=variant)[0]
    reversed_score = scored([text[::-1], *OTHERS.hypotheses], references, variant=variant)[0]

    assert reversed_score <= best + 1e-9


@given(token_lists(min_size=1), token_lists(min_size=1))
def test_the_plain_cosine_is_symmetric(left: list[str], right: list[str]) -> None:
    # Frequencies are given, so that they are the same whichever text is the reference.
    frequencies = document_frequencies(table([left, right, ["q", "r"]], [[left], [right], [["q"]]]))
    forward, backward = (
        Cider(variant="cider").statistics(table([first], [[second]]), state=frequencies).sentence_scores[0, 0]
        for first, second in ((left, right), (right, left))
    )

    assert forward == pytest.approx(backward)


def table(hypotheses: list[list[str]], references: list[list[list[str]]]) -> GramTable:
    return build_gram_table(number_segments(Segments([hypotheses], references)))


@given(oracles.masked_corpora(), VARIANT, st.integers(1, 6))
def test_a_corpus_scored_in_parts_scores_as_a_whole(
    masked: tuple[Corpus, NDArray[np.bool_]], variant: str, cut: int
) -> None:
    corpus, mask = masked
    hypotheses, references = with_others(corpus)
    mask = np.concatenate([mask, [True, True, False]])
    cut = min(cut, len(hypotheses) - 1)
    n_first = sum(map(len, references[:cut]))
    metric = Cider(variant=variant)
    parts = [
        (Workspace(Segments([hypotheses[part]], references[part])).prepared(metric), mask[flat_part])
        for part, flat_part in ((slice(cut), slice(n_first)), (slice(cut, None), slice(n_first, None)))
    ]
    states = [metric.corpus_state(prepared, reference_mask=part_mask) for prepared, part_mask in parts]
    state = states[0].joined(states[1])

    scores = [
        score
        for prepared, part_mask in parts
        for score in metric.statistics(prepared, reference_mask=part_mask, state=state).sentence_scores[0]
    ]

    assert scores == pytest.approx(scored(hypotheses, references, mask, variant=variant), nan_ok=True)


def test_document_frequencies_join_in_any_order() -> None:
    parts = [
        document_frequencies(build_gram_table(number_segments(Segments([["x"]], [texts]))))
        for texts in (["a b", "a"], ["a c"], ["b"])
    ]
    left, right = parts[0].joined(parts[1]).joined(parts[2]), parts[2].joined(parts[0]).joined(parts[1])

    assert left.n_documents == right.n_documents == 3
    assert left.keys.tolist() == right.keys.tolist()
    assert left.counts.tolist() == right.counts.tolist()
    assert sorted(left.counts.tolist()) == [1, 1, 1, 2, 2]  # "a b", "a c", "c"; "a", "b"


def test_a_frequency_is_0_for_an_n_gram_that_no_document_holds() -> None:
    frequencies = DocumentFrequencies(np.array([3, 8], dtype=np.uint64), np.array([1, 5]), 7)

    assert frequencies.of(np.array([2, 3, 8, 9], dtype=np.uint64)).tolist() == [0, 1, 5, 0]


def test_hashes_are_the_same_everywhere() -> None:
    # BLAKE2b with 8 bytes of digest, RFC 7693; the number is coreutils': printf word | b2sum -l 64, bytes reversed.
    assert [hex(value) for value in token_hashes(["word"]).tolist()] == ["0x958ec7d727cfa44a"]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        ("", ["a b"], 0.0),
        ("a b", [""], 0.0),
        ("", [""], math.nan),
        ("", ["", "a"], 0.0),
        ("a b", [], math.nan),
        ("a", ["a"], 2.5),  # one order of four
        ("a", ["b"], 0.0),
        ("🙂 🙂 🙂 🙂", ["🙂 🙂 🙂 🙂"], 10.0),
        ("שלום עולם", ["שלום עולם"], 5.0),
        ("e\u0301te", ["e\u0301te"], 2.5),
        ("e\u0301te", ["\u00e9te"], 0.0),
        ("a b c d", ["a b c d", ""], 5.0),  # the empty reference counts among the two
    ],
)
def test_edge_cases_are_defined(variant: str, hypothesis: str, references: list[str], expected: float) -> None:
    # Two more segments, so that every n-gram above is rarer than the corpus is long.
    statistics = Workspace(Segments([[hypothesis, "q", "r"]], [references, ["q"], ["s"]])).statistics(
        Cider(variant=variant)
    )

    assert statistics.sentence_scores[0, 0] == pytest.approx(expected, nan_ok=True)


def test_one_document_has_no_score() -> None:
    result = oracles.statistics(Cider(), [["a", "b"], ["c"]], [[["a", "b"]], [["c"]]], np.array([True, False]))

    assert np.isnan(result.sentence_scores).all()
    assert not result.valid.any()
    assert np.isnan(result.system_scores()).all()


def test_a_text_of_ten_thousand_words_is_scored() -> None:
    rng = np.random.default_rng(7)
    text = [str(word) for word in rng.integers(0, 2000, 10_000)]

    assert scored([text, ["q"]], [[text], [["q"]]])[0] == pytest.approx(10.0)


@pytest.mark.parametrize("tokenize", ["zh", "char"])
def test_chinese_is_compared_by_characters_with_a_tokeniser_for_it(tokenize: str) -> None:
    metric = Cider(tokenize=tokenize)

    assert oracles.segment_scores(metric, ["我喜欢猫", "好"], [["我喜欢猫"], ["不"]]) == [pytest.approx(10.0), 0.0]  # type: ignore[list-item]


def test_its_signature_names_every_choice() -> None:
    assert Cider().signature().startswith("cider|var:cider_d|sigma:6|tok:none|lc:no|refs:all|")
