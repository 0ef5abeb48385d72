"""Ranges of ranks and clusters, with the definitions of WMT written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.ranking.ranks import clusters, rank_ranges


def table(pairs: dict[tuple[int, int], float], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return p-values and who is better: the first of each pair, which has that p."""
    p_values, better = np.full((n, n), np.nan), np.zeros((n, n), dtype=bool)
    for (i, j), p in pairs.items():
        p_values[i, j] = p_values[j, i] = p
        better[i, j] = True
    return p_values, better


def test_a_cluster_ends_where_all_above_beat_all_below() -> None:
    """The second and the third tie, and the last is behind all: three clusters, as WMT draws its lines."""
    pairs = {(0, 1): 0.01, (0, 2): 0.02, (0, 3): 0.001, (1, 2): 0.4, (1, 3): 0.03, (2, 3): 0.05}
    p_values, better = table(pairs, 4)

    assert clusters(p_values, better, [0, 1, 2, 3]).tolist() == [0, 1, 1, 2]
    assert rank_ranges(p_values, better).tolist() == [[1, 1], [2, 3], [2, 3], [4, 4]]


def test_a_chain_of_ties_is_one_cluster_though_its_ends_differ() -> None:
    p_values, better = table({(0, 1): 0.2, (0, 2): 0.01, (1, 2): 0.3}, 3)

    assert clusters(p_values, better, [0, 1, 2]).tolist() == [0, 0, 0]
    assert rank_ranges(p_values, better).tolist() == [[1, 2], [1, 3], [2, 3]]


def test_the_level_counts() -> None:
    p_values, better = table({(0, 1): 0.04}, 2)

    assert rank_ranges(p_values, better, alpha=0.01).tolist() == [[1, 2], [1, 2]]
    assert clusters(p_values, better, [0, 1], alpha=0.01).tolist() == [0, 0]


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_ranks_are_those_of_counting(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.permutation(n)
    better = scores[:, None] > scores
    p_values = np.triu(rng.random((n, n)) * 0.1, 1)
    p_values += p_values.T
    order = np.argsort(-scores)

    ranges = rank_ranges(p_values, better)
    groups = clusters(p_values, better, order)

    for i in range(n):
        above = sum(better[j, i] and p_values[i, j] <= 0.05 for j in range(n))
        below = sum(better[i, j] and p_values[i, j] <= 0.05 for j in range(n))
        assert ranges[i].tolist() == [1 + above, n - below]
    assert (np.diff(groups[order]) >= 0).all()
    for i in range(n):
        for j in range(n):
            if groups[i] < groups[j]:
                assert better[i, j]
                assert p_values[i, j] <= 0.05


@pytest.mark.parametrize(
    ("p_values", "better", "alpha", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 3)), 0.05, r"accepted: \(n, n\) both"),
        (np.ones((2, 2)), np.ones((3, 3)), 0.05, r"accepted: \(n, n\) both"),
        (np.ones((2, 2)), np.ones((2, 2)), 1.0, "alpha is 1.0"),
    ],
)
def test_other_shapes_are_refused(p_values, better, alpha, message) -> None:
    with pytest.raises(ValueError, match=message):
        rank_ranges(p_values, better, alpha=alpha)


def test_an_order_that_lacks_a_system_is_refused() -> None:
    with pytest.raises(ValueError, match="order is"):
        clusters(np.ones((2, 2)), np.ones((2, 2)), [0, 0])
