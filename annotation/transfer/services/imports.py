"""An archive of a project becomes a project: whole, or not at all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import NOT_PROVIDED

from annotation.core import sql
from annotation.core.copying import allocate_ids, copy_rows
from annotation.core.errors import AnnotationError, ImportRefused, JobCancelled
from annotation.core.file_limits import WORKER, TooLarge
from annotation.core.jobs import Claim, job_run
from annotation.core.problems import Problems, shortened
from annotation.core.progress import Progress, Throttle, noop
from annotation.core.purging import purging
from annotation.datasets.services.imports import run_and_report_row_errors
from annotation.models import JobState, Project, ProjectImport, User
from annotation.projects.services.audit import audit_record
from annotation.projects.services.projects import project_create
from annotation.transfer import registry
from annotation.transfer.registry import Table
from annotation.transfer.services.columns import reader_of, stored
from annotation.transfer.services.reading import Archive

NAME = 120
STEPS = 2  # checking, storing
# A filled slot bears the token of the presentation that fills it; tokens do not travel.
TOKENS_OF_SLOTS = """
UPDATE annotation_slot s SET token = p.token FROM annotation_presentation p
 WHERE p.slot_id = s.id AND p.outcome = 'submitted' AND s.state = 'done'
   AND s.campaign_id IN (SELECT id FROM annotation_campaign WHERE project_id = %s)
"""


def project_import_create(*, by: User, filename: str, content: bytes, name: str = "") -> ProjectImport:
    """Queue an archive for ``project_import_execute``. Without a name the project has that of the archive."""
    if not content:
        raise AnnotationError.at("file", f"File: {filename!r} is empty; accepted: a zip that Assay wrote.")
    return ProjectImport.objects.create(
        requested_by=by, name=name.strip()[:NAME], filename=filename[:255], content=content
    )


def project_import_execute(*, import_id: int, progress: Progress = noop) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(ProjectImport, import_id, _execute, progress=progress)
    ended = ProjectImport.objects.filter(pk=import_id, state__in=[JobState.FAILED, JobState.CANCELLED])
    ended.update(content=b"")  # another attempt uploads it again


def _execute(job: ProjectImport, claim: Claim) -> None:
    run_and_report_row_errors(claim, lambda: _import(job, claim))


def _import(job: ProjectImport, claim: Claim) -> None:
    if job.requested_by is None:
        raise AnnotationError("The account that began the import is gone. Begin it again.")
    throttle = Throttle()

    def checking() -> None:
        if throttle.due():
            claim.progress(0, STEPS, "Checking the archive")

    def check_cancelled() -> None:
        """Stop if the job was cancelled. Its row stays free meanwhile: the lease is renewed, and a page can cancel.

        Between tables: while one is copied, its connection answers nothing else.
        """
        if ProjectImport.objects.filter(pk=job.pk, cancel_requested=True).exists():
            raise JobCancelled("Cancelled while its rows were stored.")

    archive = Archive(bytes(job.content), Problems(job.filename), checking)
    claim.progress(1, STEPS, f"Storing {sum(archive.lines.values()):,} rows")
    with transaction.atomic():
        project = project_create(
            by=job.requested_by, name=job.name or _name(archive), description=_description(archive)
        )
        numbers = _Numbers(archive)
        try:
            with purging():  # weights of finished releases enter as they are
                for number, table in enumerate(registry.TABLES, start=1):
                    check_cancelled()
                    claim.listener(number, len(registry.TABLES), f"Storing {table.model._meta.verbose_name_plural}")
                    _store(table, archive, numbers, project)
                sql.execute(TOKENS_OF_SLOTS, [project.pk])
                with connection.cursor() as cursor:
                    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                    cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        except (DataError, IntegrityError, psycopg.DataError, psycopg.IntegrityError) as error:
            raise _contradiction(archive, error) from error
        report = _report(archive, project)
        equal = sum(row["equal"] for row in report["hashes"])
        audit_record(
            verb="project.import",
            summary=f"Imported the project from {job.filename}: {equal} of {len(report['hashes'])} hashes equal.",
            project=project,
            by=job.requested_by,
            data={"content_hash": archive.manifest.get("content_hash", ""), "hashes": len(report["hashes"])},
        )
        claim.lock()
        claim.finish(project=project, name=project.name, content=b"", report=report, progress_total=STEPS)


def _name(archive: Archive) -> str:
    name = archive.manifest["project"].get("name")
    return shortened(name.strip(), NAME) if isinstance(name, str) and name.strip() else "Imported project"


def _description(archive: Archive) -> str:
    text = archive.manifest["project"].get("description")
    return shortened(text, 5000) if isinstance(text, str) else ""


def _contradiction(archive: Archive, error: Exception) -> ImportRefused:
    """Return the refusal of rows that no database of Assay can have held together."""
    cause = getattr(error, "diag", None) or getattr(error.__cause__, "diag", None)
    name = getattr(cause, "constraint_name", None) or getattr(cause, "table_name", None) or type(error).__name__
    archive.problems.add(None, str(name), "rows that contradict each other", "rows as Assay wrote them")
    try:
        archive.problems.refuse()
    except ImportRefused as refusal:
        return refusal
    raise error  # not reached: there is a problem


# --- Rows -----------------------------------------------------------------------------------------------------------


class _Numbers:
    """The key of each row in this database, by its table and line."""

    def __init__(self, archive: Archive) -> None:
        self._keys: dict[str, list[int]] = {}
        for table in registry.TABLES:
            rows = archive.lines.get(table.filename, 0)
            archive.problems.check_limit(None, f"rows of {table.label}", rows, WORKER.rows)
            self._keys[table.label] = allocate_ids(table.model, rows)

    def keys(self, label: str) -> list[int]:
        return self._keys[label]

    def __call__(self, label: str, line: int) -> int | None:
        keys = self._keys.get(label, [])
        return keys[line - 1] if 1 <= line <= len(keys) else None


@dataclass
class _Writer:
    """Turns the objects of a table's file into its rows."""

    table: Table
    archive: Archive
    numbers: _Numbers
    project: Project

    def __post_init__(self) -> None:
        self.columns = self.table.columns
        self.readers = {column.name: reader_of(column) for column in self.columns}
        self.others = [column for column in self.table.others if _has_value(column)]
        self.problems = Problems(self.table.filename)

    @property
    def names(self) -> list[str]:
        return ["id", *(column.column for column in (*self.columns, *self.others))]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        keys, last = self.numbers.keys(self.table.label), 0
        if self.table.filename in self.archive.manifest["files"]:
            for last, record in self.archive.rows(self.table.filename):
                if last > len(keys):
                    break
                row = self._read(record, last)
                if row is not None:
                    yield keys[last - 1], *row
        if last != len(keys):
            self.problems.add(last, "line", "an end without a line feed", "lines that each end in one")
        self._refuse()

    def _read(self, record: Mapping[str, Any], line: int) -> tuple[Any, ...] | None:
        """Return the values of a line; None, with errors, if it cannot be stored."""
        before = self.problems.total
        renamed = {self.table.formerly.get(name, name): value for name, value in record.items()}
        record = {name: value for name, value in renamed.items() if name}
        for name in record.keys() - self.readers.keys():
            self.problems.add(line, name, "an unknown column", f"only {', '.join(self.readers)}")
        row = {column.name: self._value(column, record, line) for column in self.columns}
        if self.problems.total > before:
            if self.problems.total > 100:
                self._refuse()
            return None
        try:
            self.table.enter(row)
        except (ValueError, TypeError, KeyError) as error:
            self.problems.add(line, "row", str(error), "a row as Assay wrote it")
            return None
        travelled = [stored(column, row[column.name]) for column in self.columns]
        return *travelled, *(self._other(column, row) for column in self.others)

    def _value(self, column: Any, record: Mapping[str, Any], line: int) -> Any:
        if column.name not in record:  # written before there was this column
            if column.has_default() or column.null or column.blank:
                return column.get_default()
            self.problems.add(line, column.name, "nothing", "a value")
            return None
        try:
            value = self.readers[column.name](record[column.name])
            if value is None:
                return None
            if column.is_relation:
                key = self.numbers(column.related_model._meta.label_lower, value)
                if key is None:
                    raise ValueError(f"a line of {column.related_model._meta.label_lower}")
                return key
            translate = self.table.translate.get(column.name)
            return translate(value, self.numbers) if translate else value
        except (ValueError, TypeError, RecursionError) as error:
            self.problems.add(line, column.name, record[column.name], str(error))
            return None

    def _other(self, column: Any, row: Mapping[str, Any]) -> Any:
        """Return the value of a column that does not travel."""
        if column.name in row:
            return row[column.name]
        if column.is_relation and column.related_model is Project:
            return self.project.pk
        value = self.table.fixed[column.name] if column.name in self.table.fixed else column.get_default()
        return stored(column, value)

    def _refuse(self) -> None:
        self.archive.problems.include(self.problems)
        self.archive.problems.refuse()


