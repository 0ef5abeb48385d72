"""Synthetic errors as in section 3.3 of Dušek, Novikova and Rieser (2017)."""

import itertools
from collections import Counter

import numpy as np
import pytest

from metrics.scoring.qe.errors import Dictionary, with_errors
from metrics.scoring.qe.scale import RatingScale

DICTIONARY = Dictionary.of([("new", "old", "new")])


@pytest.mark.parametrize(
    ("rating", "lowered"),
    [(6, [4, 3, 2, 1]), (5.5, [4, 3, 2, 1]), (5, [4, 3, 2, 1]), (4.5, [3.5, 2.5, 1.5, 1]), (1.5, [1, 1, 1, 1])],
)
def test_ratings_fall_by_a_point_for_each_error_and_to_four_from_the_top(rating: float, lowered: list[float]) -> None:
    scale = RatingScale(1, 6, 0.5)
    assert [scale.lowered(rating, errors) for errors in (1, 2, 3, 4)] == lowered
    assert scale.lowered(rating, 0) == rating


def one_error(words: tuple[str, ...], seed: int) -> tuple[str, ...]:
    return with_errors(words, 1, DICTIONARY, np.random.default_rng(seed))


def test_each_of_the_five_kinds_occurs_and_nothing_else() -> None:
    words = ("a", "cheap", "bar", ",", "the", "best")
    kinds: Counter[str] = Counter()
    for seed in range(400):
        changed = one_error(words, seed)
        lost, added = Counter(words) - Counter(changed), Counter(changed) - Counter(words)
        twice = any(first == second for first, second in itertools.pairwise(changed))
        match (lost.total(), added.total()):
            case (1, 0):
                kinds["removed"] += 1
            case (1, 1):
                assert set(added) <= {"new", "old"}
                kinds["replaced"] += 1
            case (0, 1) if set(added) <= {"new", "old"}:
                kinds["inserted"] += 1
            case (0, 1):
                kinds["doubled" if twice else "doubled elsewhere"] += 1
        assert not any(word in ("a", "the", ",") for word in lost + added)
    assert sum(kinds.values()) == 400
    # 80 are expected of each; beyond 50 to 110 is as rare as 4 standard deviations.
    assert all(50 < kinds[each] < 110 for each in ("removed", "replaced", "inserted", "doubled", "doubled elsewhere"))


def test_articles_and_punctuation_are_changed_where_nothing_else_is_there() -> None:
    assert any("the" not in one_error(("the", "."), seed) for seed in range(20))


def test_the_last_word_is_never_removed() -> None:
    for seed in range(100):
        assert one_error(("bar",), seed)
        assert any(word.isalpha() for word in with_errors(("bar", "."), 4, DICTIONARY, np.random.default_rng(seed)))


def test_errors_never_leave_the_output_as_it_was() -> None:
    assert all(with_errors(("a", "b"), 2, DICTIONARY, np.random.default_rng(seed)) != ("a", "b") for seed in range(200))


def test_an_output_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="output: found no words"):
        one_error((), 0)
