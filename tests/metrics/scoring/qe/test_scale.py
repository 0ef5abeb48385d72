"""Predictions are rounded to the precision of the ratings and clipped to their range."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.qe.scale import RatingScale


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [
        ([1, 2, 4, 5], (1, 5, 1)),
        ([1, 1.5, 6], (1, 6, 0.5)),
        ([1 / 3, 2 / 3, 3], (1 / 3, 3, 1 / 3)),
        ([0.1, 0.3, 0.7], (0.1, 0.7, 0.2)),
        ([0, 50, 100], (0, 100, 50)),
        ([1, 2, np.e, np.pi], (1, np.pi, 0)),
    ],
)
def test_range_and_precision_are_those_of_the_ratings(ratings: list[float], scale: tuple[float, float, float]) -> None:
    found = RatingScale.of(ratings)
    assert (found.low, found.high, found.step) == pytest.approx(scale)


def test_a_given_range_is_wider_than_the_ratings() -> None:
    assert RatingScale.of([2, 4], low=1, high=6) == RatingScale(1, 6, 1)
    with pytest.raises(ValueError, match="ratings: found 2 to 7; accepted: 1 to 6"):
        RatingScale.of([2, 7], low=1, high=6)
    with pytest.raises(ValueError, match="ratings: found 3 alone"):
        RatingScale.of([3, 3])


@given(st.floats(-20, 20), st.sampled_from([0.5, 0.25, 1.0]))
def test_a_prediction_becomes_the_nearest_rating_of_the_scale(value: float, step: float) -> None:
    # Checked in exact fractions against every rating of the scale.
    accepted = [Fraction(1) + Fraction(step) * number for number in range(int(5 / step) + 1)]
    rounded = Fraction(float(RatingScale(1, 6, step).rounded(value)))
    assert rounded in accepted
    assert abs(rounded - Fraction(value)) == min(abs(each - Fraction(value)) for each in accepted)


def test_without_precision_a_prediction_is_clipped_alone() -> None:
    assert RatingScale(1, 5, 0).rounded([0.3, 2.34, 9]).tolist() == [1, 2.34, 5]
