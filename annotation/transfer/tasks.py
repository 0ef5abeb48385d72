"""Tasks of moving projects. Each calls one service and may run twice."""

from celery import shared_task

from annotation.transfer.services import imports


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def project_import_execute(import_id: int) -> None:
    imports.project_import_execute(import_id=import_id)
