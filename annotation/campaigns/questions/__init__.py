"""Questions to raters about themselves: the kinds of answers that they can have."""

from annotation.campaigns.questions.base import AnswerKind, Question
from annotation.campaigns.questions.choice import Choice
from annotation.campaigns.questions.number import Number
from annotation.campaigns.questions.ready_made import READY_MADE, Wording, wording
from annotation.campaigns.questions.several import Several
from annotation.campaigns.questions.short_text import ShortText

KINDS: tuple[type[AnswerKind], ...] = (Choice, Several, ShortText, Number)
ANSWER_KINDS = {kind.key: kind for kind in KINDS}


def kind_of(question: Question) -> AnswerKind:
    """Return the kind of answers that a question takes."""
    return ANSWER_KINDS[question.kind](question)


__all__ = [
    "ANSWER_KINDS",
    "KINDS",
    "READY_MADE",
    "AnswerKind",
    "Question",
    "Wording",
    "kind_of",
    "wording",
]
