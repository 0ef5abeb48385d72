from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotation.allocation.interleaving import interleaved
from annotation.allocation.units import PlannedUnit

seeds = st.integers(0, 2**63 - 1)


def singles(systems):
    return [PlannedUnit(index, (index,), (system,)) for index, system in enumerate(systems)]


def shared_neighbours(order):
    return sum(bool(set(first.systems) & set(second.systems)) for first, second in pairwise(order))


@given(st.lists(st.sampled_from("ABCDE"), max_size=40), seeds)
def test_neighbours_share_no_system_if_that_is_possible(systems, seed):
    # A sequence without equal neighbours exists exactly when no kind makes up more than half, rounded up.
    assume(max(Counter(systems).values(), default=0) <= (len(systems) + 1) // 2)
    assert shared_neighbours(interleaved(singles(systems), seed=seed)) == 0


@given(st.lists(st.sets(st.integers(1, 5), max_size=3), max_size=25), seeds)
def test_every_unit_occurs_once_and_the_order_depends_on_the_seed_alone(sets, seed):
    units = [PlannedUnit(index, (index,), tuple(systems)) for index, systems in enumerate(sets)]
    order = interleaved(units, seed=seed)
    assert sorted(order) == sorted(units)
    assert order == interleaved(units, seed=seed)


def test_a_system_with_most_of_the_units_has_as_few_runs_as_possible():
    order = interleaved(singles("A" * 12 + "BCD"), seed=3)
    assert shared_neighbours(order) == 12 - 1 - 3  # three others part twelve into four runs


def test_shared_outputs_are_kept_apart_from_all_their_systems():
    units = [PlannedUnit(index, (index,), systems) for index, systems in enumerate([("A", "B"), ("A",), ("C",)] * 20)]
    # C must part all the others: 20 of 60 units part the 40 that share A into at most 21 runs.
    assert shared_neighbours(interleaved(units, seed=5)) == 40 - 21


def test_systems_do_not_rotate_in_a_fixed_order():
    order = interleaved(singles("ABCD" * 50), seed=1)
    followers = Counter((first.systems[0], second.systems[0]) for first, second in pairwise(order))
    assert len(followers) == 12


@pytest.mark.parametrize("n_systems", [4, 5, 6])
def test_pairs_of_few_systems_neither_repeat_nor_alternate(n_systems):
    pairs = list(combinations("ABCDEF"[:n_systems], 2)) * 20
    units = [PlannedUnit(index, (2 * index, 2 * index + 1), pair) for index, pair in enumerate(pairs)]
    order = [set(unit.systems) for unit in interleaved(units, seed=7)]
    body = order[: len(order) * 3 // 4]
    assert not any(first & second & third for first, second, third in zip(body, body[1:], body[2:], strict=False))
    followers = Counter((tuple(sorted(first)), tuple(sorted(second))) for first, second in pairwise(body))
    assert len(followers) > 2 * len(set(pairs))


def test_another_seed_gives_another_order():
    assert interleaved(singles("ABCD" * 5), seed=1) != interleaved(singles("ABCD" * 5), seed=2)


def test_interleaving_no_units_gives_an_empty_order():
    assert interleaved([], seed=1) == []
