"""What surprises in results is explained where it occurs, and only there."""

from dataclasses import replace

import pytest

from annotation.results.selectors.notes import ends_notes, rank_note
from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict, SystemVerdict

CERTAIN, OPEN = 0.01, 0.4


def system(name: str, mean: float, rank: int, *, low: float = 2.0, high: float = 4.0) -> SystemVerdict:
    return SystemVerdict(name, mean, low, high, rank, 3, 1, ratings=9, raters=3, items=3)


def pair(first: str, second: str, adjusted: float, *, low: float = -1.0, high: float = 1.0) -> PairVerdict:
    return PairVerdict(first, second, 0.2, low, high, adjusted, adjusted, items=3, single_low=-0.5, single_high=0.5)


def verdict(systems: list[SystemVerdict], pairs: list[PairVerdict]) -> CriterionVerdict:
    words = ("quality", "How good?", "scale", "means", "on a scale of 1 to 5", "")
    return CriterionVerdict(*words, systems, pairs, raters=3, scale_low=1.0, scale_high=5.0)


PLAIN = verdict(
    [system("A", 3.05, 1), system("B", 2.91, 2), system("C", 2.82, 2)],
    [pair("A", "B", CERTAIN), pair("A", "C", CERTAIN), pair("B", "C", OPEN)],
)


def test_a_lower_mean_that_ranks_first_is_explained_by_what_is_certain() -> None:
    """The demo's own case: TeamG shares the first place, Baseline has the higher mean and does not."""
    open_to_c = [pair("A", "B", CERTAIN), pair("A", "C", OPEN), pair("B", "C", OPEN)]
    found = replace(PLAIN, systems=[*PLAIN.systems[:2], system("C", 2.82, 1)], pairs=open_to_c)

    assert rank_note(found) == (
        "B has a higher mean than C (2.91 against 2.82), but its best rank is 2, C’s 1, because A differs "
        "significantly from B, but not from C."
    )
    untested = rank_note(replace(found, pairs=[pair("A", "B", CERTAIN), pair("B", "C", OPEN)]))
    assert untested.endswith("because A differs significantly from B, and is not compared with C.")


def test_a_lower_mean_that_wins_on_common_items_is_explained_by_these() -> None:
    systems = [system("A", 3.05, 2), system("B", 2.91, 1)]
    assert rank_note(verdict(systems, [pair("B", "A", CERTAIN)])).endswith(
        "because B is significantly better than A on the items that both have."
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, []),
        ({"systems": [system("A", 4.9, 1, high=4.998), *PLAIN.systems[1:]]}, ["5 is where the scale ends"]),
        ({"systems": [system("A", 4.9, 1, low=1.0, high=5.0)]}, ["1 and 5 are where the scale ends"]),
        ({"pairs": [pair("A", "B", OPEN, low=-4.0)]}, ["means differ by 4 at most"]),
        ({"pairs": [pair("A", "B", OPEN, low=-4.0)], "scale_low": float("nan"), "scale_high": float("nan")}, []),
    ],
)
def test_an_interval_that_is_cut_says_so(changed: dict, words: list[str]) -> None:
    found = list(ends_notes(replace(PLAIN, **changed)))
    assert len(found) == bool(words)
    assert all(part in found[0] for part in words)
