from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.allocation.handout import Candidate, next_unit, order_keys

candidates = st.lists(
    st.builds(Candidate, st.integers(1, 10**6), st.integers(0, 3), st.sets(st.sampled_from("ABCD"), min_size=1)),
    min_size=1,
    max_size=12,
    unique_by=lambda candidate: candidate.unit,
)


@pytest.mark.parametrize(
    ("unit", "seed", "key"),
    [
        (0, 0, 4154612158245552303),
        (1, 0, -3670598878359251130),
        (1, 1, -7620678293940249823),
        (42, 7, 3069212791777980624),
        (123456789, 987654321987654321, 5799892280632528592),
        (5_000_000_000, -3, -8657289285546365474),
        (-1, 12, 5224469492205714828),
    ],
)
def test_keys_equal_those_of_postgresql(unit, seed, key):
    # PostgreSQL 18.4: select hashint8extended(unit::bigint, seed::bigint)
    assert order_keys(seed, [unit]).tolist() == [key]


def test_raters_have_unrelated_orders():
    units = np.arange(1, 2001)
    ranks = [np.argsort(np.argsort(order_keys(seed, units))) for seed in (1, 2, 3)]
    for first, second in [(ranks[0], ranks[1]), (ranks[1], ranks[2]), (ranks[0], units)]:
        # Standard error of a rank correlation of 2000: 0.022; five of them.
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.112


@given(candidates, st.integers(0, 2**63 - 1), st.sets(st.sampled_from("ABCD")))
def test_candidates_rank_by_filled_slots_then_change_of_system_then_the_raters_order(pool, seed, previous):
    chosen = next_unit(pool, rater_seed=seed, avoid=previous)
    emptiest = [candidate for candidate in pool if candidate.filled == min(unit.filled for unit in pool)]
    fresh = [candidate for candidate in emptiest if not previous & set(candidate.systems)]
    best = fresh or emptiest
    assert chosen in best
    assert order_keys(seed, [chosen.unit])[0] == order_keys(seed, [candidate.unit for candidate in best]).min()


@given(candidates, st.integers(0, 2**63 - 1), st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_the_order_of_the_candidates(pool, seed, random):
    shuffled = random.sample(pool, len(pool))
    assert next_unit(pool, rater_seed=seed) == next_unit(shuffled, rater_seed=seed)


def test_within_half_a_campaign_a_rater_never_meets_a_system_twice_in_a_row():
    waiting = {unit: Candidate(unit, 0, ["ABCDE"[unit % 5]]) for unit in range(200)}
    shown = []
    for _ in range(100):
        unit = next_unit(waiting.values(), rater_seed=9, avoid=shown[-1] if shown else ())
        shown.append(waiting.pop(unit.unit).systems)
    assert all(first != second for first, second in pairwise(shown))
    assert len(Counter(system for (system,) in shown)) == 5


def test_without_candidates_there_is_no_next_unit():
    assert next_unit([], rater_seed=1) is None


def test_seeds_beyond_bigint_and_non_integer_ids_are_refused():
    with pytest.raises(ValueError, match="rater_seed is 9223372036854775808"):
        order_keys(2**63, [1])
    with pytest.raises(ValueError, match="units holds float64 values; accepted: integers"):
        order_keys(1, [1.5])
