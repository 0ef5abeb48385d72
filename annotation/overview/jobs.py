"""Jobs of a project, of every kind that is registered: under way, and failed ones that were not repeated."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Now
from django.urls import reverse

from annotation import models
from annotation.models import JobState, Project
from annotation.overview.registry import JOBS, JobKind, Need, Running, register

FAILED_DAYS = 30  # after which a failed job is history
MOST = 200  # jobs that are read; the page shows a few and counts the rest

register(
    jobs=[
        JobKind(models.DatasetImport, "Import of “{name}”", "name", "annotation:dataset-import-detail"),
        JobKind(models.RatingImport, "Import of ratings “{name}”", "name", "annotation:rating-import-detail"),
        JobKind(models.WeightsImport, "Import of weights {name}", "filename", "annotation:weights-import-detail"),
        JobKind(models.Corpus, "Corpus “{name}”", "name", "annotation:corpus-detail", ("slug",)),
        JobKind(models.MiningRun, "Mining run {first} in “{name}”", "corpus__name", "annotation:mining-run-detail"),
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
        ),
        JobKind(
            models.DryRun,
            "Dry run of “{name}”",
            "campaign__name",
            "annotation:campaign-dry-run",
            ("campaign", "pk"),
            "campaign__project",
        ),
    ]
)


class JobRow(NamedTuple):
    kind: int
    state: str
    done: int
    total: int
    note: str
    created_at: datetime
    finished_at: datetime | None
    name: str
    first: str
    second: str

    @property
    def model_name(self) -> str:
        return str(JOBS[self.kind].model._meta.model_name)

    @property
    def label(self) -> str:
        return JOBS[self.kind].label.format(name=self.name, first=self.first, second=self.second)

    def url(self, project: Project) -> str:
        kind = JOBS[self.kind]
        return reverse(kind.url_name, args=[project.slug, *(self.first, self.second)[: len(kind.address)]])


def open_jobs(project: Project) -> list[JobRow]:
    """Return jobs that wait or run, and those that failed lately, newest first; one query for all kinds."""
    first, *others = (_rows(number, kind, project) for number, kind in enumerate(JOBS))
    every = first.union(*others, all=True).order_by("-created_at", "shown_kind", "shown_first")
    return [JobRow(*row) for row in every[:MOST]]


def _rows(number: int, kind: JobKind, project: Project) -> QuerySet[Any, Any]:
    jobs = kind.model._default_manager.filter(**{kind.project: project}).order_by()
    later = jobs.filter(state=JobState.DONE, pk__gt=OuterRef("pk"), **{kind.name: OuterRef(kind.name)})
    waits = Q(state__in=[JobState.QUEUED, JobState.RUNNING])
    failed = Q(state=JobState.FAILED, finished_at__gt=Now() - timedelta(days=FAILED_DAYS)) & ~Exists(later)
    first, second = (*map(F, kind.address), Value(""))[:2]
    columns = ("state", "progress_done", "progress_total", "progress_note", "created_at", "finished_at")
    shown = {
        "shown_kind": Value(number),
        "shown_name": _text(F(kind.name)),
        "shown_first": _text(first),
        "shown_second": _text(second),
    }
    kind_number, *texts = shown
    return jobs.filter(waits | failed).annotate(**shown).values_list(kind_number, *columns, *texts)


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
