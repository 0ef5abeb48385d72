"""Tasks of deletions. Each calls one service and may run twice."""

from celery import shared_task

from annotation.removal import services


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def data_delete(deletion_id: int) -> None:
    services.deletion_execute(deletion_id=deletion_id)
