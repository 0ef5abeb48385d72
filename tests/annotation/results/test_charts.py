"""Colours of the charts of results."""

from types import SimpleNamespace

import pytest

from annotation.core.charts import palette
from annotation.results.charts import _ladder, differences, estimates


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


def test_intervals_of_all_differences_together_do_not_stretch_the_axis() -> None:
    """The frame holds no difference and each single interval; the wide ones are cut at it, as the title says."""

    def drawn(low: float, high: float) -> tuple[list[float], list[str]]:
        pairs = [
            SimpleNamespace(
                first=name,
                second="C",
                difference=0.4,
                single_low=0.1,
                single_high=0.7,
                low=low,
                high=high,
                adjusted=0.2,
                is_certain=low > 0,
            )
            for name in "AB"
        ]
        x = differences(SimpleNamespace(pairs=pairs, criterion="rating", by_means=True))["layer"][1]["encoding"]["x"]
        return x["scale"]["domain"], x["title"]  # type: ignore[return-value]

    (start, end), title = drawn(-3.5, 4.0)
    assert -0.1 < start < 0
    assert 0.7 < end < 0.8
    assert title[1:] == ["95% intervals, each difference alone"]
    (start, end), title = drawn(0.05, 0.9)
    assert start < 0 < 0.9 < end
    assert len(title) == 2
