"""Errors of the services of studies, with messages for people."""

from collections.abc import Mapping, Sequence

from annotation.core.errors import AnnotationError


class StudyError(AnnotationError):
    """A study that cannot be computed; the message names the input and what is accepted."""


class StudyRefused(StudyError):
    """A wrong specification of a study; ``fields`` maps its fields to messages."""

    @classmethod
    def of(cls, field: str, message: str) -> "StudyRefused":
        return cls(f"{field}: {message}", fields={field: [message]})


def refuse_all(problems: Mapping[str, Sequence[str]]) -> None:
    """Raise one refusal for all wrong fields."""
    if problems:
        lines = [f"{field}: {message}" for field, messages in problems.items() for message in messages]
        raise StudyRefused("; ".join(lines), fields=problems)