def _has_value(column: Any) -> bool:
    """Return whether an import writes the column: the database fills in those with a default of its own."""
    return column.db_default is NOT_PROVIDED or column.has_default()


def _store(table: Table, archive: Archive, numbers: _Numbers, project: Project) -> None:
    writer = _Writer(table, archive, numbers, project)
    try:
        copy_rows(table.model, writer.names, writer.rows())
    except TooLarge as limit:
        archive.problems.add(None, f"{table.filename}: {limit.field}", limit.found, limit.accepted)
        archive.problems.refuse()


# --- The report -----------------------------------------------------------------------------------------------------


def _report(archive: Archive, project: Project) -> dict[str, Any]:
    """Return each hash as published and as computed here, and what the archive only names."""
    here = {(each.kind, each.name): each.digest for each in registry.hashes_of(project)}
    hashes = [
        {
            "kind": shortened(each["kind"], NAME),
            "name": shortened(each["name"], 300),
            "published": shortened(each["digest"], 64),
            "computed": here.get((each["kind"], each["name"]), ""),
            "equal": here.get((each["kind"], each["name"])) == each["digest"],
        }
        for each in archive.manifest["hashes"]
    ]
    missing = [
        {key: shortened(each[key], 300) for key in ("kind", "name", "digest")} for each in archive.manifest["missing"]
    ]
    return {"hashes": hashes, "missing": missing}
