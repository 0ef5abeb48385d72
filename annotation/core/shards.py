"""Long work cut into shards that any worker takes.

The worker that holds the job takes shard after shard as helpers do, and waits at the end for those that others hold.
The shard of a worker that dies is taken by another worker once the lease has ended. What is done stays done, because a
shard's results are written in the transaction that ends it.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from celery import Task
from django.db.models import QuerySet

from annotation.core.errors import AnnotationError, JobCancelled
from annotation.core.jobs import Claim, claimable, job_run, jobs_give_up, jobs_requeue
from annotation.core.progress import Beat
from annotation.models import Job, JobState

AnyShard = TypeVar("AnyShard", bound=Job)
Shards = QuerySet[Any, Any]  # of one job; the model has a ``number``
Work = Callable[[AnyShard, Claim, Beat], None]  # stores all results of the shard and ends its claim, or does nothing
Enqueue = Callable[[int], None]  # called with how many helpers could find something to do

MAX_HELPERS = 7
TURN_SECONDS = 30  # a helper then lets other tasks have their turn, and comes back
WAIT_SECONDS = 0.2


def shards_finish(
    shards: Shards, work: Work[Any], *, failure: Callable[[Any], AnnotationError], beat: Beat, enqueue: Enqueue
) -> None:
    """Work until all shards are done; raise the ``failure`` of the first that failed."""
    unfinished = shards.exclude(state=JobState.DONE)
    waiting = unfinished.count()
    if waiting > 1:
        enqueue(min(waiting - 1, MAX_HELPERS))
    while True:
        beat()
        shard_id = _next_shard(shards)
        if shard_id is not None:
            _work_on_shard(shards, shard_id, work, beat)
        elif not unfinished.exists():
            return
        else:  # others hold the rest, or gave it back when they saw the job cancelled, which goes on again
            jobs_requeue(shards.filter(state=JobState.CANCELLED))
            time.sleep(WAIT_SECONDS)
        jobs_give_up(shards.model)
        failed = shards.filter(state=JobState.FAILED).order_by("number").first()
        if failed is not None:
            raise failure(failed)


def shards_help(job: Job, shards: Shards, work: Work[Any]) -> bool:
    """Take shards of a job that another worker holds, for one turn. Return whether there may be more."""

    def stop_with_the_job() -> None:
        if not is_going_on(job):
            raise JobCancelled("The run has ended.")

    ends = time.monotonic() + TURN_SECONDS
    while is_going_on(job):
        shard_id = _next_shard(shards)
        if shard_id is None:
            return False
        if time.monotonic() > ends:
            return True
        _work_on_shard(shards, shard_id, work, stop_with_the_job)
    return False


def is_going_on(job: Job) -> bool:
    jobs = type(job)._default_manager
    return jobs.filter(pk=job.pk, state=JobState.RUNNING, cancel_requested=False).exists()


def _next_shard(shards: Shards) -> int | None:
    """Return the id of a shard that waits or whose worker died."""
    shard_id: int | None = shards.filter(claimable()).order_by("number").values_list("pk", flat=True).first()
    return shard_id


def _work_on_shard(shards: Shards, shard_id: int, work: Work[Any], beat: Beat) -> None:
    job_run(shards.model, shard_id, lambda shard, claim: work(shard, claim, beat))


def helpers(task: Task, job_id: int) -> Enqueue:
    """Return what enqueues a number of helpers for a job in shards. A lost message costs speed, nothing else."""

    def enqueue(number: int) -> None:
        for _ in range(number):
            task.delay(job_id)

    return enqueue
