from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.models.ngrams.good_turing import EPSILON, discounts, widened

# As many events as a corpus of millions of words has that were seen r times; made up, and falling as such counts do.
MANY_COUNTS = [0, 2_000_000, 450_000, 190_000, 105_000, 68_000, 48_000, 36_000, 28_000]

# Counts of counts that SRILM's own test "ngram-count-gt" prints for Switchboard, and what it says of them.
SWITCHBOARD_UNIGRAMS = [0, 8810, 3821]
SWITCHBOARD_BIGRAMS = [0, 271981, 57170, 24789, 14210, 9255, 6346, 4882, 3701]


@pytest.mark.parametrize("counts", [MANY_COUNTS, SWITCHBOARD_BIGRAMS])
def test_discounts_take_from_each_count_a_like_share_of_what_good_and_turing_take(counts: list[int]) -> None:
    """The conditions by which Katz (1987) derives his discounts, solved here in exact fractions.

    What a count loses is in proportion to what Turing's estimate r* = (r + 1) n_(r+1) / n_r (Good 1953) takes from it,
    1 - d_r = mu (1 - r* / r), and all that is lost is the share of the unseen, n_1.
    """
    shares = [1 - Fraction((r + 1) * counts[r + 1], r * counts[r]) for r in range(1, 8)]
    mu = counts[1] / sum(r * counts[r] * share for r, share in enumerate(shares, start=1))
    np.testing.assert_allclose(discounts(counts, 7)[1:], [float(1 - mu * share) for share in shares], rtol=1e-12)


@pytest.mark.parametrize("counts", [MANY_COUNTS, SWITCHBOARD_BIGRAMS])
def test_what_seen_events_lose_is_what_the_unseen_get(counts: list[int]) -> None:
    r = np.arange(1, 8)
    lost = (np.array(counts)[r] * r * (1 - discounts(counts, 7)[r])).sum()
    assert lost == pytest.approx(counts[1])  # Katz 1987, eq. 4


def test_single_words_seen_once_are_not_discounted_by_default_as_srilm_says_of_switchboard() -> None:
    # "warning: discount coeff 1 is out of range: 0"
    np.testing.assert_array_equal(discounts(SWITCHBOARD_UNIGRAMS, 1), [1, 1])


def test_the_highest_count_is_lowered_where_none_is_above_it() -> None:
    np.testing.assert_array_equal(discounts([0, 10, 3, 1, 0, 0, 0, 0, 0], 7), discounts([0, 10, 3, 1], 2))


@pytest.mark.parametrize("counts", [[0, 0, 3, 2], [0, 0, 0, 0], [0, 5, 0, 0]])
def test_without_counts_to_go_by_nothing_is_discounted(counts: list[int]) -> None:
    np.testing.assert_array_equal(discounts(counts, 2), [1])


def test_counts_that_do_not_occur_or_would_grow_are_not_discounted() -> None:
    coefficients = discounts([0, 100, 0, 10, 20, 1], 4)
    assert coefficients[2] == 1
    assert coefficients[3] == 1
    assert 0 < coefficients[4] < 1


def test_a_coefficient_above_one_is_not_used() -> None:
    # (k + 1) n_(k+1) > n_1
    assert discounts([0, 4, 2, 2], 2).max() == 1


@given(st.lists(st.integers(0, 1000), min_size=9, max_size=9))
def test_discounts_are_above_0_and_at_most_1(counts: list[int]) -> None:
    coefficients = discounts(counts, 7)
    assert coefficients[0] == 1
    assert np.all((coefficients > EPSILON) & (coefficients <= 1))


def test_a_denominator_grows_as_far_as_srilm_says_of_switchboard() -> None:
    # "3.13243e-07 backoff probability mass left for "" -- incrementing denominator", and so on up to 2.81918e-06, nine
    # times that; then "distributing 3.11852e-06 left-over probability mass"
    total = np.array([round(1 / 3.13243e-07)], dtype=float)
    assert widened(total, total)[0] - total[0] == 10


@given(st.integers(1, 10**7), st.floats(0, 1))
def test_a_denominator_leaves_something(total: int, share: float) -> None:
    explicit = np.array([total * share])
    denominator = widened(np.array([float(total)]), explicit)
    assert explicit[0] <= (1 - EPSILON) * denominator[0]
    assert denominator[0] == total or explicit[0] > (1 - EPSILON) * (denominator[0] - 1)
