"""The life of a job: queued, claimed by compare-and-swap, held by a lease, finished once.

Time is the database's. A worker that lost its lease stops at its next progress report and writes nothing more.
"""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation.core.errors import AnnotationError, JobCancelled, JobLost
from annotation.core.progress import Progress, noop
from annotation.core.task_memory import is_out_of_memory, limit_end, out_of_memory_reason
from annotation.models import Job, JobState

log = structlog.get_logger("assay.job")
AnyJob = TypeVar("AnyJob", bound=Job)

MAX_ATTEMPTS = 5
#: Called in the transaction that ends a job, with its model's label, its id and a text that differs for each attempt;
#: rooms append theirs.
ENDED: list[Callable[[str, int, str], None]] = []
CLEARED = {"lease_token": None, "lease_expires_at": None}
REQUEUED = {
    **CLEARED,
    "state": JobState.QUEUED,
    "finished_at": None,
    "cancel_requested": False,
    "error": "",
    "attempt": 0,
}


@dataclass(frozen=True)
class Claim:
    """The right of this process to work on a job; every write goes through it."""

    model: type[Job]
    job_id: int
    token: uuid.UUID
    listener: Progress = noop  # is called with each progress that is recorded

    def _mine(self) -> models.QuerySet[Job]:
        return self.model._default_manager.filter(pk=self.job_id, lease_token=self.token, state=JobState.RUNNING)

    def renew(self) -> bool:
        """Hold the job for another lease; return False if it is no longer held."""
        return self._mine().update(lease_expires_at=_lease_end()) == 1

    def progress(self, done: int, total: int, note: str = "") -> None:
        """Record progress and renew the lease; raise if the job was lost or cancelled."""
        recorded = (
            self._mine()
            .filter(cancel_requested=False)
            .update(progress_done=done, progress_total=total, progress_note=note[:200], lease_expires_at=_lease_end())
        )
        if not recorded:
            raise self._cancelled() if self._mine().exists() else self._lost()
        self.listener(done, total, note)

    def record(self, **fields: Any) -> None:
        """Store what a job that goes on has found so far; raise if it was lost."""
        self._update(**fields)

    def lock(self) -> None:
        """Check, inside a transaction, that the job is still held, and hold it until commit."""
        if self._mine().select_for_update().first() is None:
            raise self._lost()

    def finish(self, **fields: Any) -> None:
        self._end(JobState.DONE, progress_done=F("progress_total"), error="", **fields)
        self.listener(1, 1, "Done")

    def fail(self, message: str, **fields: Any) -> None:
        self._end(JobState.FAILED, error=message, **fields)

    def cancelled(self, **fields: Any) -> None:
        self._end(JobState.CANCELLED, **fields)

    def _end(self, state: JobState, **fields: Any) -> None:
        with transaction.atomic():
            self._update(state=state, finished_at=Now(), **CLEARED, **fields)
            _call_listeners(self.model, self.job_id, str(self.token))

    def _update(self, **fields: Any) -> None:
        if self._mine().update(**fields) != 1:
            raise self._lost()

    def _cancelled(self) -> JobCancelled:
        return JobCancelled(f"{self.model.__name__} {self.job_id} was cancelled.")

    def _lost(self) -> JobLost:
        return JobLost(f"{self.model.__name__} {self.job_id} is no longer held by this worker.")


def _lease_end() -> Any:
    return Now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)


def _abandoned() -> Q:
    """Select jobs whose worker no longer renews the lease."""
    return Q(state=JobState.RUNNING, lease_expires_at__lt=Now())


def claimable() -> Q:
    return Q(state=JobState.QUEUED) | _abandoned()


def job_claim(model: type[Job], job_id: int, progress: Progress = noop) -> Claim | None:
    """Claim a queued job or a job whose lease has ended. Return None if another worker has it or it is finished."""
    token = uuid.uuid4()
    changed = (
        model._default_manager.filter(claimable(), pk=job_id)
        .exclude(attempt__gte=MAX_ATTEMPTS)
        .update(
            state=JobState.RUNNING,
            lease_token=token,
            lease_expires_at=_lease_end(),
            attempt=F("attempt") + 1,
            started_at=Now(),
            finished_at=None,
            error="",
        )
    )
    return Claim(model, job_id, token, progress) if changed == 1 else None


