"""Celery tasks of recruitment. Every task may run twice."""

from contextlib import suppress

from celery import shared_task

from annotation.core import turns
from annotation.core.errors import AnnotationError
from annotation.models import Recruitment, Submission, User
from annotation.models.identities import IdentityUnreadable
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services import events, refreshing, reviewing


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def recruitment_refresh(recruitment_id: int) -> None:
    with turns.turn(turns.RECRUITMENTS, recruitment_id) as locked:
        recruitment = Recruitment.objects.select_related("account", "campaign").filter(pk=recruitment_id).first()
        if locked and recruitment is not None:
            with suppress(ProviderError, IdentityUnreadable):  # stored; the next refresh tries again
                refreshing.recruitment_refresh(recruitment=recruitment)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def submissions_approve(recruitment_id: int, submission_ids: list[int], user_id: int) -> None:
    recruitment = Recruitment.objects.select_related("account", "campaign").get(pk=recruitment_id)
    submissions = list(Submission.objects.filter(recruitment=recruitment, pk__in=submission_ids))
    by = User.objects.get(pk=user_id)
    with suppress(AnnotationError):  # for example, because an earlier run has approved all
        reviewing.submissions_approve(recruitment=recruitment, submissions=submissions, by=by, patient=True)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def provider_event_handle(event_id: int) -> None:
    events.event_handle(event_id=event_id)
