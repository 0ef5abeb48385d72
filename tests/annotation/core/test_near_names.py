"""The name that was probably meant."""

import pytest

from annotation.core.near_names import did_you_mean, nearest

NAMES = ["id", "message", "meaning_representation", "references"]
SYNONYMS = {"message": ("prompt", "user_message"), "references": ("target",)}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Message", "message"),
        ("mesage", "message"),
        ("MeaningRepresentation", "meaning_representation"),
        ("meaning-representation", "meaning_representation"),
        ("reference", "references"),
        ("Prompt", "message"),
        ("prompts", "message"),
        ("User Message", "message"),
        ("targets", "references"),
        ("ID", "id"),
        ("ie", None),  # too short to be a slip
        ("comment", None),
        ("", None),
        ("__", None),
    ],
)
def test_case_separators_synonyms_and_slips_are_seen_through(name: str, meant: str | None) -> None:
    assert nearest(name, NAMES, SYNONYMS) == meant


def test_a_known_name_wins_over_a_synonym_of_another() -> None:
    assert nearest("Target", ["target", "references"], SYNONYMS) == "target"


def test_the_question_is_asked_only_if_another_name_is_near() -> None:
    assert did_you_mean("mesage", NAMES) == " (did you mean message?)"
    assert did_you_mean("message", NAMES) == ""
    assert did_you_mean("weather", NAMES) == ""


def test_a_table_of_thousands_of_columns_is_not_searched_for_slips() -> None:
    names = [f"rater {number}" for number in range(300)]
    assert nearest("ratter 7", names) is None
    assert nearest("Rater_7", names) == "rater 7"


def test_names_of_a_kilobyte_are_not_searched_for_slips() -> None:
    assert nearest("a" * 99 + "b", ["a" * 100]) == "a" * 100
    assert nearest("a" * 999 + "b", ["a" * 1000]) is None
    assert nearest("A" * 1000, ["a" * 1000]) == "a" * 1000
