"""All mistakes of a draft at once, each tied to its field."""

from collections.abc import Mapping, Sequence

from annotation.core.errors import AnnotationError


class FieldProblems(dict[str, list[str]]):
    """The messages of each field, by its path."""

    def refuse(self, path: str, message: str) -> None:
        self.setdefault(path, []).append(message)


def refusal(problems: Mapping[str, Sequence[str]]) -> AnnotationError:
    text = " ".join(message for messages in problems.values() for message in messages)
    return AnnotationError(text, fields=problems)
