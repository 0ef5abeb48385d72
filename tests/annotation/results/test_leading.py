"""Who leads by the raters follows the differences that the results call certain."""

import pytest

from annotation.results.selectors.leading import leading, leading_sentence
from tests.annotation.results.test_sentences import verdict

CERTAIN, NONE = (0.5, 0.2, 0.8, 0.01), (0.1, -0.2, 0.4, 0.6)
APART = (float("nan"), float("nan"), float("nan"), float("nan"))


def made(raters: int = 12, *, b_to_c=CERTAIN, **to_first: tuple[float, float, float, float]):
    """Return a verdict whose first system is A; what is given is its differences to the others, and of B to C."""
    pairs = [("A", name, *numbers) for name, numbers in to_first.items()]
    others = [("B", "C", *b_to_c)] if {"B", "C"} <= set(to_first) else []
    found = verdict(["A", *to_first], [*pairs, *others], raters=raters)
    found.pair = lambda a, b: next((pair for pair in found.pairs if {pair.first, pair.second} == {a, b}), None)
    return found


@pytest.mark.parametrize(
    ("found", "standings", "sentence"),
    [
        (made(B=CERTAIN, C=CERTAIN), ["best", "", ""], "12 raters find A better than every other system."),
        (
            made(B=NONE, C=CERTAIN),
            ["tied", "tied", ""],
            "12 raters cannot tell A and B apart and put them first.",
        ),
        (
            made(B=NONE, C=CERTAIN, b_to_c=NONE),  # C may be as good as B
            ["tied", "tied", ""],
            "12 raters give A the highest mean; B cannot be told from it.",
        ),
        (
            made(B=NONE, C=NONE),  # B is better than C for certain
            ["tied", "tied", "tied"],
            "12 raters give A the highest mean; B and C cannot be told from it.",
        ),
        (made(B=NONE), ["tied", "tied"], "12 raters cannot tell A and B apart."),
        (
            made(B=CERTAIN, C=APART),
            ["best", "", "apart"],
            "12 raters find A better than every other system that it shares items with.",
        ),
        (made(B=APART), ["", "apart"], "No system shares an item with A."),
    ],
)
def test_the_first_place_is_shared_where_no_difference_is_found(found, standings, sentence) -> None:
    assert [leading(found).standing(each.name) for each in found.systems] == standings
    assert leading_sentence(found) == sentence


def test_a_system_that_is_better_on_common_items_shares_the_first_place() -> None:
    """B has the lower mean over its own items, and wins on those that both have."""
    found = verdict(["A", "B"], [("B", "A", *CERTAIN)])
    found.pair = lambda a, b: found.pairs[0]

    assert (leading(found).ahead, leading(found).standing("A")) == (["B"], "tied")


@pytest.mark.parametrize("undefined", [{"reason": "no comparison"}, {"parts": [["A"], ["B"]]}, {"systems": []}])
def test_no_system_leads_where_strengths_are_undefined(undefined) -> None:
    found = made(B=CERTAIN)
    vars(found).update(undefined)

    assert leading(found).first == leading_sentence(found) == ""