@contextmanager
def lease_kept(claim: Claim) -> Iterator[None]:
    """Renew the lease from a thread while a long step reports no progress. A killed process renews nothing."""
    done = threading.Event()

    def keep() -> None:
        try:
            while not done.wait(settings.JOB_LEASE_SECONDS / 3):
                with suppress(MemoryError):  # of the task, which is about to let go of it
                    if not claim.renew():
                        return
        except DatabaseError as error:
            log.warning("lease not renewed", job=claim.model.__name__, id=claim.job_id, error=str(error))
        finally:
            connection.close()  # this thread's own

    keeper = threading.Thread(target=keep, name="lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def job_run(
    model: type[AnyJob], job_id: int, work: Callable[[AnyJob, Claim], None], *, progress: Progress = noop
) -> None:
    """Claim a job and work on it. ``work`` ends with ``claim.finish`` in its transaction.

    ``claim.progress`` records progress and raises if the work must stop: call it often. ``progress`` is called with
    the same arguments, for a caller that waits. An AnnotationError fails the job with its message, as does the end of
    memory with its reason. Any other error is recorded, too, and raised for the log.
    """
    claim = job_claim(model, job_id, progress)
    if claim is None:
        log.info("job not claimed", job=model.__name__, id=job_id)
        return
    try:
        with lease_kept(claim):
            _run_and_record_failure(model._default_manager.get(pk=job_id), claim, work)
    except JobLost:
        log.warning("job lost", job=model.__name__, id=job_id)


def _run_and_record_failure(job: AnyJob, claim: Claim, work: Callable[[AnyJob, Claim], None]) -> None:
    try:
        if job.cancel_requested:
            raise JobCancelled("Cancelled before it began.")
        work(job, claim)
    except JobLost:
        raise
    except JobCancelled:
        claim.cancelled()
    except AnnotationError as error:
        claim.fail(error.message)
    except Exception as error:
        if is_out_of_memory(error):
            limit_end()  # to record it takes some
            claim.fail(out_of_memory_reason())
            log.warning("task out of memory", job=claim.model.__name__, id=claim.job_id)
            return
        claim.fail(f"Unexpected {type(error).__name__}{_without_paths(error)}")
        raise


def _without_paths(error: Exception) -> str:
    """Return what an error says, without folders and hosts of the server, which the log names."""
    if isinstance(error, OSError):
        return f": {error.strerror}" if error.strerror else ""
    return "" if isinstance(error, DatabaseError) else f": {error}"


def job_request_cancel(job: Job) -> None:
    """Cancel a queued job at once, a running job at its next progress report; a finished job stays as it is."""
    rows = type(job)._default_manager.filter(pk=job.pk)
    with transaction.atomic():
        state = rows.select_for_update().get().state
        if state == JobState.QUEUED:
            rows.update(state=JobState.CANCELLED, cancel_requested=True, finished_at=Now())
        elif state == JobState.RUNNING:
            rows.update(cancel_requested=True)


def job_requeue(job: Job) -> bool:
    """Start a failed or cancelled job again; return False for other jobs."""
    return jobs_requeue(type(job)._default_manager.filter(pk=job.pk)) == 1


def jobs_requeue(jobs: models.QuerySet[Any]) -> int:
    """Start failed and cancelled jobs again; return their number."""
    ended = jobs.filter(state__in=[JobState.FAILED, JobState.CANCELLED])
    return ended.update(**REQUEUED, progress_done=0, progress_note="")


def job_abandon(job: Job) -> None:
    """Put an unfinished or failed job back into the queue; the worker that held it cannot write any more.

    For the start of a single process, when no worker runs.
    """
    type(job)._default_manager.filter(pk=job.pk).exclude(state=JobState.DONE).update(**REQUEUED)


def jobs_give_up(model: type[Job]) -> None:
    """Fail jobs whose workers died at every attempt."""
    error = f"Given up after {MAX_ATTEMPTS} attempts: each worker that took it died."
    lost = model._default_manager.filter(_abandoned(), attempt__gte=MAX_ATTEMPTS)
    with transaction.atomic():
        tokens = dict(lost.select_for_update(skip_locked=True).values_list("pk", "lease_token"))
        given_up = model._default_manager.filter(pk__in=tokens)
        given_up.update(state=JobState.FAILED, finished_at=Now(), error=error, **CLEARED)
        for job_id, token in tokens.items():
            _call_listeners(model, job_id, str(token))


def _call_listeners(model: type[Job], job_id: int, ending: str) -> None:
    if not model.is_piece:
        for listener in ENDED:
            listener(model._meta.label_lower, job_id, ending)


def stale_ids(model: type[Job], *, queued_for_seconds: int = 30) -> list[int]:
    """Return jobs to enqueue again: their worker died, or their message was lost."""
    jobs_give_up(model)
    waiting = Q(state=JobState.QUEUED, created_at__lt=Now() - timedelta(seconds=queued_for_seconds))
    return list(model._default_manager.filter(waiting | _abandoned()).values_list("pk", flat=True)[:100])
