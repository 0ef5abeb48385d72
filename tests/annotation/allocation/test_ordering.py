from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.allocation.ordering import draw_order

seeds = st.integers(0, 2**63 - 1)


def orders(seed, n, k):
    return [draw_order(seed, slot, n, k) for slot in range(k)]


@given(seeds, st.integers(1, 25), st.integers(1, 12))
def test_every_order_shows_each_response_once_and_is_reproducible(seed, n, k):
    drawn = orders(seed, n, k)
    assert all(sorted(order) == list(range(n)) for order in drawn)
    assert drawn == orders(seed, n, k)


@given(seeds, st.integers(1, 15))
def test_a_pair_is_shown_in_each_order_in_half_of_its_slots(seed, k):
    counts = Counter(orders(seed, 2, k))
    assert sorted([counts[0, 1], counts[1, 0]]) == [k // 2, k - k // 2]


@given(seeds, st.integers(2, 9), st.integers(1, 30))
def test_positions_are_balanced_over_any_first_slots(seed, n, k):
    cells = Counter()
    for order in orders(seed, n, k):
        cells.update(enumerate(order))
        counts = [cells[position, response] for position in range(n) for response in range(n)]
        assert max(counts) - min(counts) <= 1


@given(seeds, st.integers(2, 8))
def test_every_response_follows_every_other_one_equally_often(seed, n):
    # Williams 1949: n rows do it for even n, 2n rows for odd n.
    blocks = 1 if n % 2 == 0 else 2
    neighbours = Counter(pair for order in orders(seed, n, blocks * n) for pair in pairwise(order))
    assert set(neighbours.values()) == {blocks}
    assert len(neighbours) == n * (n - 1)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_first_and_odd_slots_use_both_orders_across_units(k):
    first = Counter(draw_order(seed, 0, 2, k) for seed in range(200))
    more_often = Counter(Counter(orders(seed, 2, k)).most_common(1)[0][0] for seed in range(200))
    # A fair coin leaves 60..140 of 200 with probability below 1e-7.
    assert 60 < first[0, 1] < 140
    assert 60 < more_often[0, 1] < 140


@given(seeds, st.integers(1, 12), st.integers(0, 20), st.integers(1, 20), st.integers(1, 20))
def test_the_order_of_a_slot_does_not_depend_on_the_number_of_slots(seed, n, slot, more, many_more):
    # k may be raised while a campaign runs: orders shown before must not change, and added slots stay balanced.
    assert draw_order(seed, slot, n, slot + more) == draw_order(seed, slot, n, slot + more + many_more)


@given(seeds, st.integers(1, 12), st.integers(1, 12))
def test_slots_added_to_a_pair_keep_its_orders_balanced(seed, k, added):
    counts = Counter([*orders(seed, 2, k), *(draw_order(seed, slot, 2, k + added) for slot in range(k, k + added))])
    assert abs(counts[0, 1] - counts[1, 0]) <= 1


@pytest.mark.parametrize(
    ("slot", "n", "k", "message"),
    [
        (3, 2, 3, "slot_number is 3; accepted: 0 to 2 for 3 slots"),
        (-1, 2, 3, "slot_number is -1"),
        (0, 0, 3, "n_responses is 0"),
        (0, 2, 0, "k is 0"),
    ],
)
def test_values_out_of_range_are_refused(slot, n, k, message):
    with pytest.raises(ValueError, match=message):
        draw_order(1, slot, n, k)
