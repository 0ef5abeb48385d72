"""The sentences above a leaderboard: who is first by the metrics, and how that system stands by the raters."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.results.selectors.leading import Leading
from metrics.models import ScoreRun
from metrics.selectors.leaderboard_marks import bad_note
from metrics.selectors.leaderboard_table import Cell, Column, Leaderboard, RaterSentence, Row
from metrics.selectors.leaderboard_words import _by_raters, headline, lead, summary
from metrics.selectors.run_items import ItemSet


def column(label: str, best: str, *tied: str, tested: bool = True) -> Column:
    return Column(label, label, True, True, run=ScoreRun(), is_tested=tested, best=[best], tied=list(tied))


@pytest.mark.parametrize(
    ("columns", "sentences"),
    [
        (
            [column("BLEU", "B"), column("chrF", "B"), column("TER", "B", "D")],
            ["BLEU, chrF and TER put B first.", "TER cannot tell it from D."],
        ),
        ([column("BLEU", "B", "C")], ["BLEU puts B first.", "BLEU cannot tell it from C."]),
        (
            [column("BLEU", "A"), column("TER", "B"), column("chrF", "A")],
            ["BLEU and chrF put A first; TER puts B first."],
        ),
        (
            [
                column("TER", "D", "B"),
                column("BLEU", "B"),
                column("chrF", "B"),
                column("FM", "C"),
                column("AM", "A", "C"),
            ],
            [
                "BLEU and chrF put B first; TER puts D first, FM C, AM A.",
                "TER cannot tell D from B; AM cannot tell A from C.",
            ],
        ),
        (
            [column("distinct-n", "B", tested=False), column("BLEU", "B")],
            ["distinct-n and BLEU put B first.", "Differences by distinct-n are not tested."],
        ),
        (
            [column(name, "B") for name in ("a", "b", "c", "d", "e")],
            ["a, b, c and 2 more put B first."],
        ),
        (
            [column("a", "B", "C"), column("b", "C", "B"), column("c", "B", "D")],
            [
                "a and c put B first; b puts C first.",
                "a, b and c cannot tell their best system from others, which the table marks.",
            ],
        ),
    ],
)
def test_the_sentence_says_who_is_first_and_who_cannot_be_told_apart(columns: list[Column], sentences) -> None:
    board = Leaderboard(None, columns, [Row(None, [], []), Row(None, [], [])])  # type: ignore[arg-type]

    assert summary(board) == sentences


def test_of_many_columns_the_first_metrics_are_shown_and_what_sorts_the_table() -> None:
    columns = [column(f"m{number}", "A") for number in range(10)]
    cells = [Cell(float(number)) for number in range(10)]
    board = Leaderboard(None, columns, [Row(None, cells, columns)] * 2, sort="m9")  # type: ignore[arg-type]

    narrow = board.narrowed()

    assert [each.key for each in narrow.columns] == ["m0", "m1", "m2", "m3", "m4", "m5", "m9"]
    assert [cell.score for cell in narrow.rows[0].cells] == [0, 1, 2, 3, 4, 5, 9]
    assert (narrow.left_out, narrow.all_columns) == (3, 10)
    assert replace(board, sort="m0", columns=columns[:8]).narrowed().left_out == 0  # not for two


def test_metrics_that_reward_bad_references_are_counted() -> None:
    columns = [replace(column("BLEU", "A"), rewards_bad=True), column("ΔBLEU", "B")]
    board = Leaderboard(None, columns, [Row(None, [], [])] * 2)  # type: ignore[arg-type]

    assert bad_note(board).startswith("1 metric takes all references, bad ones too")
    assert not bad_note(replace(board, columns=columns[1:]))
    assert lead(replace(board, columns=[column("judge", "A", "B", "C")])) == "judge puts A first, not for certain."


APART = "A and C share no items, or too few, and are not compared."


def over(n: int, label: str, best: str, *tied: str) -> Column:
    made = column(label, best, *tied)
    made.items = ItemSet(n, 40, "" if n == 40 else "Chat v1")
    return made


def test_metrics_over_different_items_are_not_counted_together() -> None:
    columns = [over(40, "BLEU", "A"), over(40, "chrF", "A", "B"), over(12, "BLEU", "B"), over(11, "ΔBLEU", "A")]
    board = Leaderboard(None, columns, [Row(None, [], []), Row(None, [], [])])  # type: ignore[arg-type]

    assert summary(board) == [
        "Over all 40 items: BLEU and chrF put A first.",
        "chrF cannot tell it from B.",
        "Over 12 of 40 items (Chat v1): BLEU puts B first.",
        "Over 11 of 40 items (Chat v1): ΔBLEU puts A first.",
        "Scores over different items are not compared with each other.",
    ]
    assert headline(board) == (
        "Over all 40 items: both metrics put A first; 1 of them tells it from every other system."
    )


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            [column("BLEU", "A"), column("chrF", "A", "B"), column("TER", "B"), column("AM", "A", tested=False)],
            "3 of 4 metrics (all but TER) put A first; 1 of them tells it from every other system.",
        ),
        (
            [column("BLEU", "A"), column("chrF", "A")],
            "Both metrics put A first; each of them tells it from every other system.",
        ),
        ([column("BLEU", "A", "B")], "BLEU puts A first. BLEU cannot tell it from B."),
        (
            [replace(column("BLEU", "A"), apart=["C"]), replace(column("TER", "A", "B"), apart=["C"])],
            f"Both metrics put A first; 1 of them tells it from every other system that it shares items with. {APART}",
        ),
        (
            [replace(column("BLEU", "A", "B"), apart=["C"], has_gaps=True)],
            f"BLEU puts A first. BLEU cannot tell it from B on the items that both have. {APART}",
        ),
        (
            [column("BLEU", "A"), replace(column("TER", "A"), is_beaten=True)],
            ("Both metrics put A first; 1 of them tells it from every other system."),
        ),
        ([column("BLEU", "A"), column("TER", "B")], "Each of 2 metrics puts another system first."),
        (
            [column("BLEU", "A"), column("TER", "B"), column("chrF", "A"), column("AM", "B"), column("FM", "C")],
            "Metrics disagree; A and B are each first by 2 of 5.",
        ),
        (
            [column("TER", "A"), column("AM", "A"), replace(column("ΔBLEU", "A"), best=["A", "B"], level=2)],
            (
                "Both metrics put A first; each of them tells it from every other system. "
                "ΔBLEU gives both systems the same score."
            ),
        ),
        (
            [replace(column(label, "A"), best=["A", "B", "C", "D"], level=4) for label in ("BLEU", "ΔBLEU")],
            "BLEU and ΔBLEU give all 4 systems the same score.",
        ),
        (
            [replace(column("BLEU", "A"), unmatched=4), column("TER", "B"), column("AM", "B")],
            "Both metrics put B first; each of them tells it from every other system. BLEU, smoothed, is not counted.",
        ),
    ],
)
def test_the_headline_counts_the_metrics_that_agree_and_those_that_are_sure(
    columns: list[Column], sentence: str
) -> None:
    board = Leaderboard(None, columns, [Row(None, [], []), Row(None, [], [])])  # type: ignore[arg-type]

    assert headline(board) == sentence
    first_clause = lead(board).removesuffix(".").split("; ΔBLEU")[0].split("; BLEU")[0]
    begins, _, certainty = first_clause.rpartition(" first, ")
    assert sentence.startswith(begins or lead(board).removesuffix("."))
    assert certainty.removesuffix(" for certain") in sentence or not begins
    assert lead(board).count(".") == 1, "the page begins with one sentence"


def test_a_single_metric_over_other_items_is_named_with_its_winner() -> None:
    columns = [over(27, "BLEU", "A"), over(27, "chrF", "A"), over(40, "judge", "B")]
    board = Leaderboard(None, columns, [Row(None, [], []), Row(None, [], [])])  # type: ignore[arg-type]

    assert headline(board) == (
        "Over 27 of 40 items (Chat v1): both metrics put A first; each of them tells it from every other system. "
        "judge, over all 40 items, puts B first, for certain."
    )
    assert lead(board) == (
        "Over 27 of 40 items (Chat v1): both metrics put A first, each for certain; "
        "over all 40 items judge puts B first, for certain."
    )


@pytest.mark.parametrize(
    ("raters", "sentence"),
    [
        (Leading("A", behind=["B", "C"]), "The raters put A first, too."),
        (Leading("A", tied=["B"], behind=["C"]), "By the raters A may be first, too."),
        (Leading("B", tied=["A"], behind=["C"]), "By the raters A may be first, too."),
        (Leading("B", tied=["C"], behind=["A"]), "The raters rate B better than A."),
        (Leading("A", apart=["B"]), ""),  # compared with no system
        (
            Leading("A", apart=["B"], behind=["C"]),
            "The raters put A first, too, among the systems that it shares items with.",
        ),
        (
            Leading("B", tied=["A"], apart=["C"]),
            "By the raters A may be first, too, among the systems that it shares items with.",
        ),
        (Leading("B", apart=["A"], behind=["C"]), ""),
    ],
)
def test_the_metrics_winner_is_set_beside_the_raters(raters: Leading, sentence: str) -> None:
    assert _by_raters("A", raters) == sentence


def test_what_raters_say_stands_with_what_it_rests_on_and_what_surprises_in_it() -> None:
    """On *Scores* and where runs are side by side, before the metrics' sentence."""
    raters = [
        RaterSentence("3 raters give A the highest mean.", "9 ratings of 3 items", 7, "B has a higher mean than C …"),
        RaterSentence("2 raters give B the highest mean.", "6 ratings of 3 items", 8),
    ]
    context = {"board": SimpleNamespace(rater_sentences=raters), "project": SimpleNamespace(slug="cats")}

    above = render_to_string("metrics/parts/board_sentences.html", {**context, "lead": "BLEU puts A first."})
    assert " ".join(strip_tags(above).split()) == "3 raters give A the highest mean. BLEU puts A first."
    shown = render_to_string("metrics/parts/board_basis.html", {**context, "headline": "BLEU puts A first."})
    assert " ".join(strip_tags(shown).split()) == (
        "Raters: 9 ratings of 3 items; Results. Raters: 2 raters give B the highest mean. 6 ratings of 3 items; "
        "Results. Metrics: BLEU puts A first."
    )
    assert [shown.count(reverse("annotation:campaign-results", args=["cats", pk])) for pk in (7, 8)] == [1, 1]
