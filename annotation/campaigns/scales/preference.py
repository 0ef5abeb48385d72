"""Which of two is better, and how clearly.

It is asked once for a pair. A value above 0 prefers the first response on screen. It is stored as a rating of each
response: +s for the chosen one and -s for the other, s from 1 to ``scale_max``; 0 for both if they may be called equal.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext, pgettext

from annotation.campaigns.presentations import Pair
from annotation.campaigns.scales.base import WholeScale, label_problems, labels_layout
from annotation.dry_runs.simulation import Ladder, ShownText, SimulatedRater, answer, obey

MAX_STRENGTH = 5
MOST_PLUSES = 3


class Preference(WholeScale):
    key = "preference"
    label = "Which of two, and how clearly"
    choice = "Which of two is better (pairs only)"
    required = ("strength",)
    optional = ("ties",)
    form_names = {"scale_max": "strength"}
    presentations = (Pair.key,)
    misfit = "asks which of two is better, which only pairs show; accepted here: another scale."
    mirrored = True
    is_relative = True
    shows_numbers = False
    compared = "pairs"
    ranked = "comparisons"
    of_means = "of log odds"

    def problems(self) -> Iterator[tuple[str, str]]:
        strength = self.settings.scale_max
        if not 1 <= strength <= MAX_STRENGTH:
            yield "scale_max", f"found {strength} degrees of preference; accepted: 1 to {MAX_STRENGTH}."
            return
        which = "one per point, from the second much better to the first much better"
        yield from label_problems(self.settings, 2 * strength + 1, f"{2 * strength + 1} points", which)

    def stored(self) -> dict[str, Any]:
        return {**super().stored(), "ties": self.settings.ties, "scale_min": -self.settings.scale_max}

    @property
    def summary(self) -> str:
        n = self.settings.scale_max
        equal = ", or equal" if self.settings.ties else ""
        return f"which of the two, in {n} degree{'' if n == 1 else 's'}{equal}"

    @property
    def heading(self) -> str:
        return gettext("Which of the two?")

    @property
    def points(self) -> list[tuple[int, str]]:
        """The values from "the first is much better" to "the second is much better", with their labels."""
        highest = self.settings.scale_max
        values = [value for value in range(highest, -highest - 1, -1) if value or self.settings.ties]
        labels = list(self.settings.labels)
        if len(labels) == 2 * highest + 1:  # of every value from the lowest, whether ties are allowed or not
            return [(value, labels[value + highest]) for value in values]
        if len(labels) == len(values):
            return list(zip(values, reversed(labels), strict=True))
        return [(value, _words(value, highest)) for value in values]

    def sign(self, value: int) -> str:
        """Return the letter of the better text, with a plus for each further degree, or with the degree."""
        if value == 0:
            return "="
        letter, degree = "A" if value > 0 else "B", abs(value)
        return f"{letter}{degree}" if self.settings.scale_max > MOST_PLUSES else letter + "+" * (degree - 1)

    @property
    def layout(self) -> str:
        return labels_layout([label for _, label in self.points])

    @property
    def accepted(self) -> str:
        zero = "" if self.settings.ties else ", not 0"
        return f"a whole number from {self.settings.scale_min} to {self.settings.scale_max}{zero}"

    def accepts(self, number: float) -> bool:
        on_scale = self.settings.scale_min <= number <= self.settings.scale_max and number.is_integer()
        return on_scale and (number != 0 or self.settings.ties)

    def n_fields(self, n_responses: int) -> int:
        return 1

    def read(self, given: Sequence[object], n_responses: int) -> tuple[list[float], dict[int, str]]:
        value = self.value(given[0])
        if value is None:
            return [], {0: self.refusal(given[0])}
        return [value, *[-value or 0.0] * (n_responses - 1)], {}

    def held(self, values: Sequence[float]) -> list[str]:
        return [f"{values[0]:.15g}"]

    def answers(self, shown: float) -> float:
        return 1.0

    def high_range(self, low: float | None) -> list[float]:
        return [1.0 if low is None else low, float(self.settings.scale_max)]

    @property
    def sentence(self) -> str:
        high = self.settings.scale_max
        ties = "; the two may be called equal" if self.settings.ties else "; neither may be called equal to the other"
        degrees = f", in {high} degrees" if high > 1 else ""
        return f"a choice of the better of two{degrees}{ties}"

    @property
    def sizes(self) -> tuple[str, str]:
        high, zero = self.settings.scale_max, "" if self.settings.ties else " without 0"
        n = 2 * high + (1 if self.settings.ties else 0)
        return str(n), f"−{high} to {high}{zero}, its sign says which is better"

    @property
    def ladder(self) -> Ladder:
        return Ladder(float(self.settings.scale_min), float(self.settings.scale_max), zero=self.settings.ties)

    def simulate(self, rater: SimulatedRater, texts: Sequence[ShownText]) -> dict[int, float]:
        if len(texts) != 2:
            raise ValueError(f"a preference is asked about {len(texts)} texts; accepted: two")
        name, ladder = self.settings.name, self.ladder
        known = next((number for number, text in enumerate(texts) if name in text.expected), None)
        if known is None:
            return {0: answer(rater, texts[0].quality, ladder, against=texts[1].quality)}
        middle = ladder.middle(texts[known].expected[name])
        first = middle if known == 0 else 1 - middle  # what is expected of the second is the opposite for the first
        if texts[known].commands:
            return {0: obey(rater, ladder.nearest(first), ladder)}
        return {0: answer(rater, first, ladder, against=1 - first)}


def _words(value: int, highest: int) -> str:
    letter = "A" if value > 0 else "B"
    if value == 0:
        return pgettext("neither of two texts is better", "Equal")
    strength = abs(value)
    if highest > 1 and strength == highest:
        return gettext("%(letter)s much better") % {"letter": letter}
    if highest > 1 and strength == 1:
        return gettext("%(letter)s slightly better") % {"letter": letter}
    words = gettext("%(letter)s better") % {"letter": letter}
    return f"{words} ({strength})" if highest > 3 else words
