"""One pass over all thresholds says what each threshold says alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.scoring import thresholds
from metrics.scoring.metric import at_least
from metrics.scoring.ngrams import MatchTable, build_match_table
from metrics.scoring.statistics import SEMANTICS, SegmentStatistics, bleu_statistics, delta_bleu_statistics
from metrics.scoring.thresholds import ThresholdSweep
from tests.metrics.scoring.corpora import dstc7_sample

THRESHOLDS = [round(step / 10, 1) for step in range(-10, 11)]


def assert_same(swept: SegmentStatistics, alone: SegmentStatistics) -> None:
    np.testing.assert_array_equal(swept.valid, alone.valid)
    np.testing.assert_array_equal(swept.packed, alone.packed)
    np.testing.assert_array_equal(swept.sentence_scores(), alone.sentence_scores())
    assert swept.weight_scale == alone.weight_scale


def assert_each_threshold(table: MatchTable, weights: np.ndarray) -> None:
    sweep = ThresholdSweep(table, weights, THRESHOLDS)
    for value, bleu in zip(THRESHOLDS, sweep.bleu(), strict=True):
        assert_same(bleu, bleu_statistics(table, np.round(weights, 9) >= value))
    for semantics in SEMANTICS:
        for value, delta in zip(THRESHOLDS, sweep.delta_bleu(semantics), strict=True):
            mask = np.round(weights, 9) >= value
            assert_same(delta, delta_bleu_statistics(table, weights, mask, semantics=semantics))


def test_every_threshold_on_real_conversations() -> None:
    sample = dstc7_sample()
    table = build_match_table(
        list(sample.outputs.values()), sample.weighted, max_order=4, tokenize="13a", lowercase=True
    )
    # In tenths as from five ratings on five points: what a threshold leaves out cannot change the scale of the rest.
    weights = np.round(np.concatenate(sample.weights), 1)
    assert_each_threshold(table, weights)


words = st.lists(st.sampled_from("abc"), max_size=5)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[list[list[str]]], list[list[list[str]]], np.ndarray]:
    n_segments = draw(st.integers(1, 4))
    systems = [[draw(words) for _ in range(n_segments)] for _ in range(draw(st.integers(1, 2)))]
    references = [draw(st.lists(words, max_size=4)) for _ in range(n_segments)]
    tenths = [draw(st.integers(-10, 10)) for texts in references for _ in texts]
    return systems, references, np.array(tenths, dtype=np.float64) / 10


@pytest.mark.parametrize("pairs_at_once", [thresholds.PAIRS_AT_ONCE, 3])
@settings(max_examples=75)
@given(corpora())
def test_every_threshold_on_any_corpus(pairs_at_once: int, corpus: tuple) -> None:
    systems, references, weights = corpus
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "PAIRS_AT_ONCE", pairs_at_once)
        assert_each_threshold(build_match_table(systems, references, max_order=2), weights)


@pytest.mark.parametrize("thresholds", [[], [0.1, 0.1], [0.2, 0.1]])
def test_thresholds_out_of_order_are_refused(thresholds: list[float]) -> None:
    table = build_match_table([["a"]], [["a"]])
    with pytest.raises(ValueError, match=r"thresholds: found .*; accepted: one or more, each above the one before"):
        ThresholdSweep(table, [1.0], thresholds)


def test_weights_of_another_number_are_refused() -> None:
    table = build_match_table([["a"]], [["a"]])
    with pytest.raises(ValueError, match=r"weights: found shape \(2,\); accepted: \(1,\) finite numbers"):
        ThresholdSweep(table, [1.0, 0.5], [0.0])


def test_thresholds_are_compared_to_nine_decimals_however_computed() -> None:
    table = build_match_table([["a b"]], [["a", "b"]], max_order=1, tokenize="whitespace")
    weights = np.array([0.3, 0.1])

    # arange makes 0.30000000000000004 of the last one.
    sweep = ThresholdSweep(table, weights, np.arange(0.1, 0.35, 0.1)).bleu()

    assert [statistics.numerators.item() for statistics in sweep] == [2, 1, 1]
    assert at_least(weights, 0.1 + 0.2).tolist() == [True, False]
