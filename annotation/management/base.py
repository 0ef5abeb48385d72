"""What commands share: examples in the help, errors as messages, who acts in which project, files, a progress bar."""

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.core.errors import AnnotationError
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.core.problems import unlisted
from annotation.core.progress import Progress
from annotation.core.rows import FORMATS
from annotation.datasets.services.datasets import DETAILS
from annotation.datasets.services.report import report_rows
from annotation.models import Campaign, DatasetImport, Job, JobState, Membership, Project, RatingImport, Role, User
from annotation.models.accounts import not_being_deleted


class AssayCommand(BaseCommand):
    """A command whose help ends with ``epilog``. A service's error ends it with the message of the error."""

    epilog = ""

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=self.epilog, formatter_class=RawDescriptionHelpFormatter, **options)

    def execute(self, *args: Any, **options: Any) -> str | None:
        with refusing():
            return super().execute(*args, **options)

    def print_json(self, document: Mapping[str, Any]) -> None:
        self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))

    def print_counts(self, rows: Sequence[tuple[str, int]], *, width: int = 9) -> None:
        for label, count in rows:
            self.stdout.write(f"{count:>{width},}  {label}")

    def run_import(
        self, job: DatasetImport | RatingImport, execute: Callable[..., None], options: Mapping[str, Any]
    ) -> None:
        """Execute an import and print its report. A refused file ends the command with every row error."""
        with progress_bar() as progress:
            execute(import_id=job.pk, progress=progress)
        job.refresh_from_db()
        if isinstance(job, RatingImport):
            created = {"campaign": job.campaign.name} if job.campaign else {}
        else:
            created = {"dataset": job.dataset.slug} if job.dataset else {}
        if options["json"]:
            self.print_json({"state": job.state, "file": job.filename, "error": job.error, **created, **job.report})
        if job.state != JobState.DONE:
            raise CommandError(f"{job.error}{row_errors(job.report)}")
        if not options["json"]:
            self.print_counts(report_rows(job.report["counts"]))


# --- Arguments and what they name -------------------------------------------------------------------------------------


def add_member_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--project", required=True, metavar="SLUG", help="slug of the project")
    parser.add_argument("--user", required=True, help="username on whose behalf; a manager or owner of the project")


def add_import_arguments(parser: ArgumentParser, *, formats: Mapping[str, str] = FORMATS) -> None:
    parser.add_argument("file", type=Path, help=f"{', '.join(formats.values())}; in UTF-8")
    add_member_arguments(parser)
    parser.add_argument("--format", choices=formats, help="if the file's name does not show it")
    parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")


def add_normalisation(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--normalisation", choices=RULES, default=DEFAULT_RULE, help="when two texts are one response (%(default)s)"
    )


def add_numbers(parser: ArgumentParser, meanings: Mapping[str, str], defaults: object) -> None:
    """Add an option for each number, with the default that the object of defaults has."""
    for name, meaning in meanings.items():
        default = getattr(defaults, name)
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(default), default=default, help=f"{meaning} (%(default)s)")


def add_details(parser: ArgumentParser) -> None:
    for name in DETAILS:
        parser.add_argument(f"--{name}", default="")


def member_and_project(options: Mapping[str, Any]) -> tuple[User, Project]:
    membership = (
        Membership.objects.select_related("user", "project")
        .filter(not_being_deleted("project"), user__username=options["user"], project__slug=options["project"])
        .first()
    )
    if membership is None or Role(membership.role).rank < Role.MANAGER.rank:
        raise CommandError(
            f"--user: found {options['user']!r}; accepted: a manager or owner of the project {options['project']!r}."
        )
    return membership.user, membership.project


def project_by_slug(slug: str) -> Project:
    project = Project.objects.filter(slug=slug, is_sandbox=False).first()
    if project is None:
        raise CommandError(f"--project: no project has the slug {slug!r}.")
    return project


def campaign_by_name(project_slug: str, name: str) -> Campaign:
    """Return a project's campaign by its name, or else by its id."""
    campaigns = project_by_slug(project_slug).campaigns
    campaign = campaigns.filter(name=name).first()
    if campaign is None and name.isdecimal():
        campaign = campaigns.filter(pk=int(name)).first()
    return campaign or row_by_name(campaigns, "--campaign", name, field="name")


def row_by_name(rows: Any, option: str, value: str, *, field: str = "slug") -> Any:
    """Return the row with this slug or name; the error lists those there are."""
    row = rows.filter(**{field: value}).first()
    if row is None:
        known = ", ".join(rows.values_list(field, flat=True)[:20]) or "none is there yet"
        raise CommandError(f"{option}: found {value!r}; accepted: {known}.")
    return row


# --- Files ------------------------------------------------------------------------------------------------------------


def content_of(path: Path, *, option: str = "file") -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{option}: found {path} ({error.strerror}); accepted: a file that can be read.") from error


def write_file(path: Path, chunks: Iterable[bytes], *, quiet: bool = False) -> None:
    """Write a file under another name first: a file of this name is then complete."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with unfinished.open("wb") as file, tqdm(desc=path.name, unit="B", unit_scale=True, disable=quiet) as bar:
            for chunk in chunks:
                file.write(chunk)
                bar.update(len(chunk))
        unfinished.replace(path)
    except OSError as error:
        raise CommandError(f"--out: {path} cannot be written: {error.strerror}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def json_list(path: Path | None, *, option: str) -> list[Any]:
    """Return the list in a JSON file; an empty one without a file."""
    if path is None:
        return []
    try:
        entries = json.loads(content_of(path, option=option))
    except ValueError as error:
        raise CommandError(f"{option}: {path} is not JSON: {error}.") from error
    if not isinstance(entries, list):
        raise CommandError(f"{option}: {path} holds no list; accepted: a JSON list.")
    return entries


# --- While it runs, and afterwards ------------------------------------------------------------------------------------


@contextmanager
def refusing() -> Iterator[None]:
    """Raise a service's error as the command's own: one message, exit code 1."""
    try:
        yield
    except AnnotationError as error:
        raise CommandError(error.message) from error


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on standard error, unless that is no terminal."""
    with tqdm(total=1, file=sys.stderr, disable=quiet or None, bar_format="{desc:<40} {bar} {elapsed}") as bar:

        def show(done: int, total: int, note: str = "") -> None:
            bar.total, bar.n = total, done
            bar.set_description_str(note[:40])

        yield show


def check_done(job: Job) -> None:
    """Reload a job that was run; raise its error unless it is done."""
    job.refresh_from_db()
    if job.state != JobState.DONE:
        raise CommandError(job.error or f"The {job._meta.verbose_name} ended as {job.state}.")


def row_errors(report: Mapping[str, Any]) -> str:
    """Return the row errors of a report, each on a line of its own."""
    rows = report.get("errors", [])
    lines = [
        f"{row['file']}{'' if row['line'] is None else ':' + str(row['line'])}  {row['field']}: "
        f"found {row['found']}; accepted: {row['accepted']}"
        for row in rows
    ]
    more = unlisted(rows, report.get("total", 0))
    return "\n".join(["", *lines, *([f"... and {more} more."] if more > 0 else [])]) if rows else ""
