"""What workers run: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.models import Release
from annotation.services import jobs, releases


@shared_task
def sweep() -> None:
    """Say that a worker is alive, and tidy up."""
    jobs.heartbeat("worker")
    for release_id in jobs.stale_ids(Release):
        release_build.delay(release_id)


@shared_task
def release_build(release_id: int) -> None:
    releases.release_build(release_id=release_id)
