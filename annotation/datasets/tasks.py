"""Tasks of data sets. Each calls one service and may run twice."""

from celery import shared_task

from annotation.datasets.services import imports


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def dataset_import_execute(import_id: int) -> None:
    imports.dataset_import_execute(import_id=import_id)
