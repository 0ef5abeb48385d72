"""What goes with a project, and what keeps it from being deleted."""

from pathlib import Path
from typing import NamedTuple

from annotation.core.numbers import counted
from annotation.models import Project
from annotation.projects.contents import CONTENTS, FILES, PROBLEMS


class Contents(NamedTuple):
    """Each kind of row in words, such as “3 data sets”, and what is on disk."""

    rows: list[str]
    files: list[Path]
    bytes: int


def contents_of(project: Project) -> Contents:
    counts = [
        (content, content.model._default_manager.filter(**{content.project: project}).count()) for content in CONTENTS
    ]
    files = files_of(project)
    rows = [counted(n, content.noun, content.plural) for content, n in counts if n]
    return Contents(rows, files, sum(map(_size, files)))


def deletion_problems(project: Project) -> list[str]:
    """Return what must be done before the project can be deleted."""
    return [problem for source in PROBLEMS for problem in source(project)]


def files_of(project: Project) -> list[Path]:
    return [path for source in FILES for path in source(project) if path.exists()]


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
