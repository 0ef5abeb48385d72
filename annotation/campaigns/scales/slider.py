"""A slider between two ends."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from django.utils.translation import gettext

from annotation.campaigns.scales.base import (
    BARS,
    FloatArray,
    RangeScale,
    counted_at,
    grid_of,
    label_problems,
    range_message,
    three_decimals,
)
from annotation.dry_runs.simulation import Ladder

TENTHS = 10  # "one point" is a tenth of the slider's length


class Slider(RangeScale):
    key = "slider"
    label = "Slider between two ends"
    choice = "A slider between two ends"
    required = ("scale_min", "scale_max", "step")
    optional = ("labels",)
    has_points = False
    heds_form = (3,)

    def range_problems(self) -> Iterator[tuple[str, str]]:
        low, high, step = self.settings.scale_min, self.settings.scale_max, self.settings.step
        span = high - low
        if span < 1:
            yield "scale_max", f"its scale goes from {low} to {high}; accepted: from low to high."
            return
        if not (math.isfinite(step) and 0 <= step <= span):
            yield "step", f"found a step of {step:g}; accepted: 0 for any number, or up to {span}."
        elif step and abs(span / step - round(span / step)) > 1e-9:
            yield "step", f"steps of {step:g} do not lead from one end to the other, {span} apart."
        yield from label_problems(self.settings, 2, "two ends", "one for each end")

    def stored(self) -> dict[str, Any]:
        return {**super().stored(), "step": self.settings.step}

    @property
    def summary(self) -> str:
        step = f"steps of {three_decimals(self.settings.step)}" if self.settings.step else "any number"
        return f"slider, {self.settings.scale_min} to {self.settings.scale_max}, {step}"

    @property
    def described(self) -> list[tuple[str, str]]:
        low, high = self.ends_labels or ("", "")
        return [(self.sign(self.settings.scale_max), high), (self.sign(self.settings.scale_min), low)]

    @property
    def step(self) -> str:
        """The step attribute of its number field."""
        return f"{self.settings.step:g}" if self.settings.step else "any"

    def words(self) -> dict[str, str]:
        ends = self.ends_labels
        return {str(self.settings.scale_min): ends[0], str(self.settings.scale_max): ends[1]} if ends else {}

    @property
    def accepted(self) -> str:
        steps = f" in steps of {self.settings.step:g}" if self.settings.step else ""
        return f"a number from {self.settings.scale_min} to {self.settings.scale_max}{steps}"

    def accepts(self, number: float) -> bool:
        if not self.settings.scale_min <= number <= self.settings.scale_max:
            return False
        steps = (number - self.settings.scale_min) / self.settings.step if self.settings.step else 0.0
        return abs(steps - round(steps)) < 1e-6

    def message(self, text: str) -> str:
        low, high = self.settings.scale_min, self.settings.scale_max
        if not text.strip() or self.settings.step in (0, 1):
            return range_message(low, high)
        values = {"low": low, "high": high, "step": f"{self.settings.step:g}"}
        return gettext("Please give a number from %(low)s to %(high)s in steps of %(step)s.") % values

    @property
    def point(self) -> float:
        return (self.settings.scale_max - self.settings.scale_min) / TENTHS

    def histogram(self, values: FloatArray, among: FloatArray | None = None) -> list[tuple[float, int]]:
        if not len(values):
            return []
        low, high = self.settings.scale_min, self.settings.scale_max
        grid = grid_of(values if among is None else among, low, high)
        return counted_at(values, np.linspace(low, high, BARS) if grid is None else grid)

    @property
    def sentence(self) -> str:
        step = "any number" if self.settings.step == 0 else f"steps of {self.settings.step:g}"
        return f"a slider from {self.labelled_range}, {step}"

    @property
    def sizes(self) -> tuple[str, str]:
        low, high, step = self.settings.scale_min, self.settings.scale_max, self.settings.step
        if step == 0:
            return "continuous", f"[{low}, {high}]"
        return f"{int((high - low) / step + 1e-9) + 1:,}", f"{low} to {high} in steps of {step:g}"

    @property
    def ladder(self) -> Ladder:
        return Ladder(float(self.settings.scale_min), float(self.settings.scale_max), self.settings.step)
