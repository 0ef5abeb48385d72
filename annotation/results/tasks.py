"""Tasks of workers. Each may run twice."""

from celery import shared_task

from annotation.results.services import snapshots


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def results_compute(snapshot_id: int) -> None:
    snapshots.snapshot_compute(snapshot_id=snapshot_id)
