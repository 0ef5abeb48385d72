"""What workers run for data sets: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.datasets.services import imports


@shared_task
def dataset_import_execute(import_id: int) -> None:
    imports.dataset_import_execute(import_id=import_id)
