"""Marks of a leaderboard that would tell nothing, and those that surprise."""

from dataclasses import replace

import pytest

from metrics.selectors.leaderboard_marks import crossed_note, note_marks, open_note, smoothed_note
from metrics.selectors.leaderboard_table import Cell, Column, Leaderboard, Row


def column(label: str, *cells: tuple[float, str], higher: bool = True) -> tuple[Column, list[Cell]]:
    made = Column(label, label, higher, True, is_tested=True)
    shown = [Cell(score, standing=standing) for score, standing in cells]
    note_marks(made, shown)
    return made, shown


def board(*columns: tuple[Column, list[Cell]]) -> Leaderboard:
    every = [each for each, _ in columns]
    rows = [Row(None, list(cells), every) for cells in zip(*(cells for _, cells in columns), strict=True)]
    return Leaderboard(None, every, rows)


OPEN = ((3.1, "tied"), (3.0, "tied"), (2.8, "tied"))
CLEAR = ((0.4, "best"), (0.3, "tied"), (0.2, ""))


def test_a_column_in_which_each_system_may_be_the_best_is_named_and_marked_like_others() -> None:
    mixed = board(column("Raters", *OPEN), column("BLEU", *CLEAR))
    assert [each.is_open for each in mixed.columns] == [True, False]
    assert open_note(mixed) == "Any system may be the best by the raters: none is shown to be worse."
    assert mixed.marks == {"best", "tied", ""}
    alone = board(column("Raters", *OPEN))
    assert open_note(alone) == "Any system may be the best by every column: none is shown to be worse."
    assert alone.marks == {"tied"}
    assert open_note(board(column("BLEU", *CLEAR))) == ""


@pytest.mark.parametrize(
    ("cells", "higher", "is_explained"),
    [
        (CLEAR, True, False),
        (((3.0, "tied"), (2.91, ""), (2.82, "tied")), True, True),
        (((0.2, "best"), (0.3, ""), (0.4, "tied")), False, True),
        (((0.2, "best"), (0.3, "tied"), (0.4, "")), False, False),
    ],
)
def test_a_system_that_is_behind_with_a_better_number_is_explained(cells, higher, is_explained) -> None:
    assert bool(crossed_note(board(column("BLEU", *cells, higher=higher)))) == is_explained


def test_a_metric_whose_best_score_is_smoothing_alone_is_not_counted() -> None:
    made, cells = column("BLEU", *CLEAR)
    smoothed = [replace(cell, unmatched=4) for cell in cells]
    made.best = ["A"]
    assert made.leads
    note_marks(made, smoothed[1:] + cells[:1])
    assert made.leads, "the best score has matches"
    note_marks(made, smoothed)
    assert not made.leads
    assert not made.level
    assert column("ΔBLEU", (0.0, "best"), (0.0, "best"))[0].level == 2
    assert smoothed_note(board((made, smoothed))).startswith("BLEU is not counted among the metrics: no 4-gram of")
