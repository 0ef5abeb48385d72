"""Tasks of projects. Each calls one service and may run twice."""

from celery import shared_task

from annotation.projects.services import deletion


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def project_delete(deletion_id: int) -> None:
    deletion.project_deletion_execute(deletion_id=deletion_id)
