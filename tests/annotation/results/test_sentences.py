"""The sentence on top of results says what is certain, for whom, and names what is not."""

from types import SimpleNamespace

from annotation.results.selectors.sentences import verdict_sentence
from annotation.results.selectors.verdicts import PairVerdict


def verdict(names, differences, clusters=None):
    """``differences``: first, second, difference, low, high, p."""
    pairs = [
        PairVerdict(first, second, difference, low, high, p=p, wilcoxon=p, adjusted=p, items=30)
        for first, second, difference, low, high, p in differences
    ]
    return SimpleNamespace(
        systems=[
            SimpleNamespace(name=name, estimate=3.0, low=2.5, high=3.5, cluster=(clusters or {}).get(name, 1))
            for name in names
        ],
        pairs=sorted(pairs, key=lambda pair: -pair.difference),
        parts=[],
        reason="",
        of_means="on a scale of 1 to 5",
    )


def test_the_first_of_all_is_named_with_what_other_raters_may_see_otherwise():
    four = verdict(
        ["B", "CE", "D", "Base"],
        [
            ("B", "Base", 1.01, 0.11, 1.92, 0.001),
            ("B", "D", 0.79, -1.09, 2.68, 0.001),
            ("B", "CE", 0.74, -0.07, 1.56, 0.001),
            ("CE", "Base", 0.27, -0.6, 1.2, 0.4),
            ("D", "Base", 0.22, -0.9, 1.3, 0.5),
            ("CE", "D", 0.05, -0.9, 1.0, 0.9),
        ],
    )
    assert verdict_sentence(four) == (
        "B is better than every other system by these raters. With other raters the lead over Base should hold, too "
        "(+1.01 on a scale of 1 to 5, 95% interval 0.11 to 1.92); those over D and CE may not. "
        "The others cannot be told apart."
    )


def test_the_first_of_all_is_named_with_its_smallest_lead():
    three = verdict(
        ["A", "B", "C"],
        [("A", "C", 0.9, 0.5, 1.3, 0.001), ("A", "B", 0.4, 0.1, 0.7, 0.01), ("B", "C", 0.5, 0.2, 0.8, 0.01)],
    )
    assert verdict_sentence(three) == (
        "A is better than every other system; its smallest lead, over B, is +0.40 on a scale of 1 to 5, "
        "95% interval 0.10 to 0.70. The order of the others is certain, too."
    )


def test_no_interval_that_holds_zero_stands_beside_a_preference_of_all_raters():
    open_ = [("A", "B", 0.52, -0.53, 1.57, 0.01)]
    assert verdict_sentence(verdict(["A", "B"], open_)) == (
        "These raters prefer A to B: +0.52 on a scale of 1 to 5, 95% interval −0.53 to 1.57; others may not."
    )
    others = [("A", "C", 0.3, 0.1, 0.5, 0.01), ("B", "C", -0.2, -0.9, 0.5, 0.8)]
    assert verdict_sentence(verdict(["A", "B", "C", "D"], open_ + others)) == (
        "Raters prefer A to C: +0.30 on a scale of 1 to 5, 95% interval 0.10 to 0.50. "
        "These raters also prefer A to B, but others may not; nothing else is certain."
    )


def test_of_many_differences_the_largest_that_should_hold_is_given():
    names = ["A", "B", "C", "D"]
    many = [
        ("A", "D", 0.9, -0.2, 2.0, 0.01),
        ("A", "C", 0.8, 0.2, 1.4, 0.01),
        ("B", "D", 0.7, 0.1, 1.3, 0.01),
        ("B", "C", 0.6, 0.1, 1.1, 0.02),
        ("A", "B", 0.2, -0.2, 0.6, 0.5),
        ("C", "D", 0.1, -0.3, 0.5, 0.7),
    ]
    assert verdict_sentence(verdict(names, many, {"C": 2, "D": 2})) == (
        "No system is ahead of all others; A and B share the first place. Of 6 differences 4 are certain, the largest "
        "between A and C: +0.80 on a scale of 1 to 5, 95% interval 0.20 to 1.40. With other raters 1 of them may not "
        "hold."
    )


def test_systems_without_a_common_item_are_not_compared():
    nothing = [float("nan")] * 4
    two_sets = [
        ("LOLS", "Dusek", 0.1, -0.2, 0.4, 0.5),
        ("WEN", "LOLS", 0.2, -0.1, 0.5, 0.3),
        ("Dusek", "WEN", *nothing),
    ]
    assert verdict_sentence(verdict(["Dusek", "WEN", "LOLS"], two_sets)) == (
        "No difference between two systems is certain yet; "
        "Dusek has the highest mean, 3.00 (95% interval 2.50 to 3.50). "
        "Dusek and WEN have no item in common and are not compared."
    )
    certain = [("WEN", "LOLS", 0.6, 0.3, 0.9, 0.001), ("Dusek", "WEN", *nothing)]
    assert verdict_sentence(verdict(["Dusek", "WEN", "LOLS"], certain)).endswith(
        "nothing else is certain. Dusek and WEN have no item in common and are not compared."
    )
