from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from annotation.allocation.checks import CHECK_KINDS, check_at, checks_among, pick_check, pick_repeat, repeat_order

seeds = st.integers(-(2**63), 2**63 - 1)
periods = st.integers(2, 60)
mixes = st.dictionaries(st.sampled_from(CHECK_KINDS), st.integers(1, 4), min_size=1)
ids = st.lists(st.integers(1, 10**9), unique=True, max_size=12)

ONE = {"gold": 1}
THREE = {"gold": 1, "attention": 1, "repeat": 1}
RATERS = range(3000)


def sequence(seed, n, every, mix=ONE):
    return [check_at(seed, position, every=every, mix=mix) for position in range(n)]


def check_positions(seed, n, every):
    return [position for position, kind in enumerate(sequence(seed, n, every)) if kind]


@given(seeds, periods, mixes)
def test_every_block_of_screens_holds_exactly_one_check(seed, every, mix):
    kinds = sequence(seed, 6 * every, every, mix)
    held = [sum(kind is not None for kind in kinds[start : start + every]) for start in range(0, 6 * every, every)]
    assert held == [1 if every > 2 else 0, 1, 1, 1, 1, 1]


@given(seeds, periods, mixes)
def test_the_first_two_screens_are_always_work(seed, every, mix):
    assert sequence(seed, 2, every, mix) == [None, None]


@given(seeds, periods, st.integers(1, 400))
def test_at_any_point_a_rater_has_met_checks_in_proportion_to_within_one(seed, every, n):
    met = len(check_positions(seed, n, every))
    assert n // every - 1 <= met <= n // every + 1


@given(seeds, st.integers(2, 12), mixes)
def test_over_full_decks_every_kind_occurs_as_often_as_the_mix_says(seed, every, mix):
    decks = 3
    blocks = decks * sum(mix.values()) + (every == 2)
    met = Counter(kind for kind in sequence(seed, blocks * every, every, mix) if kind)
    assert met == {kind: decks * count for kind, count in mix.items()}


@given(seeds, periods, mixes, st.integers(0, 10**12), st.randoms(use_true_random=False))
def test_check_at_does_not_depend_on_the_order_of_the_mix(seed, every, mix, position, random):
    shuffled = dict(random.sample(list(mix.items()), len(mix)))
    assert check_at(seed, position, every=every, mix=mix) == check_at(seed, position, every=every, mix=shuffled)


def test_known_seeds_keep_giving_the_same_checks():
    # Campaign records are replayed from stored seeds, so a seed must always give the same checks.
    kinds = sequence(20150726, 40, 5, {"gold": 2, "repeat": 1, "degraded": 1})
    assert {index: kind for index, kind in enumerate(kinds) if kind} == {
        3: "repeat",
        8: "gold",
        10: "gold",
        15: "degraded",
        21: "degraded",
        29: "gold",
        31: "repeat",
        36: "gold",
    }


# Below, chi-square tests over the seeds 0 to 2999 must not reject at 0.001. The seeds are fixed, so the outcome is too.


@pytest.mark.parametrize("block", [0, 1, 7])
def test_the_position_in_a_block_is_uniform_over_raters(block):
    every = 10
    offsets = Counter(check_positions(seed, (block + 1) * every, every)[block] - block * every for seed in RATERS)
    possible = range(2 if block == 0 else 0, every)
    assert set(offsets) == set(possible)
    assert stats.chisquare([offsets[offset] for offset in possible]).pvalue > 0.001


def test_positions_in_consecutive_blocks_are_independent():
    every = 6
    table = [[0] * every for _ in range(every)]
    for seed in RATERS:
        second, third = check_positions(seed, 3 * every, every)[1:]
        table[second % every][third % every] += 1
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_positions_of_neighbouring_seeds_are_independent():
    every = 6
    table = [[0] * every for _ in range(every)]
    for seed in RATERS:
        table[check_positions(seed, 2 * every, every)[1] % every][
            check_positions(seed + 1, 2 * every, every)[1] % every
        ] += 1
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_every_order_of_the_kinds_is_equally_likely():
    orders = Counter(tuple(kind for kind in sequence(seed, 9, 3, THREE) if kind) for seed in RATERS)
    assert len(orders) == 6
    assert stats.chisquare(list(orders.values())).pvalue > 0.001


def test_each_deck_is_shuffled_independently():
    def repeats_the_order(seed):
        kinds = [kind for kind in sequence(seed, 18, 3, THREE) if kind]
        return kinds[:3] == kinds[3:]

    same = sum(repeats_the_order(seed) for seed in RATERS)
    assert stats.binomtest(same, len(RATERS), 1 / 6).pvalue > 0.001


@given(seeds, st.sampled_from(CHECK_KINDS), ids, st.randoms(use_true_random=False))
def test_a_rater_meets_every_prepared_check_once_in_an_order_of_their_own(seed, kind, candidates, random):
    met = []
    while (check := pick_check(seed, kind, random.sample(candidates, len(candidates)), met)) is not None:
        met.append(check)
    assert sorted(met) == sorted(candidates)
    repeated_run = []
    while (check := pick_check(seed, kind, candidates, repeated_run)) is not None:
        repeated_run.append(check)
    assert repeated_run == met


def test_raters_meet_prepared_checks_in_different_orders_and_one_rater_differs_by_kind():
    first = Counter(pick_check(seed, "gold", range(1, 7), []) for seed in RATERS)
    assert stats.chisquare([first[check] for check in range(1, 7)]).pvalue > 0.001
    same = sum(pick_check(s, "gold", range(1, 7), []) == pick_check(s, "anchor", range(1, 7), []) for s in RATERS)
    assert stats.binomtest(same, len(RATERS), 1 / 6).pvalue > 0.001


