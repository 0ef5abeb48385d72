"""Work of workers: claimed by compare-and-swap, held by a lease, safe to run twice."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.accounts import SURVIVES_USER


class JobState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


FINISHED_STATES = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Job(models.Model):
    """Base of everything that a worker executes. Written only through ``annotation.core.jobs``."""

    progress_is_whole: ClassVar[bool] = False  # it counts the whole work, not a stage of it
    is_piece: ClassVar[bool] = False  # of another job, which ends with it

    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    progress_note = models.CharField(max_length=200, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True, blank=True, editable=False)
    lease_expires_at = models.DateTimeField(null=True, blank=True, editable=False)
    cancel_requested = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **SURVIVES_USER)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True
        ordering: ClassVar[tuple[str, ...]] = ("-id",)
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="%(class)s_state_known"),
            models.CheckConstraint(
                condition=Q(state=JobState.RUNNING, lease_token__isnull=False, lease_expires_at__isnull=False)
                | (~Q(state=JobState.RUNNING) & Q(lease_token__isnull=True, lease_expires_at__isnull=True)),
                name="%(class)s_leased_only_while_running",
            ),
            models.CheckConstraint(
                condition=Q(state__in=FINISHED_STATES, finished_at__isnull=False)
                | (~Q(state__in=FINISHED_STATES) & Q(finished_at__isnull=True)),
                name="%(class)s_finished_has_a_time",
            ),
        ]

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED_STATES

    @property
    def percent(self) -> int:
        return 100 * self.progress_done // self.progress_total if self.progress_total else 0


class Heartbeat(models.Model):
    """When a part of the system was last seen alive, by the database's clock."""

    name = models.CharField(max_length=100, unique=True)
    seen_at = models.DateTimeField(db_default=Now())
    busy = models.BooleanField(default=False)  # a worker with a task in progress

    def __str__(self) -> str:
        return f"{self.name} at {self.seen_at:%Y-%m-%d %H:%M:%S}"
