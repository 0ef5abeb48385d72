"""Rounded parts add up to the rounded sum."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.scoring.rounding import rounded_parts


@given(st.lists(st.floats(-50, 50), max_size=30), st.integers(0, 5))
def test_parts_add_up_and_none_is_off_by_a_digit(parts: list[float], digits: int) -> None:
    rounded = rounded_parts(parts, digits)
    unit = 10.0**-digits
    assert sum(Fraction(repr(value)) for value in rounded) * 10**digits == round(math.fsum(parts) * 10**digits) or (
        # The sum lies at a half: either way is right.
        abs(abs(math.fsum(parts) / unit % 1) - 0.5) < 1e-6
    )
    assert all(abs(value - part) < unit * (1 + 1e-6) for value, part in zip(rounded, parts, strict=True))


def test_the_largest_remainders_are_rounded_up() -> None:
    # By hand: 0.26 + 0.26 + 0.48 = 1; the wholes leave one tenth, and 0.48 has the largest remainder.
    assert rounded_parts([0.26, 0.26, 0.48], 1) == [0.3, 0.2, 0.5]
    assert rounded_parts([0.16, -0.16], 1) == [0.2, -0.2]


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        rounded_parts([float("nan")], 2)
