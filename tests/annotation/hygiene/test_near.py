"""Coefficients are counted by hand: with a space at each end, a text has as many shingles as characters less two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.hygiene.near import nearest, resemblance, shingles


@pytest.mark.parametrize(
    ("first_text", "second_text", "expected"),
    [
        ("abcd", "abcd", 1.0),
        # " abcd ": ␣ab abc bcd cd␣; " abce ": ␣ab abc bce ce␣; two shared of six.
        ("abcd", "abce", 2 / 6),
        ("TIL I'm a dolphin .", "til I'm a dolphin", 1.0),  # the same but for case and punctuation
        ("It's", "it s", 1.0),
        ("straße", "STRASSE", 1.0),
        ("e\u0301te\u0301", "été", 1.0),
        ("yes", "no", 0.0),
        # " so so so ": ␣so so␣ o␣s, each once; " so ": ␣so so␣; two shared of three.
        ("so so so", "so", 2 / 3),
        (":-)", ":-(", 1 / 5),
        ("हिन्दी", "हिन्दी।", 1.0),
    ],
)
def test_resemblance_is_the_share_of_common_shingles(first_text: str, second_text: str, expected: float) -> None:
    assert resemblance(shingles(first_text), shingles(second_text)) == pytest.approx(expected)


@given(st.text(), st.text())
def test_resemblance_is_symmetric_and_one_for_a_text_itself(first_text: str, second_text: str) -> None:
    first, second = shingles(first_text), shingles(second_text)
    assert first
    assert resemblance(first, first) == 1
    assert resemblance(first, second) == resemblance(second, first)
    assert 0 <= resemblance(first, second) <= 1


def test_the_nearest_is_the_first_of_the_most_alike_above_the_threshold() -> None:
    others = [shingles(text) for text in ("I saw that coming.", "I missed it.", "i missed it!")]
    assert nearest(shingles("I missed it"), others, threshold=0.9) == (1, 1.0)
    assert nearest(shingles("I missed them"), others, threshold=0.9) is None
    assert nearest(shingles("anything"), [], threshold=0.1) is None
