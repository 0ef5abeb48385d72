"""Two designs compared: nothing is lost, nothing invented, and lists are aligned before they are compared."""

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
    assert {one.change for one in compare_designs(design, design)} <= {Change.SAME}


@given(designs, designs)
def test_whatever_differs_is_found_from_either_side(left: dict[str, Any], right: dict[str, Any]) -> None:
    there = [one for one in compare_designs(left, right) if one.change != Change.SAME]
    back = [one for one in compare_designs(right, left) if one.change != Change.SAME]
    assert bool(there) == bool(back)
    assert {one.path[0] for one in there} == {one.path[0] for one in back}
    assert {MIRROR.get(one.change, one.change) for one in there if len(one.path) == 1} == {
        one.change for one in back if len(one.path) == 1
    }
    repr_differs = {name for name in {*left, *right} if repr(left.get(name, "-")) != repr(right.get(name, "-"))}
    assert {one.path[0] for one in there} <= repr_differs | {n for n in {*left, *right} if (n in left) != (n in right)}


def changes(left: dict[str, Any], right: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.name, one.change.value) for one in compare_designs(left, right) if one.change != Change.SAME]


def test_a_screen_put_in_front_of_others_is_one_difference() -> None:
    screens = [{"texts": [{"text": text}]} for text in ("first", "second", "third")]
    new = [{"texts": [{"text": "new"}]}, *screens]
    assert changes({"gold": screens}, {"gold": new}) == [("gold.1", "right")]
    assert changes({"gold": new}, {"gold": screens}) == [("gold.1", "left")]


def test_criteria_are_matched_by_name_wherever_they_stand() -> None:
    relevance, fluency = {"name": "relevance", "scale_max": 5}, {"name": "fluency", "scale_max": 5}
    left = {"criteria": [relevance, fluency]}
    assert changes(left, {"criteria": [{**fluency, "scale_max": 6}]}) == [
        ("criteria.relevance", "left"),
        ("criteria.fluency.scale_max", "different"),
    ]
    assert changes(left, {"criteria": [fluency, relevance]}) == [("criteria.order", "different")]


def test_yes_is_not_one() -> None:
    assert changes({"ties": True}, {"ties": 1}) == [("ties", "different")]
