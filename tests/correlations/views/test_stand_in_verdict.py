"""One sentence that answers for every kind of rater."""

from types import SimpleNamespace
from typing import Any

import pytest

from correlations.selectors.stand_in_kinds import KindsOfRaters
from correlations.selectors.stand_in_verdict import verdict
from correlations.stats.worth import MARGINS

CAN, OPEN, CANNOT = "can", "open", "cannot"


@pytest.mark.parametrize(
    ("answers", "whom", "word", "text"),
    [
        ((CAN, CAN, CAN), "", "Yes,", "J can stand in for a rater."),
        (
            (CANNOT, CANNOT, CANNOT),
            "",
            "No,",
            "J cannot stand in for a rater.",
        ),
        (
            (CANNOT, OPEN, CAN),
            "",
            "",
            "J can stand in for an expert; for a skilled rater that is not shown; for a rater of a crowd it cannot.",
        ),
        (
            (CANNOT, OPEN, CAN),
            "crowd",
            "No,",
            "J cannot stand in for a rater of a crowd; for an expert it can; for a skilled rater that is not shown.",
        ),
        (
            (CANNOT, OPEN, OPEN),
            "",
            "",
            "It is not shown that J can stand in for a skilled rater or an expert; for a rater of a crowd it cannot.",
        ),
        (
            (CAN, CAN, OPEN),
            "skilled",
            "Yes,",
            "J can stand in for a rater of a crowd and a skilled rater; for an expert that is not shown.",
        ),
    ],
)
def test_yes_and_no_stand_only_before_what_holds_for_all_or_for_those_chosen(
    answers: tuple[str, ...], whom: str, word: str, text: str
) -> None:
    candidates: dict[str, Any] = {
        kind: SimpleNamespace(can=answer == CAN, cannot=answer == CANNOT, may_have_seen=False, too_few="")
        for kind, answer in zip(MARGINS, answers, strict=True)
    }
    row = KindsOfRaters(candidates["crowd"], candidates)

    found = verdict(row, "J", whom)

    assert (found.word, found.text) == (word, text)
