"""Folds, development parts and plans C1 to C3 divide no group: what a model reads alike, or equal texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.qe.inputs import encoded_pairs
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.options import FOLDS, QualityOptions
from metrics.scoring.qe.splits import (
    Split,
    cross_split,
    development_split,
    fold_numbers,
    fold_split,
    kept_together,
)
from tests.metrics.scoring.qe.made import AREAS, FOODS, made_instances

PLACES = [(food, area) for food in FOODS for area in AREAS]


def groups_of(instances: list[Instance]) -> np.ndarray:
    return kept_together(instances, QualityOptions())


def assert_apart(pairs: list, split: Split) -> None:
    parts = [{pairs[at] for at in part} for part in (split.training, split.development, split.tested)]
    assert not (parts[0] & parts[1])
    assert not (parts[0] & parts[2])
    assert not (parts[1] & parts[2])


def read_pairs(instances: list[Instance]) -> list:
    return encoded_pairs([each.source for each in instances], [each.output for each in instances], QualityOptions())


@given(
    st.lists(st.tuples(st.sampled_from(PLACES), st.integers(0, 12)), min_size=30, max_size=120),
    st.integers(0, 3),
    st.sampled_from(tuple(FOLDS)),
)
def test_nothing_identical_is_in_two_folds(drawn: list[tuple[tuple[str, str], int]], seed: int, folds: str) -> None:
    """By inputs: not even the same words about another food in another area. By texts: no equal pair, as the paper."""
    outputs = [*drawn, *((PLACES[0], number) for number in range(5))]
    instances = [
        Instance(f"inform(food={food},area={area})", f"{number} {food.title()} in {area}.", 1.0)
        for (food, area), number in outputs
    ]
    texts = [(each.source, each.output) for each in instances]
    numbers = fold_numbers(kept_together(instances, QualityOptions(folds=folds)), 5, seed)
    for fold in range(5):
        split = fold_split(numbers, fold)
        assert_apart(texts, split)
        if folds == "inputs":
            assert_apart(read_pairs(instances), split)
        whole = np.sort(np.concatenate([split.training, split.development, split.tested]))
        assert whole.tolist() == list(range(len(instances)))


def test_folds_are_equally_large_and_three_of_five_are_learnt_from() -> None:
    groups = np.arange(100)
    numbers = fold_numbers(groups, 5, 0)
    assert np.bincount(numbers).tolist() == [20] * 5
    assert [len(part) for part in vars(fold_split(numbers, 3)).values()] == [60, 20, 20]
    assert not np.array_equal(numbers, fold_numbers(groups, 5, 1))
    with pytest.raises(ValueError, match="instances: found 4 distinct; accepted: 5 or more"):
        fold_numbers(np.tile(groups[:4], 3), 5, 0)


def test_a_share_is_set_aside_for_development() -> None:
    instances = made_instances(200)
    split = development_split(groups_of(instances), 0.25, 1)
    assert_apart(read_pairs(instances), split)
    assert 50 <= len(split.development) < 80  # the last group that is taken may be large
    assert len(split.training) + len(split.development) == 200
    with pytest.raises(ValueError, match="fewer than 2 distinct"):
        development_split(np.zeros(2, dtype=int), 0.25, 1)


@pytest.mark.parametrize("field", ["domain", "system"])
def test_cross_plans_learn_from_what_they_say_and_test_on_the_same(field: str) -> None:
    # Outputs of their own, but for one that is inside and outside.
    instances = [
        Instance("hello()", f"hi {number}", 1.0, (), f"d{number % 2}", f"s{number % 2}") for number in range(800)
    ]
    instances.append(Instance("hello()", "hi 1", 2.0, (), "d0", "s0"))
    groups = groups_of(instances)
    inside = {at for at, each in enumerate(instances) if getattr(each, field).endswith("1")}
    plans = {plan: cross_split(instances, groups, plan, field, f"{field[0]}1") for plan in ("C1", "C2", "C3")}
    for split in plans.values():
        assert_apart(read_pairs(instances), split)
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
        cross_split(made_instances(), np.arange(60), "C1", "domain", "hotels")
