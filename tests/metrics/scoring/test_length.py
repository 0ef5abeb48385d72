import numpy as np

from metrics.scoring.length import Length
from tests.metrics.scoring.scored import scored


def test_tokens_are_those_of_the_tokeniser() -> None:
    hypotheses = ["Well, yes.", "", "no"]
    assert scored(Length(), hypotheses).sentence_scores.tolist() == [[2, 0, 1]]
    assert scored(Length(tokenize="13a"), hypotheses).sentence_scores.tolist() == [[4, 0, 1]]
    assert scored(Length(tokenize="char"), ["猫と犬"]).sentence_scores.tolist() == [[3]]


def test_characters_are_code_points_without_the_space_around() -> None:
    hypotheses = [" ab c\n", "", "e\u0301", "👨‍👩‍👧", ["two", "tokens"]]
    assert scored(Length(unit="characters"), hypotheses).sentence_scores.tolist() == [[4, 0, 2, 5, 10]]


def test_a_systems_score_is_the_mean() -> None:
    np.testing.assert_array_equal(scored(Length(), ["a b", "", "a"]).system_scores(), [1.0])
