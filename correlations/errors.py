"""What this app's services refuse, for people to read."""

from collections.abc import Mapping, Sequence

from annotation.core.errors import AnnotationError


class StudyError(AnnotationError):
    """A study cannot be computed; the message says what was found and what is accepted."""


class StudyRefused(StudyError):
    """A study is specified wrongly; ``fields`` names the parts."""

    @classmethod
    def of(cls, field: str, message: str) -> "StudyRefused":
        return cls(f"{field}: {message}", fields={field: [message]})


def refuse_all(problems: Mapping[str, Sequence[str]]) -> None:
    """Raise one refusal for all the fields that are wrong."""
    if problems:
        lines = [f"{field}: {message}" for field, messages in problems.items() for message in messages]
        raise StudyRefused("; ".join(lines), fields=problems)
