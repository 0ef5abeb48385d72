import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.lcs import lcs_length, pair_lcs, token_masks
from metrics.scoring.segments import Segments
from metrics.scoring.token_ids import number_segments
from tests.metrics.scoring import overlap_oracles
from tests.metrics.scoring.corpora import token_lists


def lengths(hypotheses: list[list[str]], references: list[list[list[str]]]) -> list[int]:
    return list(pair_lcs(number_segments(Segments([hypotheses], references))).tolist())


@given(st.lists(st.tuples(token_lists(), st.lists(token_lists(), max_size=4)), min_size=1, max_size=4))
def test_lengths_of_short_texts_are_those_of_the_dynamic_programme(
    segments: list[tuple[list[str], list[list[str]]]],
) -> None:
    expected = [
        overlap_oracles.lcs(hypothesis, reference) for hypothesis, references in segments for reference in references
    ]

    assert lengths([hypothesis for hypothesis, _ in segments], [references for _, references in segments]) == expected


@pytest.mark.parametrize("size", [1, 62, 63, 64, 65, 66, 128, 200])
def test_lengths_around_the_width_of_a_machine_word_are_those_of_the_dynamic_programme(size: int) -> None:
    rng = np.random.default_rng(size)
    hypotheses = [[str(word) for word in rng.integers(0, 9, size)] for _ in range(3)]
    references = [[[str(word) for word in rng.integers(0, 9, n)] for n in (0, 1, 63, 64, 65, 150)] for _ in range(3)]
    expected = [
        overlap_oracles.lcs(hypothesis, reference)
        for hypothesis, texts in zip(hypotheses, references, strict=True)
        for reference in texts
    ]

    assert lengths(hypotheses, references) == expected


@given(token_lists(max_size=90), token_lists(max_size=90))
def test_a_length_does_not_depend_on_which_text_comes_first(left: list[str], right: list[str]) -> None:
    assert lengths([left], [[right]]) == lengths([right], [[left]])


@given(st.lists(st.integers(0, 5), max_size=90), st.lists(st.integers(0, 5), max_size=90))
def test_both_ways_of_counting_agree(left: list[int], right: list[int]) -> None:
    assert lcs_length(token_masks(left), len(left), right) == overlap_oracles.lcs(
        [str(token) for token in left], [str(token) for token in right]
    )


def test_a_text_of_ten_thousand_words_is_its_own_longest_subsequence() -> None:
    rng = np.random.default_rng(4)
    text = [str(word) for word in rng.integers(0, 2000, 10_000)]

    assert lengths([text], [[text, text[::2], text[::-1][:1]]]) == [10_000, 5_000, 1]
