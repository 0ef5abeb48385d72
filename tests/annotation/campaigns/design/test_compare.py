"""Comparing two designs: every difference is found, and lists are aligned first."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns.design.compare import Change, compare_designs

names = st.text("abcd", min_size=1, max_size=2)
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["x", "y", ""])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
designs = st.dictionaries(names, values, max_size=4)
MIRROR = {Change.LEFT: Change.RIGHT, Change.RIGHT: Change.LEFT}


@given(designs)
def test_a_design_does_not_differ_from_itself(design: dict[str, Any]) -> None:
    assert {difference.change for difference in compare_designs(design, design)} <= {Change.SAME}


@given(designs, designs)
def test_every_difference_is_found_in_both_directions(left: dict[str, Any], right: dict[str, Any]) -> None:
    forward = [difference for difference in compare_designs(left, right) if difference.change != Change.SAME]
    backward = [difference for difference in compare_designs(right, left) if difference.change != Change.SAME]
    assert bool(forward) == bool(backward)
    assert {difference.path[0] for difference in forward} == {difference.path[0] for difference in backward}
    assert {
        MIRROR.get(difference.change, difference.change) for difference in forward if len(difference.path) == 1
    } == {difference.change for difference in backward if len(difference.path) == 1}
    repr_differs = {name for name in {*left, *right} if repr(left.get(name, "-")) != repr(right.get(name, "-"))}
    assert {difference.path[0] for difference in forward} <= repr_differs | {
        n for n in {*left, *right} if (n in left) != (n in right)
    }


def changes(left: dict[str, Any], right: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (difference.name, difference.change.value)
        for difference in compare_designs(left, right)
        if difference.change != Change.SAME
    ]


def test_an_item_inserted_before_others_is_one_difference() -> None:
    screens = [{"texts": [{"text": text}]} for text in ("first", "second", "third")]
    with_new = [{"texts": [{"text": "new"}]}, *screens]
    assert changes({"gold": screens}, {"gold": with_new}) == [("gold.1", "right")]
    assert changes({"gold": with_new}, {"gold": screens}) == [("gold.1", "left")]


def test_criteria_are_matched_by_name_in_any_order() -> None:
    relevance, fluency = {"name": "relevance", "scale_max": 5}, {"name": "fluency", "scale_max": 5}
    left = {"criteria": [relevance, fluency]}
    assert changes(left, {"criteria": [{**fluency, "scale_max": 6}]}) == [
        ("criteria.relevance", "left"),
        ("criteria.fluency.scale_max", "different"),
    ]
    assert changes(left, {"criteria": [fluency, relevance]}) == [("criteria.order", "different")]


def test_true_differs_from_one() -> None:
    assert changes({"ties": True}, {"ties": 1}) == [("ties", "different")]
