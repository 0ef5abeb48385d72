"""Jobs of a project, of every registered kind: under way, failed ones that were not repeated, and ended ones."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce, Now, Substr
from django.urls import reverse

from annotation import models
from annotation.core.numbers import counted
from annotation.core.prose import enumerated
from annotation.models import JobState, Project
from annotation.overview.registry import JOBS, JobKind, Need, Running, register

Rows = QuerySet[Any, Any]
Choice = Callable[[JobKind, Rows], Rows]  # which jobs of a kind are read

FAILED_DAYS = 30  # after which a failed job is history
MOST = 200  # jobs that are read; the front page shows a few and counts the rest
ENDED_SHOWN = 50
ERROR_SHOWN = 600  # characters; the job's page has all

register(
    jobs=[
        JobKind(models.DatasetImport, "Import of “{name}”", "name", "annotation:dataset-import-detail"),
        JobKind(models.RatingImport, "Import of ratings “{name}”", "name", "annotation:rating-import-detail"),
        JobKind(models.WeightsImport, "Import of weights {name}", "filename", "annotation:weights-import-detail"),
        JobKind(
            models.Corpus,
            "Corpus “{name}”",
            "name",
            "annotation:corpus-detail",
            ("slug",),
            retry="annotation:corpus-retry",
        ),
        JobKind(
            models.MiningRun,
            "Mining run {first} in “{name}”",
            "corpus__name",
            "annotation:mining-run-detail",
            retry="annotation:mining-run-retry",
        ),
        JobKind(models.DataDeletion, "Deletion of “{name}”", "name", "annotation:deletion-detail"),
        JobKind(
            models.SeedSelecting,
            "Seeds of “{name}”",
            "dataset__name",
            "annotation:seed-selecting",
            ("dataset__slug", "pk"),
        ),
        JobKind(
            models.Release,
            "Weights {name} v{second}",
            "reference_set__name",
            "annotation:release-detail",
            ("reference_set__slug", "number"),
            "reference_set__project",
            retry="annotation:release-retry",
        ),
        JobKind(
            models.DryRun,
            "Dry run of “{name}”",
            "campaign__name",
            "annotation:campaign-dry-run",
            ("campaign", "pk"),
            "campaign__project",
            retry="annotation:campaign-dry-run-retry",
        ),
    ]
)


class JobRow(NamedTuple):
    kind: int
    state: str
    done: int
    total: int
    note: str
    error: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    asked_by: str
    name: str
    first: str
    second: str

    @property
    def model_name(self) -> str:
        return str(JOBS[self.kind].model._meta.model_name)

    @property
    def label(self) -> str:
        kind = JOBS[self.kind]
        return kind.label.format(name=kind.shown(self.name), first=self.first, second=self.second)

    @property
    def took(self) -> timedelta | None:
        """Return how long a worker was at it, in whole seconds; None for one that did not begin or end."""
        if self.started_at is None or self.finished_at is None:
            return None
        return timedelta(seconds=round((self.finished_at - self.started_at).total_seconds()))

    def url(self, project: Project) -> str:
        return self._address(JOBS[self.kind].url_name, project)

    def retry_url(self, project: Project) -> str:
        """Return where a failed job is started again; empty if its page asks for something first."""
        retry = JOBS[self.kind].retry
        return self._address(retry, project) if retry else ""

    def _address(self, url_name: str, project: Project) -> str:
        return reverse(url_name, args=[project.slug, *(self.first, self.second)[: len(JOBS[self.kind].address)]])


@dataclass(frozen=True)
class Jobs:
    """The jobs of a project, for the page about them."""

    running: list[JobRow]
    waiting: list[JobRow]
    failed: list[JobRow]  # and not repeated with success
    ended: list[JobRow]  # done and cancelled, the last first

    @property
    def in_words(self) -> str:
        """Return what runs, waits and failed, in a sentence."""
        under_way = [f"{len(self.running):,} running", f"{len(self.waiting):,} waiting"]
        text = f"{enumerated(under_way)}." if self.running or self.waiting else "Nothing runs or waits."
        if not self.failed:
            return f"{text} No failed job is left to run again."
        were = "job failed and was" if len(self.failed) == 1 else "jobs failed and were"
        return (
            f"{text} {len(self.failed):,} {were} not run again with success in the last {counted(FAILED_DAYS, 'day')}."
        )


def project_jobs(project: Project) -> Jobs:
    rows = open_jobs(project)
    return Jobs(
        [row for row in rows if row.state == JobState.RUNNING],
        [row for row in rows if row.state == JobState.QUEUED],
        [row for row in rows if row.state == JobState.FAILED],
        _jobs(project, _ended, "-finished_at", ENDED_SHOWN),
    )


def open_jobs(project: Project) -> list[JobRow]:
    """Return jobs that wait or run, and those that failed lately, newest first; one query for all kinds."""
    return _jobs(project, _open, "-created_at", MOST)


def _jobs(project: Project, choice: Choice, order: str, most: int) -> list[JobRow]:
    first, *others = (_rows(number, kind, project, choice) for number, kind in enumerate(JOBS))
    every = first.union(*others, all=True).order_by(order, "shown_kind", "shown_first")
    return [JobRow(*row) for row in every[:most]]


def _open(kind: JobKind, jobs: Rows) -> Rows:
    later = jobs.filter(state=JobState.DONE, pk__gt=OuterRef("pk"), **{kind.name: OuterRef(kind.name)})
    waits = Q(state__in=[JobState.QUEUED, JobState.RUNNING])
    failed = Q(state=JobState.FAILED, finished_at__gt=Now() - timedelta(days=FAILED_DAYS)) & ~Exists(later)
    return jobs.filter(waits | failed)


def _ended(_: JobKind, jobs: Rows) -> Rows:
    return jobs.filter(state__in=[JobState.DONE, JobState.CANCELLED])


def _rows(number: int, kind: JobKind, project: Project, choice: Choice) -> Rows:
    jobs = choice(kind, kind.model._default_manager.filter(**{kind.project: project}).order_by())
    first, second = (*map(F, kind.address), Value(""))[:2]
    columns = ("state", "progress_done", "progress_total", "progress_note")
    times = ("created_at", "started_at", "finished_at")
    shown = {
        "shown_kind": Value(number),
        "shown_error": Substr("error", 1, ERROR_SHOWN),
        "shown_asked_by": Coalesce(F("requested_by__username"), Value(""), output_field=TextField()),
        "shown_name": _text(F(kind.name)),
        "shown_first": _text(first),
        "shown_second": _text(second),
    }
    kind_number, error, asked_by, *texts = shown
    rows: Rows = jobs.annotate(**shown).values_list(kind_number, *columns, error, *times, asked_by, *texts)
    return rows


def _text(value: Any) -> Cast:
    return Cast(value, TextField())


def running_jobs(project: Project, rows: list[JobRow]) -> list[Running]:
    return [
        Running(row.created_at, row.label, row.url(project), row.done, row.total, row.note or row.state)
        for row in rows
        if row.state != JobState.FAILED
    ]


def failed_jobs(project: Project, rows: list[JobRow]) -> list[Need]:
    return [
        Need(row.finished_at or row.created_at, f"{row.label} failed.", "See why", row.url(project))
        for row in rows
        if row.state == JobState.FAILED
    ]
