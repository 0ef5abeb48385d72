import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.distinct import Distinct
from metrics.scoring.metric import Workspace
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import dstc7_sample, token_lists
from tests.metrics.scoring.naive import ngram_counts
from tests.metrics.scoring.scored import scored

SAMPLE = dstc7_sample()


@given(st.lists(token_lists(), min_size=1, max_size=6), st.integers(1, 4), st.sampled_from(("n-grams", "tokens")))
def test_it_counts_what_a_set_of_n_grams_holds(outputs: list[list[str]], order: int, over: str) -> None:
    statistics = scored(Distinct(order=order, over=over), outputs)
    ngrams = [gram for output in outputs for gram in ngram_counts(output, order).elements()]
    total = len(ngrams) if over == "n-grams" else sum(map(len, outputs))
    wanted = len(set(ngrams)) / total if total else np.nan
    np.testing.assert_allclose(statistics.system_scores(), [wanted])
    for output, score in zip(outputs, statistics.sentence_scores[0], strict=True):
        counts = ngram_counts(output, order)
        size = counts.total() if over == "n-grams" else len(output)
        np.testing.assert_allclose(score, len(counts) / size if size else np.nan)


def test_systems_share_the_work_and_nothing_else() -> None:
    metric = Distinct(order=1, tokenize="13a", lowercase=True)
    together = Workspace(Segments(list(SAMPLE.outputs.values()), SAMPLE.gold), [metric]).statistics(metric)
    alone = [scored(metric, outputs) for outputs in SAMPLE.outputs.values()]
    np.testing.assert_array_equal(together.system_scores(), [statistics.system_scores().item() for statistics in alone])
    np.testing.assert_array_equal(
        together.system_scores([4, 9]), [statistics.system_scores([4, 9]).item() for statistics in alone]
    )


def test_it_is_a_score_of_the_pool_and_not_a_mean() -> None:
    statistics = scored(Distinct(order=1), ["a b", "a b", "a b"])
    assert statistics.sentence_scores.tolist() == [[1.0, 1.0, 1.0]]
    assert statistics.system_scores() == pytest.approx(2 / 6)
    assert statistics.system_scores([0, 2]) == pytest.approx(2 / 4)
    assert not statistics.sums


def test_one_preparation_serves_all_orders() -> None:
    assert Distinct(order=1).preparation().joined(Distinct(order=3).preparation()) == Distinct(order=3).preparation()
    assert Distinct().preparation().joined(Distinct(lowercase=True).preparation()) is None
