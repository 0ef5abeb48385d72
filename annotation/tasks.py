"""What workers run: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.models import DatasetImport, RatingImport, Release
from annotation.services import handout, imports, jobs, releases


@shared_task
def sweep() -> None:
    """Say that a worker is alive, and tidy up."""
    jobs.heartbeat("worker")
    handout.slots_sweep()
    for release_id in jobs.stale_ids(Release):
        release_build.delay(release_id)
    for import_id in jobs.stale_ids(DatasetImport):
        dataset_import_execute.delay(import_id)
    for import_id in jobs.stale_ids(RatingImport):
        rating_import_execute.delay(import_id)


@shared_task
def release_build(release_id: int) -> None:
    releases.release_build(release_id=release_id)


@shared_task
def dataset_import_execute(import_id: int) -> None:
    imports.dataset_import_execute(import_id=import_id)


@shared_task
def rating_import_execute(import_id: int) -> None:
    imports.rating_import_execute(import_id=import_id)
