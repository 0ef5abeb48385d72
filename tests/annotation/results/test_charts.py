"""Colours of the charts of results."""

from types import SimpleNamespace

import pytest

from annotation.core.charts import palette
from annotation.results.charts import _ladder, estimates


def _lightness(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_middle_value_is_seen_on_a_dark_card() -> None:
    middle, card = _ladder(5, "dark")[2], palette("dark").surface
    assert (_lightness(middle) + 0.05) / (_lightness(card) + 0.05) > 2


@pytest.mark.parametrize(("criterion", "title"), [("rating", "Mean rating"), ("fluency", "Mean rating: fluency")])
def test_an_axis_names_its_criterion_unless_that_repeats_what_is_shown(criterion: str, title: str) -> None:
    systems = [
        SimpleNamespace(name=name, estimate=3.0, low=2.5, high=3.5, ranks="1", ratings=9, items=12) for name in "AB"
    ]
    verdict = SimpleNamespace(systems=systems, criterion=criterion, by_means=True)

    points = estimates(verdict)["layer"][1]  # type: ignore[arg-type]

    assert points["encoding"]["x"]["title"][0] == title
