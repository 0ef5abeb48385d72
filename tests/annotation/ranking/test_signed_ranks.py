"""Wilcoxon's p against scipy's, which takes all signs in turn where ranks are tied."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from annotation.ranking.signed_ranks import MOST_COUNTED, signed_rank_p


@pytest.mark.parametrize("n", [1, 2, 7, 8, MOST_COUNTED + 1])
@pytest.mark.parametrize("steps", [2, 5])
def test_with_ties_and_without_a_difference_it_is_scipys(n: int, steps: int) -> None:
    rng = np.random.default_rng(n)
    for differences in rng.integers(-1, steps, (4, n)) / 3:
        differences[0] = 1 / 3  # one that differs
        assert signed_rank_p(differences) == wilcoxon(differences).pvalue


def test_the_most_that_are_counted_have_the_p_of_all_signs() -> None:
    differences = np.array([0, 0.5, 0.5, -0.5, 1, 1, -1, 1.5, 2, 2, -2, 2.5, 0])
    changed = differences[differences != 0]
    positive = np.array(list(product([False, True], repeat=changed.size)))
    sums = positive @ rankdata(np.abs(changed))
    found = rankdata(np.abs(changed))[changed > 0].sum()

    assert len(differences) == MOST_COUNTED
    assert signed_rank_p(differences) == pytest.approx(2 * min((sums <= found).mean(), (sums >= found).mean()))


def test_without_ties_it_is_scipys() -> None:
    differences = np.random.default_rng(3).normal(0.4, 1, 12)

    assert signed_rank_p(differences) == wilcoxon(differences).pvalue


def test_where_nothing_differs_it_is_1() -> None:
    assert signed_rank_p([0.0, 0.0]) == 1
