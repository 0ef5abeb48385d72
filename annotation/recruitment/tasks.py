"""Celery tasks of recruitment. Every task may run twice."""

from contextlib import suppress

from celery import shared_task

from annotation.core.errors import AnnotationError
from annotation.models import (
    Recruitment,
    Submission,
    User,
)
from annotation.recruitment import services as recruitment
from annotation.recruitment.providers.errors import ProviderError


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def recruitment_refresh(recruitment_id: int) -> None:
    with recruitment.turn(recruitment.RECRUITMENTS, recruitment_id) as mine:
        found = Recruitment.objects.select_related("account", "campaign").filter(pk=recruitment_id).first()
        if mine and found is not None:
            with suppress(ProviderError):  # written down with the recruitment, and tried again later
                recruitment.recruitment_refresh(recruitment=found)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def submissions_approve(recruitment_id: int, submission_ids: list[int], user_id: int) -> None:
    found = Recruitment.objects.select_related("account", "campaign").get(pk=recruitment_id)
    chosen = Submission.objects.filter(recruitment=found, pk__in=submission_ids)
    with suppress(AnnotationError):  # such as that all are decided, where this ran before
        recruitment.submissions_approve(
            recruitment=found, submissions=list(chosen), by=User.objects.get(pk=user_id), patient=True
        )


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def provider_event_handle(event_id: int) -> None:
    recruitment.event_handle(event_id=event_id)
