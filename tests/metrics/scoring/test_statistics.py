from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.bleu import corpus_bleu
from metrics.scoring.delta_bleu import corpus_delta_bleu
from metrics.scoring.ngrams import MatchTable, build_match_table
from metrics.scoring.statistics import bleu_statistics, delta_bleu_statistics, flat_weights
from tests.metrics.scoring.corpora import Corpus, corpora, dstc7_sample, token_lists


def _chosen(corpus: Corpus, mask: np.ndarray) -> tuple[list, list]:
    """The references, and their weights, that a flat mask keeps."""
    offsets = np.cumsum([0, *map(len, corpus.references)])
    indices = [np.flatnonzero(mask[a:b]) for a, b in pairwise(offsets)]
    references = [[texts[i] for i in chosen] for texts, chosen in zip(corpus.references, indices, strict=True)]
    weights = [
        [segment_weights[i] for i in chosen] for segment_weights, chosen in zip(corpus.weights, indices, strict=True)
    ]
    return references, weights


@st.composite
def masked_corpora(draw: st.DrawFn) -> tuple[Corpus, np.ndarray]:
    corpus = draw(corpora())
    size = sum(map(len, corpus.references))
    return corpus, np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)


@given(masked_corpora(), st.integers(1, 4), st.sampled_from(["galley2015", "sacrebleu2018"]))
def test_a_mask_is_scoring_with_only_those_references(
    masked: tuple[Corpus, np.ndarray], max_order: int, semantics: str
) -> None:
    corpus, mask = masked
    references, weights = _chosen(corpus, mask)
    table = build_match_table([corpus.hypotheses], corpus.references, max_order=4)
    small = build_match_table([corpus.hypotheses], references, max_order=max_order)

    bleu = bleu_statistics(table, mask, max_order=max_order)
    delta = delta_bleu_statistics(
        table, flat_weights(table, corpus.weights), mask, semantics=semantics, max_order=max_order
    )

    np.testing.assert_array_equal(bleu.valid[0], [bool(texts) for texts in references])
    np.testing.assert_array_equal(bleu.packed, bleu_statistics(small).packed)
    np.testing.assert_array_equal(delta.valid[0], [max(segment_weights, default=-1) > 0 for segment_weights in weights])
    expected = delta_bleu_statistics(small, flat_weights(small, weights), semantics=semantics)
    np.testing.assert_allclose(
        delta.packed[..., 2:] / delta.weight_scale, expected.packed[..., 2:] / expected.weight_scale, rtol=1e-12
    )
    np.testing.assert_array_equal(delta.packed[..., :2], expected.packed[..., :2])


@given(corpora(), st.data())
def test_systems_scored_together_are_systems_scored_alone(corpus: Corpus, data: st.DataObject) -> None:
    size = len(corpus.hypotheses)
    outputs = data.draw(st.lists(token_lists(), min_size=size, max_size=size))
    # The third system repeats the first, as systems that give the same answer do.
    systems = [corpus.hypotheses, outputs, corpus.hypotheses]
    table = build_match_table(systems, corpus.references)
    together = delta_bleu_statistics(table, flat_weights(table, corpus.weights))
    assert table.hyp_len.size <= 2 * size
    for index, hypotheses in enumerate(systems):
        alone = build_match_table([hypotheses], corpus.references)
        expected = delta_bleu_statistics(alone, flat_weights(alone, corpus.weights))[0]
        np.testing.assert_array_equal(together[index].packed, expected.packed)
        np.testing.assert_array_equal(together[index].sentence_scores(), expected.sentence_scores())


