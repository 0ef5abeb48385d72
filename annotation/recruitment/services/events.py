"""Signed messages from providers: each is stored once, and then the current state is read."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotation.core.turns import EVENTS, turn
from annotation.models import ProviderAccount, ProviderEvent, Recruitment
from annotation.models.identities import IdentityUnreadable
from annotation.recruitment.providers.base import Provider
from annotation.recruitment.providers.errors import NotFound, ProviderError
from annotation.recruitment.services.accounts import WEBHOOK_SECRET, client_of, provider_of, secrets_of
from annotation.recruitment.services.arrivals import unreadable_check
from annotation.recruitment.services.refreshing import study_apply, submission_apply

LATE = timedelta(minutes=1)  # after this time the task was lost or failed
EXPIRED = timedelta(days=1)  # after this time refreshing has read the state anyway


def event_receive(*, account: ProviderAccount, headers: Mapping[str, str], body: bytes) -> tuple[ProviderEvent, bool]:
    """Verify and store a message; return False for a repeated message."""
    secret = secrets_of(account).get(WEBHOOK_SECRET, "")
    with provider_of(account.provider) as provider:
        message = provider.webhook_event(headers=headers, body=body, secret=secret, now=timezone.now())
    try:
        with transaction.atomic():
            event = ProviderEvent(account=account, event_id=message.id, kind=message.kind[:60])
            event.payload = dict(message.payload)
            event.save()
            return event, True
    except IntegrityError:
        return ProviderEvent.objects.get(account=account, event_id=message.id), False


def event_handle(*, event_id: int) -> bool:
    """Read the study or submission of a message; return False if it was done before or another worker has it."""
    with turn(EVENTS, event_id) as mine:
        event = ProviderEvent.objects.select_related("account").filter(pk=event_id, handled_at=None).first()
        if not mine or event is None:
            return False
        try:
            with client_of(event.account, patient=False) as client:
                _read(client, event)
        except NotFound as error:
            message = error.message
        except (ProviderError, IdentityUnreadable) as error:  # it is tried again
            _record_error(event, error.message)
            return False
        else:
            message = ""
        _record_error(event, message, handled_at=Now())
    return True


def _record_error(event: ProviderEvent, message: str, **more: Any) -> None:
    event.error = message
    ProviderEvent.objects.filter(pk=event.pk).update(sealed_error=event.sealed_error, digests=event.digests, **more)


def events_due() -> list[int]:
    """Return messages that should have been handled by now."""
    now = timezone.now()
    late = ProviderEvent.objects.filter(handled_at=None, received_at__lt=now - LATE, received_at__gt=now - EXPIRED)
    return list(late.order_by("pk").values_list("pk", flat=True)[:100])


def _read(client: Provider, event: ProviderEvent) -> None:
    resource = str(event.payload.get("resource_id", ""))
    recruitments = Recruitment.objects.select_related("campaign").filter(account=event.account_id)
    if event.kind.startswith("submission."):
        reported = client.submission(resource)
        recruitment = recruitments.filter(external_id=reported.study).first()
        if recruitment is not None:  # else the study was not created here
            unreadable_check(recruitment)
            submission_apply(recruitment=recruitment, reported=reported)
    elif event.kind.startswith("study."):
        recruitment = recruitments.filter(external_id=resource).first()
        if recruitment is not None:
            study_apply(recruitment=recruitment, study=client.study_fetch(resource))
