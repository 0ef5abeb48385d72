"""A number relative to a standard text's (magnitude estimation)."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from django.utils.translation import gettext

from annotation.campaigns.scales.base import BARS, FloatArray, Scale, counted_at, three_decimals
from annotation.dry_runs.simulation import Ladder, magnitude_ends

LEAST, MOST = 1e-6, 1e6  # on the logarithmic scale, one answer could otherwise outweigh all others


class Magnitude(Scale):
    key = "magnitude"
    label = "A number relative to a standard text's"
    choice = "A number beside a standard text"
    required = ("standard_source", "standard_value")
    has_standard = True
    is_relative = True
    has_points = False
    agreement_note = ", of logarithms relative to the standard"
    heds_form = (5,)
    of_means = "in natural logarithms of ratios to the standard text"
    accepted = f"a number above 0, from {LEAST:f} to {MOST:,.0f}"
    group = "magnitudes"
    ends = np.nan, np.nan
    point = float(np.log(1.5))  # "one point" is a factor of 1.5
    sizes = "continuous", "every number above 0"

    def problems(self) -> Iterator[tuple[str, str]]:
        value = self.settings.standard_value
        if value is None or not (math.isfinite(value) and 0 < value <= 1e6):
            shown = "nothing" if value is None else f"{value:g}"
            yield "standard_value", f"the standard counts as {shown}; accepted: a number above 0, such as 100."
        if self.settings.labels:
            yield "labels", "a magnitude has no points to label; accepted: no labels."

    def stored(self) -> dict[str, Any]:
        standard = {"standard_source": self.settings.standard_source, "standard_value": self.settings.standard_value}
        return {**super().stored(), **standard, "scale_min": 0, "scale_max": 1, "labels": []}

    @property
    def summary(self) -> str:
        value = three_decimals(self.settings.standard_value or 0)
        return f"any number above 0; the text by “{self.settings.standard_source}” counts as {value}"

    @property
    def described(self) -> list[tuple[str, str]]:
        value = self.settings.standard_value or 0
        names = ((2, "Twice as good as the standard"), (1, "As good as the standard"), (0.5, "Half as good"))
        return [(f"{value * times:g}", name) for times, name in names]

    def accepts(self, number: float) -> bool:
        return LEAST <= number <= MOST

    def message(self, text: str) -> str:
        return gettext("Please give a number above 0.")

    def expected_problem(self, low: float, high: float) -> str:
        return "" if low > 0 else "above 0, as every magnitude"

    def expected_range(self, centre: float, tolerance: float) -> list[float]:
        low = centre - tolerance
        return [low if low > 0 else min(centre, LEAST), centre + tolerance]

    def high_range(self, low: float | None) -> list[float]:
        return [(self.settings.standard_value or 1.0) if low is None else low, MOST]

    def weighed(self, values: FloatArray) -> FloatArray:
        """Return the natural logarithms of the ratios to the standard."""
        if not self.settings.standard_value:
            return values
        logarithms: FloatArray = np.log(np.maximum(values, np.finfo(np.float64).tiny) / self.settings.standard_value)
        return logarithms

    def mean(self, values: FloatArray) -> float:
        """Return the geometric mean."""
        if not len(values):
            return np.nan
        return float(np.exp(self.weighed(values).mean())) * float(self.settings.standard_value or 1)

    def histogram(self, values: FloatArray, among: FloatArray | None = None) -> list[tuple[float, int]]:
        if not len(values):
            return []
        both = np.log(values if among is None else among)
        points = np.linspace(both.min(), max(both.max(), both.min() + 0.01), BARS)
        counts = counted_at(np.log(values), points)
        return [(float(f"{np.exp(point):.3g}"), n) for point, (_, n) in zip(points.tolist(), counts, strict=True)]

    @property
    def sentence(self) -> str:
        return f"any number above 0, relative to a standard text worth {self.settings.standard_value:g}"

    @property
    def ladder(self) -> Ladder:
        """The part of the scale that raters use."""
        low, high = magnitude_ends(self.settings.standard_value or 1.0)
        return Ladder(low, min(high, MOST), 0.0, logarithmic=True)
