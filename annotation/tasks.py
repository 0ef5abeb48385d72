"""What workers run: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.services import jobs


@shared_task
def sweep() -> None:
    """Say that a worker is alive, and tidy up."""
    jobs.heartbeat("worker")
