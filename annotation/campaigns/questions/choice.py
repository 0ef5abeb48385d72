"""One of a list of answers."""

from collections.abc import Iterator

import numpy as np
from django.utils.translation import gettext

from annotation.campaigns.questions.base import AnswerKind

MOST_OPTIONS = 60
LONGEST_OPTION = 100
MOST_AS_BUTTONS = 8  # more are a list that opens


class Choice(AnswerKind):
    key = "choice"
    choice = "One of several answers"
    uses = ("options",)
    is_listed = True

    @property
    def summary(self) -> str:
        return f"one of: {'; '.join(self.question.options)}"

    @property
    def as_buttons(self) -> bool:
        return len(self.question.options) <= MOST_AS_BUTTONS

    def problems(self) -> Iterator[tuple[str, str]]:
        options = self.question.options
        if not 2 <= len(options) <= MOST_OPTIONS:
            yield "options", f"Found {len(options)}; accepted: 2 to {MOST_OPTIONS} answers to choose from."
        if len(set(options)) < len(options):
            yield "options", "Found an answer twice; accepted: each once."
        for option in options:
            if not 1 <= len(option) <= LONGEST_OPTION or option != " ".join(option.split()):
                accepted = f"1 to {LONGEST_OPTION} characters in one line"
                yield "options", f"Found {option[:40]!r}; accepted: {accepted}, single spaces between words."

    def accepted(self, values: list[str]) -> list[str]:
        if len(values) > 1 or values[0] not in self.question.options:
            raise ValueError(gettext("Please choose one of the answers."))
        return values

    def simulate(self, rng: np.random.Generator) -> str:
        return str(rng.choice(self.question.options))
