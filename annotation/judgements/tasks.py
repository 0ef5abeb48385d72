"""Celery tasks of imported ratings. Every task may run twice."""

from celery import shared_task

from annotation.judgements.services import imports


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def rating_import_execute(import_id: int) -> None:
    imports.rating_import_execute(import_id=import_id)
