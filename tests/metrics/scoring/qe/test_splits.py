"""Folds, development parts and plans C1 to C3 keep equal pairs together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.splits import Split, cross_split, development_split, fold_numbers, fold_split
from tests.metrics.scoring.qe.made import made_instances


def pairs_of(instances: list[Instance], indices: np.ndarray) -> set[tuple[str, str]]:
    return {(instances[at].source, instances[at].output) for at in indices}


def assert_apart(instances: list[Instance], split: Split) -> None:
    parts = [pairs_of(instances, part) for part in (split.training, split.development, split.tested)]
    assert not (parts[0] & parts[1])
    assert not (parts[0] & parts[2])
    assert not (parts[1] & parts[2])


@given(st.lists(st.integers(0, 12), min_size=30, max_size=120), st.integers(0, 3))
def test_no_identical_pair_is_in_two_folds(outputs: list[int], seed: int) -> None:
    instances = [Instance("hello()", str(output), 1.0) for output in [*outputs, *range(5)]]
    numbers = fold_numbers(instances, 5, seed)
    for fold in range(5):
        split = fold_split(numbers, fold)
        assert_apart(instances, split)
        whole = np.sort(np.concatenate([split.training, split.development, split.tested]))
        assert whole.tolist() == list(range(len(instances)))


def test_folds_are_equally_large_and_three_of_five_are_learnt_from() -> None:
    instances = [Instance("hello()", str(number), 1.0) for number in range(100)]
    numbers = fold_numbers(instances, 5, 0)
    assert np.bincount(numbers).tolist() == [20] * 5
    assert [len(part) for part in vars(fold_split(numbers, 3)).values()] == [60, 20, 20]
    assert not np.array_equal(numbers, fold_numbers(instances, 5, 1))
    with pytest.raises(ValueError, match="instances: found 4 distinct; accepted: 5 or more"):
        fold_numbers(instances[:4] * 3, 5, 0)


def test_a_share_is_set_aside_for_development() -> None:
    instances = made_instances(200)
    split = development_split(instances, 0.25, 1)
    assert_apart(instances, split)
    assert 50 <= len(split.development) <= 60
    assert len(split.training) + len(split.development) == 200
    with pytest.raises(ValueError, match="fewer than 2 distinct"):
        development_split(instances[:1] * 2, 0.25, 1)


@pytest.mark.parametrize("field", ["domain", "system"])
def test_cross_plans_learn_from_what_they_say_and_test_on_the_same(field: str) -> None:
    # Outputs of their own, but for one that is inside and outside.
    instances = [
        Instance(f"hello(n={number})", "hi", 1.0, (), f"d{number % 2}", f"s{number % 2}") for number in range(800)
    ]
    instances.append(Instance("hello(n=1)", "hi", 2.0, (), "d0", "s0"))
    inside = {at for at, each in enumerate(instances) if getattr(each, field).endswith("1")}
    plans = {plan: cross_split(instances, plan, field, f"{field[0]}1") for plan in ("C1", "C2", "C3")}
    for split in plans.values():
        assert_apart(instances, split)
        assert split.tested.tolist() == plans["C1"].tested.tolist()
        assert set(split.tested.tolist()) < inside
    assert [len(part) for part in vars(plans["C1"]).values()] == [100, 100, 200]
    assert set(plans["C1"].training.tolist()) <= inside
    assert not inside & {*plans["C2"].training.tolist(), *plans["C2"].development.tolist()}
    assert len(plans["C2"].development) == 100
    assert plans["C3"].development.tolist() == plans["C1"].development.tolist()
    assert set(plans["C3"].training.tolist()) - inside == {
        *plans["C2"].training.tolist(),
        *plans["C2"].development.tolist(),
    }
    assert set(plans["C3"].training.tolist()) & inside == set(plans["C1"].training.tolist())


def test_too_few_instances_inside_are_refused() -> None:
    with pytest.raises(ValueError, match="domain: found 30 of 60 instances with 'hotels'; accepted: more than 200"):
        cross_split(made_instances(), "C1", "domain", "hotels")
