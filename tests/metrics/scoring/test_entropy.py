import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics.scoring.entropy import Entropy
from tests.metrics.scoring.corpora import dstc7_sample, token_lists
from tests.metrics.scoring.naive import ngram_counts
from tests.metrics.scoring.scored import scored

SAMPLE = dstc7_sample()


def expected(outputs: list[list[str]], order: int, base: float | None = None) -> float:
    counts: dict[tuple[str, ...], int] = {}
    for output in outputs:
        for gram, count in ngram_counts(output, order).items():
            counts[gram] = counts.get(gram, 0) + count
    return float(stats.entropy(list(counts.values()), base=base)) if counts else np.nan


@given(st.lists(token_lists(), min_size=1, max_size=6), st.integers(1, 4))
def test_it_is_scipys_entropy_of_the_counts(outputs: list[list[str]], order: int) -> None:
    statistics = scored(Entropy(order=order), outputs)
    np.testing.assert_allclose(statistics.system_scores(), [expected(outputs, order)], atol=1e-12)
    np.testing.assert_allclose(
        statistics.sentence_scores[0], [expected([output], order) for output in outputs], atol=1e-12
    )


def test_it_is_scipys_entropy_on_real_conversations_in_nats_and_in_bits() -> None:
    outputs = SAMPLE.outputs["TeamG"]
    tokens = [output.split() for output in outputs]
    assert scored(Entropy(), outputs).system_scores() == pytest.approx(expected(tokens, 4))
    assert scored(Entropy(base="2"), outputs).system_scores() == pytest.approx(expected(tokens, 4, base=2))
    assert scored(Entropy(), outputs).system_scores([1, 5, 7]) == pytest.approx(
        expected([tokens[index] for index in (1, 5, 7)], 4)
    )


def test_it_sees_what_distinct_does_not() -> None:
    even, uneven = scored(Entropy(order=1), ["a a b b"]), scored(Entropy(order=1), ["a a a b"])
    assert even.system_scores() == pytest.approx(np.log(2))
    assert uneven.system_scores() < even.system_scores()