@given(seeds, st.integers(0, 10**6), ids, st.data(), st.integers(1, 8))
def test_a_repeat_is_an_earlier_unit_far_enough_back_and_not_yet_repeated(seed, position, answered, data, gap):
    repeated = data.draw(st.sets(st.sampled_from(answered))) if answered else set()
    picked = pick_repeat(seed, position, answered, repeated, gap=gap)
    eligible = [unit for distance, unit in enumerate(reversed(answered), 1) if distance >= gap and unit not in repeated]
    assert (picked in eligible) if eligible else (picked is None)
    assert picked == pick_repeat(seed, position, answered, repeated, gap=gap)


def test_a_unit_answered_twice_counts_from_its_latest_answer():
    assert pick_repeat(1, 9, [5, 6, 7, 5], [], gap=2) in {6, 7}
    assert pick_repeat(1, 9, [5, 6, 5], [6], gap=2) is None


def test_every_eligible_unit_is_equally_likely_to_be_repeated():
    picked = Counter(pick_repeat(seed, 14, range(1, 11), [3], gap=4) for seed in RATERS)
    assert set(picked) == {1, 2, 4, 5, 6, 7}
    assert stats.chisquare(list(picked.values())).pvalue > 0.001


@given(st.permutations(range(25)), st.integers(1, 25), seeds)
def test_a_repeat_shows_every_response_at_another_position(order, n, seed):
    first = [response for response in order if response < n]
    repeated_order = repeat_order(first, seed=seed)
    assert sorted(repeated_order) == sorted(first)
    assert repeated_order == repeat_order(first, seed=seed)
    assert n == 1 or all(new != old for new, old in zip(repeated_order, first, strict=True))


def test_a_pair_comes_back_swapped_and_a_single_as_it_was():
    assert repeat_order([1, 0], seed=5) == (0, 1)
    assert repeat_order([0], seed=5) == (0,)
    assert repeat_order([], seed=5) == ()


def test_all_derangements_are_equally_likely():
    orders = Counter(repeat_order(range(4), seed=seed) for seed in RATERS)
    assert len(orders) == 9  # derangements of four
    assert stats.chisquare(list(orders.values())).pvalue > 0.001


@given(seeds, seeds, st.integers(3, 20))
def test_two_raters_meet_their_checks_at_different_positions(first, second, every):
    assume(first != second)
    assert check_positions(first, every * 30, every) != check_positions(
        second, every * 30, every
    )  # equal by chance with probability below 3**-29


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_at(1, -1, every=5, mix=ONE), "position is -1; accepted: 0 or more"),
        (lambda: check_at(1, 0, every=1, mix=ONE), "every is 1; accepted: 2 to 1000"),
        (lambda: check_at(1, 0, every=1001, mix=ONE), "every is 1001"),
        (lambda: check_at(1, 0, every=5, mix={}), "mix holds 0 checks in all; accepted: 1 to 1000"),
        (lambda: check_at(1, 0, every=5, mix={"gold": 1001}), "mix holds 1001 checks"),
        (lambda: check_at(1, 0, every=5, mix={"gold": 0}), "mix has 0 of 'gold'; accepted: a whole number, 1 or more"),
        (lambda: check_at(1, 0, every=5, mix={"gold": 1.5}), "mix has 1.5 of 'gold'"),
        (lambda: check_at(1, 0, every=5, mix={"gold": True}), "mix has True of 'gold'"),
        (lambda: check_at(1, 0, every=5, mix={"silver": 1}), "kind is 'silver'; accepted: gold, attention, repeat"),
        (lambda: pick_check(1, "silver", [1], []), "kind is 'silver'"),
        (lambda: pick_repeat(1, 3, [1], [], gap=0), "gap is 0; accepted: 1 or more"),
        (lambda: pick_repeat(1, -3, [1], [], gap=1), "position is -3"),
        (lambda: repeat_order([0, 0], seed=1), r"order is \(0, 0\); accepted: every response once"),
    ],
)
def test_invalid_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- Number of checks in advance --------------------------------------------------------------------------------------


@given(seeds, st.integers(2, 12), mixes, st.integers(0, 60), st.dictionaries(st.sampled_from(CHECK_KINDS), st.just(0)))
def test_checks_among_counts_the_checks_met_before_the_last_unit(seed, every, mix, units, supply):
    met, position, worked = [], 0, 0
    while worked < units:
        kind = check_at(seed, position, every=every, mix=mix)
        met.append(kind)
        worked += kind is None
        position += 1
    expected = sum(kind is not None and kind not in supply for kind in met)
    assert checks_among(seed, units, every=every, mix=mix, supply=supply) == expected


@given(seeds, st.integers(2, 12), st.integers(0, 200), st.integers(0, 9))
def test_there_are_no_more_checks_than_prepared(seed, every, units, prepared):
    n_unlimited = checks_among(seed, units, every=every, mix=ONE, supply={})
    n_checks = checks_among(seed, units, every=every, mix=ONE, supply={"gold": prepared})
    assert n_checks == min(n_unlimited, prepared)


def test_checks_among_refuses_invalid_arguments():
    with pytest.raises(ValueError, match="units is -1; accepted: 0 or more"):
        checks_among(1, -1, every=3, mix=ONE, supply={})
    with pytest.raises(ValueError, match="every is 1; accepted: 2 to 1000"):
        checks_among(1, 1, every=1, mix=ONE, supply={})
