"""What pages call the range of a metric's scores."""

from math import inf

import pytest

from metrics.selectors.ranges import range_words


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 1, "0 to 1"),
        (-1, 1, "−1 to 1"),
        (0, inf, "0 and more"),
        (-inf, -0.5, "at most −0.5"),
        (-inf, inf, "unbounded"),
    ],
)
def test_a_range_is_put_in_words(low: float, high: float, words: str) -> None:
    assert range_words(low, high) == words
