"""Celery tasks of notifications. Every task may run twice."""

from celery import shared_task

from annotation.notifications.services import sending


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def notification_deliver(delivery_id: int) -> None:
    sending.delivery_send(delivery_id=delivery_id)
