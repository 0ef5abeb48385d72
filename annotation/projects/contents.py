"""What a project holds and what keeps it from being deleted. Rooms and apps above register theirs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from django.db.models import Model

from annotation.models import Project


@dataclass(frozen=True)
class Content:
    """Rows that people count: what one is called, and the way from a row to its project."""

    model: type[Model]
    noun: str
    plural: str = ""
    project: str = "project"


ProblemSource = Callable[[Project], Iterable[str]]  # sentences: what must be done before it can be deleted
FileSource = Callable[[Project], Iterable[Path]]  # files and folders that no other project needs

CONTENTS: list[Content] = []
PROBLEMS: list[ProblemSource] = []
FILES: list[FileSource] = []


def register(
    *,
    contents: Iterable[Content] = (),
    problems: Iterable[ProblemSource] = (),
    files: Iterable[FileSource] = (),
) -> None:
    CONTENTS.extend(contents)
    PROBLEMS.extend(problems)
    FILES.extend(files)
