"""What the import commands share: who, where, a progress bar, and how a refusal is told."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.core.errors import AnnotationError
from annotation.core.progress import Progress
from annotation.core.rows import FORMATS
from annotation.datasets.services.report import report_rows
from annotation.models import DatasetImport, JobState, Membership, Project, RatingImport, Role, User


def add_common_arguments(parser: ArgumentParser, *, formats: Mapping[str, str] = FORMATS) -> None:
    parser.add_argument("file", type=Path, help=f"{', '.join(formats.values())}; in UTF-8")
    parser.add_argument("--project", required=True, help="slug of the project")
    parser.add_argument("--user", required=True, help="username on whose behalf; a manager or owner of the project")
    parser.add_argument("--format", choices=formats, help="where the file's name does not say it")
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")


def member_and_project(options: dict[str, Any]) -> tuple[User, Project]:
    membership = (
        Membership.objects.select_related("user", "project")
        .filter(user__username=options["user"], project__slug=options["project"])
        .first()
    )
    if membership is None or Role(membership.role).rank < Role.MANAGER.rank:
        raise CommandError(
            f"--user: found {options['user']!r}; accepted: a manager or owner of the project {options['project']!r}."
        )
    return membership.user, membership.project


def content_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"file: found {path} ({error.strerror}); accepted: a file that can be read.") from error


@contextmanager
def refusing() -> Iterator[None]:
    """A domain error as a command's own: one message, exit code 1."""
    try:
        yield
    except AnnotationError as error:
        raise CommandError(error.message) from error


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """A bar on standard error; silent where that is not a terminal."""
    with tqdm(total=1, file=sys.stderr, disable=quiet or None, bar_format="{desc:<40} {bar} {elapsed}") as bar:

        def show(done: int, total: int, note: str = "") -> None:
            bar.total, bar.n = total, done
            bar.set_description_str(note[:40])

        yield show


def tell(command: BaseCommand, job: DatasetImport | RatingImport, *, made: dict[str, str], as_json: bool) -> None:
    """The report of a finished job; a refused file ends the command with every bad row."""
    if as_json:
        document = {"state": job.state, "file": job.filename, "error": job.error, **made, **job.report}
        command.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
    if job.state != JobState.DONE:
        raise CommandError(f"{job.error}{bad_rows(job.report)}")
    if not as_json:
        for what, count in report_rows(job.report["counts"]):
            command.stdout.write(f"{count:>9,}  {what}")


def bad_rows(report: Mapping[str, Any]) -> str:
    rows = report.get("errors", [])
    lines = [
        f"{row['file']}{'' if row['line'] is None else ':' + str(row['line'])}  {row['field']}: "
        f"found {row['found']}; accepted: {row['accepted']}"
        for row in rows
    ]
    more = report.get("total", 0) - len(rows)
    return "\n".join(["", *lines, *([f"... and {more} more."] if more > 0 else [])]) if rows else ""
