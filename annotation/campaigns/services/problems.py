"""Every mistake at once, each tied to its field."""

from collections.abc import Mapping, Sequence

from annotation.core.errors import AnnotationError


class Problems:
    """Gathers refusals; a field may have several."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}

    def refuse(self, path: str, message: str) -> None:
        self.found.setdefault(path, []).append(message)


def refusal(found: Mapping[str, Sequence[str]]) -> AnnotationError:
    return AnnotationError(" ".join(message for messages in found.values() for message in messages), fields=found)
