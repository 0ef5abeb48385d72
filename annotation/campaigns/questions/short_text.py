"""A short text in the rater's own words."""

from collections.abc import Iterator

import numpy as np
from django.utils.translation import gettext

from annotation.campaigns.questions.base import LONGEST_ANSWER, AnswerKind

EXAMPLE = "An answer of a simulated rater"


class ShortText(AnswerKind):
    key = "text"
    choice = "A short text"
    uses = ("longest",)

    @property
    def summary(self) -> str:
        return f"a text of up to {self.question.longest} characters"

    def problems(self) -> Iterator[tuple[str, str]]:
        if not 1 <= self.question.longest <= LONGEST_ANSWER:
            yield "longest", f"Found {self.question.longest}; accepted: 1 to {LONGEST_ANSWER} characters."

    def accepted(self, values: list[str]) -> list[str]:
        text, longest = " ".join(values), self.question.longest
        if len(text) > longest or "\x00" in text:
            raise ValueError(gettext("Please shorten it: the limit in characters is %(n)s.") % {"n": longest})
        return [text]

    def simulate(self, rng: np.random.Generator) -> str:
        return EXAMPLE[: self.question.longest].strip()
