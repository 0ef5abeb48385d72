"""What workers run: fetch, call the service. Every task may run twice."""

from celery import Task, shared_task
from django.conf import settings

from annotation.models import DatasetImport, RatingImport, Release
from annotation.services import handout, imports, jobs, pace, releases


def again(task: Task, job_id: int) -> None:
    """Enqueue once more; the message is worthless once the next sweep may have sent another."""
    task.apply_async((job_id,), expires=settings.SWEEP_SECONDS)


@shared_task
def sweep() -> None:
    """Tidy up, and hand out again what dead workers left."""
    handout.slots_sweep()
    pace.paces_update()
    for release_id in jobs.stale_ids(Release):
        again(release_build, release_id)
    for import_id in jobs.stale_ids(DatasetImport):
        again(dataset_import_execute, import_id)
    for import_id in jobs.stale_ids(RatingImport):
        again(rating_import_execute, import_id)


@shared_task
def release_build(release_id: int) -> None:
    releases.release_build(release_id=release_id)


@shared_task
def dataset_import_execute(import_id: int) -> None:
    imports.dataset_import_execute(import_id=import_id)


@shared_task
def rating_import_execute(import_id: int) -> None:
    imports.rating_import_execute(import_id=import_id)
