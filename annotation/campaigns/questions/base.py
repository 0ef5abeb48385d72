"""A question to raters about themselves, and what each kind of answer accepts."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from django.utils.translation import gettext

LONGEST_ANSWER = 200


@dataclass(frozen=True)
class Question:
    """A question as the design holds it. The kind of answer says which of the last four fields mean something."""

    name: str  # in files, and of the filter of results
    question: str
    kind: str
    required: bool = True
    options: tuple[str, ...] = ()
    longest: int = LONGEST_ANSWER
    low: float | None = None
    high: float | None = None

    @property
    def label(self) -> str:
        """Return the name in words.

        >>> Question("native_language", "Which is your native language?", "choice").label
        'Native language'
        """
        words = self.name.replace("_", " ").replace("-", " ")
        return words[:1].upper() + words[1:]


class AnswerKind(ABC):
    """A kind of answers; each is a subclass in its own file. Answers are stored as a list of texts.

    Attributes
    ----------
    choice : its name in the form that designs a question.
    uses : the fields of the question that mean something.
    is_listed : the answers are few and known before, so that each is counted in documents.
    """

    key: ClassVar[str]
    choice: ClassVar[str]
    uses: ClassVar[tuple[str, ...]] = ()
    is_listed: ClassVar[bool] = False

    def __init__(self, question: Question) -> None:
        self.question = question

    @property
    def template(self) -> str:
        return f"annotation/campaigns/questions/{self.key}.html"

    @property
    @abstractmethod
    def summary(self) -> str:
        """What is accepted, for the page of a design."""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield the fields of the question that cannot be, each with what is wrong."""
        yield from ()

    def read(self, given: Sequence[str]) -> list[str]:
        """Return the answer, empty if there is none. Raise ValueError in the rater's language."""
        values = [" ".join(value.split()) for value in given if value.strip()]
        if not values and self.question.required:
            raise ValueError(gettext("Please answer this question."))
        return self.accepted(values) if values else []

    @abstractmethod
    def accepted(self, values: list[str]) -> list[str]:
        """Return the answer as it is stored. Raise ValueError in the rater's language."""

    @abstractmethod
    def simulate(self, rng: np.random.Generator) -> str:
        """Return what a simulated rater answers."""