def test_sums_over_any_units_score_as_those_segments_do_alone() -> None:
    sample = dstc7_sample()
    systems = list(sample.outputs.values())
    table = build_match_table(systems, sample.weighted, tokenize="whitespace", lowercase=True)
    weights = flat_weights(table, sample.weights)
    delta = delta_bleu_statistics(table, weights, max_order=2)
    bleu = bleu_statistics(table, max_order=2)
    units = np.random.default_rng(7).permutation(table.n_segments).reshape(4, 15)

    delta_scores = delta.aggregate()(delta.packed[:, units].sum(axis=2))
    bleu_scores = bleu.aggregate()(bleu.packed[:, units].sum(axis=2))

    assert delta_scores.shape == bleu_scores.shape == (len(systems), 4)
    for system, hypotheses in enumerate(systems):
        for unit, segments in enumerate(units):
            texts = [hypotheses[i] for i in segments], [sample.weighted[i] for i in segments]
            options = {"tokenize": "whitespace", "lowercase": True}
            alone = corpus_delta_bleu(*texts, [sample.weights[i] for i in segments], on_no_positive="drop", **options)
            assert delta_scores[system, unit] == pytest.approx(alone.score, abs=1e-12)
            assert bleu_scores[system, unit] == pytest.approx(corpus_bleu(*texts, **options).score, abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "scale"), [([0.1, -0.7], 10), ([0.335, -0.5], 1000), ([1 / 3, 1 / 7], 2_882_880), ([0.2**0.5, 1.0], 1)]
)
def test_weights_that_are_fractions_are_kept_as_whole_numbers(weights: list[float], scale: int) -> None:
    table = build_match_table([["a", "b"]], [["a"], ["b"]], max_order=1)
    statistics = delta_bleu_statistics(table, weights)
    assert statistics.weight_scale == scale
    expected = weights[0] * scale
    assert statistics.numerators[0, 0, 0] == (expected if scale == 1 else round(expected))


def test_an_unrated_reference_outside_the_subset_needs_no_weight() -> None:
    table = build_match_table([["a b"]], [["a b", "a c"]])
    statistics = delta_bleu_statistics(table, [0.5, np.nan], [True, False])
    assert statistics.numerators[0, 0].tolist() == [10.0, 5.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="found nan for reference 1 of segment 0"):
        delta_bleu_statistics(table, [0.5, np.nan])


def test_a_corpus_without_words_in_common_has_statistics() -> None:
    table = build_match_table([["", "a"]], [[""], ["b", ""]])
    statistics = bleu_statistics(table)
    assert statistics.numerators.sum() == 0
    assert statistics.ref_len[0].tolist() == [0.0, 1.0]
    assert np.isnan(statistics.sentence_scores()[0, 0])
    assert statistics.sentence_scores()[0, 1] == 0.0


def test_an_ngram_said_equally_often_is_looked_up_once() -> None:
    table = build_match_table([["a a b"], ["a a c"], ["a"]], [["a", "a a", "a b", "c a a a"]], max_order=1)
    (matches,) = table.orders
    assert matches.case.size == 5  # a, b; a, c; a
    assert matches.cases.size == 4  # a said once, a said twice, b, c
    # Said twice, two references clip it to one and two do not.
    assert sorted(np.diff([*matches.tiers, matches.reference.size]).tolist()) == [1, 1, 2, 2, 4]
    assert bleu_statistics(table).numerators[:, 0, 0].tolist() == [3, 3, 1]


def _table() -> MatchTable:
    return build_match_table([["a b"]], [["a b", "a c"]], max_order=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bleu_statistics(_table(), [1, 0]), r"reference_mask: found int64 of shape \(2,\); accepted: bool"),
        (lambda: bleu_statistics(_table(), [True]), r"reference_mask: found bool of shape \(1,\)"),
        (lambda: bleu_statistics(_table(), max_order=3), r"max_order: found 3; accepted: 1 to 2"),
        (lambda: delta_bleu_statistics(_table(), [1.0]), r"weights: found shape \(1,\); accepted: \(2,\)"),
        (lambda: build_match_table([], [["a"]]), r"hypotheses: found no system"),
        (
            lambda: build_match_table([["a"], ["a", "b"]], [["a"]]),
            r"hypotheses of system 1: found 2; accepted: 1",
        ),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
