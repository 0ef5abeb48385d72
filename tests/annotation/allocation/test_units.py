import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.allocation.units import Source, all_pairs, plan_lists, plan_pairs, plan_singles

SYSTEMS = ["A", "B", "C", "D"]


@st.composite
def outputs(draw):
    """One output per system and item; equal letters are equal texts."""
    sources = []
    for item in range(draw(st.integers(1, 5))):
        texts = draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
        sources += [Source(item, system, 10 * item + text) for system, text in zip(SYSTEMS, texts, strict=True)]
    return sources


@given(outputs())
def test_singles_show_every_text_once_and_credit_every_system(sources):
    plan = plan_singles(sources)
    assert {unit.responses[0] for unit in plan.units} == {source.response for source in sources}
    credited = [(unit.item, system) for unit in plan.units for system in unit.systems]
    assert sorted(credited) == sorted((source.item, source.system) for source in sources)
    assert plan.n_responses == len(plan.units)
    assert plan.n_responses + plan.n_shared == len(sources)


@given(outputs())
def test_every_pair_of_systems_is_shown_or_counted(sources):
    pairs = all_pairs(SYSTEMS)
    plan = plan_pairs(sources, pairs)
    n_items = len({source.item for source in sources})
    assert len(plan.units) + plan.n_identical_pairs + plan.n_repeated_pairs == n_items * len(pairs)
    assert plan.n_missing_pairs == 0
    shown = [frozenset(unit.responses) for unit in plan.units]
    assert len(set(shown)) == len(shown)
    assert all(len(pair) == 2 for pair in shown)


def test_only_the_requested_pairs_are_planned():
    sources = [Source(1, "A", 1), Source(1, "B", 2), Source(1, "C", 3), Source(2, "A", 4)]
    plan = plan_pairs(sources, [("C", "A")])
    assert [(unit.responses, unit.systems) for unit in plan.units] == [((3, 1), ("C", "A"))]
    assert plan.n_missing_pairs == 1
    assert plan.n_responses == 2


@given(st.integers(1, 80), st.integers(1, 25), st.integers(0, 2**63 - 1))
def test_lists_hold_every_text_once_and_have_even_sizes(n, max_size, seed):
    sources = [Source(1, "mined", response) for response in range(n)] + [Source(1, "seed", 0)]
    plan = plan_lists(sources, seed=seed, max_size=max_size)
    sizes = [len(unit.responses) for unit in plan.units]
    assert sorted(response for unit in plan.units for response in unit.responses) == list(range(n))
    assert max(sizes) <= max_size
    assert max(sizes) - min(sizes) <= 1
    assert len(sizes) == -(-n // max_size)
    assert plan.n_shared == 1
    assert plan == plan_lists(sources, seed=seed, max_size=max_size)


def test_the_seed_decides_which_responses_share_a_list():
    sources = [Source(1, "mined", response) for response in range(30)]
    assert plan_lists(sources, seed=1).units != plan_lists(sources, seed=2).units


def test_a_source_given_twice_counts_once():
    assert plan_singles([Source(1, "A", 1), Source(1, "A", 1)]).n_shared == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: plan_pairs(s, [("A", "Z")]), r"pair \(A, Z\): no response of 'Z'; accepted: \['A', 'B'\]"),
        (lambda s: plan_pairs(s, [("A", "A")]), r"pair \(A, A\): accepted: two different systems"),
        (lambda s: plan_pairs(s, [("A", "B"), ("B", "A")]), r"pair \(B, A\) is given twice"),
        (lambda s: plan_pairs([*s, Source(1, "A", 9)], [("A", "B")]), "item 1: 'A' has 2 responses"),
        (lambda s: plan_lists(s, seed=1, max_size=26), "max_size is 26; accepted: 1 to 25"),
        (lambda s: plan_singles([*s, Source(2, "A", 1)]), "response 1 belongs to item 1 and to item 2"),
    ],
)
def test_impossible_designs_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call([Source(1, "A", 1), Source(1, "B", 2)])
