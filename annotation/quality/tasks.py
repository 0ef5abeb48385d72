"""Tasks of workers. Each may run twice."""

from celery import shared_task

from annotation.quality.services import snapshots


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def campaign_snapshot(campaign_id: int) -> None:
    snapshots.snapshot_update(campaign_id=campaign_id)
