"""The sentence on top of results says what is certain, and names what is not."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

from scipy.stats import t

from annotation.results.selectors.sentences import few_raters_sentence, verdict_sentence, width_sentence
from annotation.results.selectors.verdicts import PairVerdict


def verdict(names, differences, first=(), raters=12):
    """``differences``: first, second, difference, low, high, p."""
    pairs = [
        PairVerdict(first, second, difference, low, high, p=p, adjusted=p, items=30)
        for first, second, difference, low, high, p in differences
    ]
    return SimpleNamespace(
        systems=[
            SimpleNamespace(name=name, estimate=3.0, low=2.5, high=3.5, first_rank=1 if name in first else 2)
            for name in names
        ],
        pairs=sorted(pairs, key=lambda pair: -pair.difference),
        parts=[],
        reason="",
        by_means=True,
        of_means="on a scale of 1 to 5",
        raters=raters,
        is_rough=0 < raters < 5,
        scale_low=1.0,
        scale_high=5.0,
    )


def test_the_first_of_all_is_named_with_its_smallest_lead():
    pairs = [("A", "C", 0.9, 0.5, 1.3, 0.001), ("A", "B", 0.4, 0.1, 0.7, 0.01), ("B", "C", 0.5, 0.2, 0.8, 0.01)]
    few = verdict_sentence(verdict(["A", "B", "C"], pairs, raters=3))
    assert "The order of the others is clear for these 3 raters, too." in few
    assert verdict_sentence(verdict(["A", "B", "C"], pairs, raters=0)) == (
        "By the mean ratings, A is better than every other system; its smallest lead, over B, is +0.40 on a "
        "scale of 1 to 5, "
        "95% interval 0.10 to 0.70. The order of the others is certain, too."
    )


def test_the_difference_that_is_not_certain_is_named_and_few_raters_are_called_rough():
    four = verdict(
        ["aurora", "cobalt", "birch", "dune"],
        [
            ("aurora", "dune", 2.57, 2.26, 2.88, 0.001),
            ("cobalt", "dune", 1.48, 1.03, 1.93, 0.001),
            ("birch", "dune", 1.41, 1.09, 1.72, 0.001),
            ("aurora", "birch", 1.16, 0.90, 1.42, 0.001),
            ("aurora", "cobalt", 1.09, 0.83, 1.35, 0.001),
            ("cobalt", "birch", 0.07, -0.22, 0.37, 0.6),
        ],
        raters=3,
    )
    assert verdict_sentence(four) == (
        "By the mean of 3 raters’ ratings, aurora is better than every other system; its smallest lead, over "
        "cobalt, is +1.09 on a scale of "
        "1 to 5, 95% interval 0.83 to 1.35. cobalt and birch cannot be told apart: +0.07, 95% interval −0.22 to 0.37."
    )
    assert (
        few_raters_sentence(four) == "Only 3 raters rated, so how far a new sample of raters would differ is uncertain."
    )


def test_few_raters_and_many_pairs_explain_wide_intervals():
    """Two degrees of freedom: t is 4.303 for one interval and 10.886 for each of six (scipy.stats.t.ppf)."""
    single, corrected = t.ppf(1 - 0.05 / 2, 2), t.ppf(1 - 0.05 / 6 / 2, 2)
    names = ["A", "B", "C", "D"]
    pairs = [(a, b, 0.5, 0.5 - corrected * 0.2, 0.5 + corrected * 0.2, 0.4) for a, b in combinations(names, 2)]
    few = verdict(names, pairs, raters=3)
    few.pairs = [replace(pair, single_low=0.5 - single * 0.2, single_high=0.5 + single * 0.2) for pair in few.pairs]
    assert width_sentence(few) == (
        "The intervals of differences are wide because only 3 raters rated and 6 differences are tested together: more "
        "raters narrow them most."
    )
    few.pairs[0] = replace(few.pairs[0], low=-3.52, high=4.0)
    assert width_sentence(few) == (
        f"The 95% interval of {few.pairs[0].first} less {few.pairs[0].second} is −3.52 to 4.00 with all 6 tested "
        "together, nearly every difference that the scale allows (−4.00 to 4.00). Alone it is −0.36 to 1.36. It is so "
        "wide because only 3 raters rated: more raters narrow it most."
    )
    few.pairs = few.pairs[:1]
    assert width_sentence(few).endswith("because only 3 raters rated: more raters narrow it most.")
    few.raters = 30
    assert width_sentence(few) == ""


def test_an_end_that_leaves_0_out_is_not_written_as_0():
    pair = ("A", "B", 0.1, 0.004, 0.19, 0.04)
    assert "95% interval 0.004 to 0.19" in verdict_sentence(verdict(["A", "B"], [pair], first=["A"]))


def test_where_nothing_is_certain_no_system_is_called_better():
    few = [
        ("aurora", "dune", 0.9, -4.0, 4.0, 0.2),
        ("birch", "dune", 0.72, -1.87, 3.32, 0.3),
        ("aurora", "birch", 0.18, -2.7, 3.1, 0.9),
    ]
    assert verdict_sentence(verdict(["aurora", "birch", "dune"], few, raters=4)) == (
        "By the mean of 4 raters’ ratings, no difference between two systems is certain; aurora, birch and dune "
        "share the highest mean, "
        "3.00."
    )
    open_ = [("A", "B", 0.52, -0.53, 1.57, 0.3)]
    assert verdict_sentence(verdict(["A", "B"], open_)) == (
        "By the mean of 12 raters’ ratings, A and B cannot be told apart: +0.52 on a scale of 1 to 5, 95% "
        "interval −0.53 to 1.57."
    )
    same = [("A", "C", 0.3, 0.1, 0.5, 0.01), ("B", "C", 0.3, 0.1, 0.5, 0.01), ("A", "B", 0.0, -1e-17, 1e-17, 1.0)]
    assert verdict_sentence(verdict(["A", "B", "C"], same)).endswith("A and B have the same ratings throughout.")


def test_of_many_differences_the_largest_is_given():
    names = ["A", "B", "C", "D"]
    many = [
        ("A", "D", 0.9, 0.2, 2.0, 0.01),
        ("A", "C", 0.8, 0.2, 1.4, 0.01),
        ("B", "D", 0.7, 0.1, 1.3, 0.01),
        ("B", "C", 0.6, 0.1, 1.1, 0.02),
        ("A", "B", 0.2, -0.2, 0.6, 0.5),
        ("C", "D", 0.4, 0.1, 0.7, 0.04),
    ]
    assert verdict_sentence(verdict(names, many, first=("A", "B"))) == (
        "By the mean of 12 raters’ ratings, no system is ahead of all others: A and B may each be first. Of 6 "
        "differences 5 are certain, "
        "the largest between A and D: +0.90 on a scale of 1 to 5, 95% interval 0.20 to 2.00. "
        "A and B cannot be told apart: +0.20, 95% interval −0.20 to 0.60."
    )


def test_what_rests_on_comparisons_or_on_one_rater_says_so():
    pair = [("A", "B", 0.5, 0.1, 0.9, 0.01)]
    by_comparisons = verdict(["A", "B"], pair, raters=6)
    by_comparisons.by_means, by_comparisons.of_means = False, ""
    assert verdict_sentence(by_comparisons).startswith("By the comparisons of 6 raters, A is better than B: +0.50, 95%")
    assert verdict_sentence(verdict(["A", "B"], pair, raters=1)).startswith("By the mean of 1 rater’s ratings, A is")


def test_systems_without_a_common_item_are_not_compared():
    nothing = [float("nan")] * 4
    two_sets = [
        ("LOLS", "Dusek", 0.1, -0.2, 0.4, 0.5),
        ("WEN", "LOLS", 0.2, -0.1, 0.5, 0.3),
        ("Dusek", "WEN", *nothing),
    ]
    assert verdict_sentence(verdict(["Dusek", "WEN", "LOLS"], two_sets)) == (
        "By the mean of 12 raters’ ratings, no difference between two systems is certain; "
        "Dusek, WEN and LOLS share the highest mean, 3.00. "
        "Dusek and WEN have no item in common and are not compared."
    )
    ahead = verdict(["Dusek", "WEN", "LOLS"], two_sets)
    ahead.systems[0].estimate = 3.1
    assert "Dusek has the highest mean, 3.10 (95% interval 2.50 to 3.50), which may be chance." in verdict_sentence(
        ahead
    )
    certain = [("WEN", "LOLS", 0.6, 0.3, 0.9, 0.001), ("Dusek", "WEN", *nothing)]
    assert verdict_sentence(verdict(["Dusek", "WEN", "LOLS"], certain)) == (
        "By the mean of 12 raters’ ratings, WEN is better than LOLS: +0.60 on a scale of 1 to 5, 95% interval "
        "0.30 to 0.90. "
        "Dusek and WEN have no item in common and are not compared."
    )
