"""A number, within limits if there are any."""

import math
from collections.abc import Iterator

import numpy as np
from django.utils.translation import gettext

from annotation.campaigns.questions.base import AnswerKind

LARGEST = 1e9


class Number(AnswerKind):
    key = "number"
    choice = "A number"
    uses = ("low", "high")

    @property
    def summary(self) -> str:
        low, high = self.question.low, self.question.high
        if low is None and high is None:
            return "a number"
        limits = [f"{word} {end:g}" for word, end in (("from", low), ("up to", high)) if end is not None]
        return f"a number {' '.join(limits)}"

    def problems(self) -> Iterator[tuple[str, str]]:
        low, high = self.question.low, self.question.high
        if low is not None and high is not None and high < low:
            yield "high", f"Found {high:g}; accepted: {low:g}, the lowest number, or more."

    def accepted(self, values: list[str]) -> list[str]:
        try:
            number = float(values[0].replace(",", "."))
        except ValueError:
            number = math.nan
        low, high = self.question.low, self.question.high
        if math.isnan(number) or abs(number) > LARGEST or len(values) > 1:
            raise ValueError(gettext("Please enter a number."))
        if low is not None and number < low:
            raise ValueError(gettext("Please enter a number from %(low)s.") % {"low": f"{low:g}"})
        if high is not None and number > high:
            raise ValueError(gettext("Please enter a number up to %(high)s.") % {"high": f"{high:g}"})
        return [f"{number:.10g}"]

    def simulate(self, rng: np.random.Generator) -> str:
        low = self.question.low if self.question.low is not None else min(0.0, self.question.high or 0.0)
        high = self.question.high if self.question.high is not None else low + 100
        number = float(rng.integers(math.ceil(low), math.floor(high), endpoint=True)) if high >= low + 1 else low
        return f"{number:g}"
