"""What a project holds and what keeps it from being deleted. Rooms and apps above register theirs."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Model, QuerySet

from annotation.models import Campaign, Project


@dataclass(frozen=True)
class Content:
    """Rows that people count: what one is called, the way from a row to its project, whether each has a name."""

    model: type[Model]
    noun: str
    plural: str = ""
    project: str = "project"
    named: bool = False


ProblemSource = Callable[[Project], Iterable[str]]  # sentences: what must be done before it can be deleted
FileSource = Callable[[Project], Iterable[Path]]  # files and folders that no other project needs

# What goes with a campaign besides the rows that name it: querysets of rows that are made from its ratings.
UseSource = Callable[[Campaign], Iterable["QuerySet[Any]"]]

# Files and folders that nothing needs once these rows, given by their table, are deleted.
RowFileSource = Callable[[Mapping[type[Model], Collection[int]]], Iterable[Path]]

CONTENTS: list[Content] = []
USES: list[UseSource] = []
PROBLEMS: list[ProblemSource] = []
FILES: list[FileSource] = []
ROW_FILES: list[RowFileSource] = []


def register(
    *,
    contents: Iterable[Content] = (),
    problems: Iterable[ProblemSource] = (),
    files: Iterable[FileSource] = (),
    uses: Iterable[UseSource] = (),
    row_files: Iterable[RowFileSource] = (),
) -> None:
    CONTENTS.extend(contents)
    PROBLEMS.extend(problems)
    FILES.extend(files)
    USES.extend(uses)
    ROW_FILES.extend(row_files)
