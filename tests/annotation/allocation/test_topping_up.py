from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotation.allocation.topping_up import RatedMeans, further_ratings, narrowing

spreads = st.lists(st.floats(0.01, 10), min_size=1, max_size=4)


def separate(spread, ratings):
    codes = np.arange(len(spread))
    return RatedMeans(codes, codes, np.array(ratings, dtype=float), np.array(spread, dtype=float))


@given(spreads, st.data(), st.integers(1, 6), st.integers(0, 99))
def test_no_other_way_to_spend_them_leaves_a_smaller_variance(spread, data, budget, seed):
    """The oracle: every way to spend the budget."""
    ratings = [data.draw(st.integers(1, 5)) for _ in spread]
    means = separate(spread, ratings)
    further = further_ratings(means, budget, wanted=ratings, floor=1, most=20, seed=seed)
    assert further.sum() == budget
    ways = (way for way in product(range(budget + 1), repeat=len(spread)) if sum(way) == budget)
    assert means.with_more(further).variance <= min(means.with_more(way).variance for way in ways) * (1 + 1e-12)


def test_with_many_ratings_it_is_neymans_allocation():
    """Cochran 1977, section 5.5: n_h proportional to S_h, for strata of equal size and cost."""
    spread = np.array([1.0, 4.0, 9.0])
    further = further_ratings(separate(spread, [1, 1, 1]), 600, wanted=[1, 1, 1], floor=1, most=1000, seed=1)
    assert (further + 1) / 603 == pytest.approx(np.sqrt(spread) / np.sqrt(spread).sum(), abs=0.003)


@given(spreads, st.data(), st.integers(1, 30), st.integers(1, 4), st.integers(4, 9), st.integers(0, 99))
def test_floor_most_and_closed_units_hold_and_the_seed_replays(spread, data, budget, floor, most, seed):
    wanted = np.array([data.draw(st.integers(1, 6)) for _ in spread])
    is_open = np.array([data.draw(st.booleans()) for _ in spread])
    assume(budget >= np.maximum(floor - wanted, 0)[is_open].sum())
    options = {"wanted": wanted, "floor": floor, "most": most, "open_units": is_open}
    means = separate(spread, wanted)
    further = further_ratings(means, budget, seed=seed, **options)
    after = wanted + further
    assert (further[~is_open] == 0).all()
    assert (after[is_open] >= floor).all()
    assert (after[further > 0] <= most).all()
    room = np.maximum(most - wanted, 0)[is_open].sum()
    assert further.sum() == min(budget, room)
    assert (further == further_ratings(means, budget, seed=seed, **options)).all()


def test_seeds_decide_between_equal_units_and_nothing_else():
    means = separate([1.0] * 50, [3] * 50)
    first, second = (further_ratings(means, 20, wanted=[3] * 50, floor=3, most=9, seed=seed) for seed in (1, 2))
    assert sorted(first) == sorted(second)
    assert (first != second).any()


def test_a_unit_that_enters_two_means_comes_before_one_that_enters_one():
    """Three pairs of A, B and C; the question is A and B."""
    units = RatedMeans(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]), np.array([4.0, 4.0]), np.array([1.0, 1.0]))
    assert further_ratings(units, 3, wanted=[2, 2, 2], floor=2, most=9, seed=1).tolist() == [3, 0, 0]
    assert further_ratings(units, 3, wanted=[2, 2, 2], floor=2, most=3, seed=1).tolist() == [1, 1, 1]


def test_what_is_taken_away_is_what_the_variance_loses():
    means = separate([2.0, 1.0], [1, 2])
    steps = list(narrowing(means, [3, 3], seed=1))
    gains = [taken for _, taken in steps]
    assert gains == sorted(gains, reverse=True)
    assert means.variance - sum(gains) == pytest.approx(means.with_more([3, 3]).variance)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": 0}, "budget is 0; accepted: 1 or more"),
        ({"budget": 3, "floor": 4}, "budget is 3; accepted: 4 or more"),
        ({"floor": 8, "most": 7}, "floor is 8; accepted: up to most, 7"),
        ({"wanted": [2]}, "unit holds 0 to 1; accepted: 0 to 0"),
        ({"open_units": [True]}, r"open_units has shape \(1,\); accepted: \(2,\)"),
        ({"means": separate([1, 1], [0, 1])}, "ratings are from 0"),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    arguments = {"means": separate([1, 1], [2, 2]), "budget": 9, "wanted": [2, 2], "floor": 2, "most": 9, "seed": 1}
    arguments |= changes
    with pytest.raises(ValueError, match=message):
        further_ratings(arguments.pop("means"), arguments.pop("budget"), **arguments)
