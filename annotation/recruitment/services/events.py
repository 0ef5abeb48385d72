"""Signed messages from providers: each is stored once, and triggers reading the current state."""

from collections.abc import Mapping
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotation.models import ProviderAccount, ProviderEvent, Recruitment
from annotation.recruitment.providers import Provider
from annotation.recruitment.providers.errors import NotFound, ProviderError
from annotation.recruitment.services.accounts import WEBHOOK_SECRET, client_of, provider_of, secrets_of
from annotation.recruitment.services.refreshing import study_apply, submission_apply
from annotation.recruitment.services.turns import EVENTS, turn

SLOW = timedelta(minutes=1)  # its task is lost, or met trouble
GIVEN_UP = timedelta(days=1)  # refreshing has seen it long since


def event_receive(*, account: ProviderAccount, headers: Mapping[str, str], body: bytes) -> tuple[ProviderEvent, bool]:
    """Verify and store a message; return False for a repeated message."""
    secret = secrets_of(account).get(WEBHOOK_SECRET, "")
    with provider_of(account.provider) as reader:
        told = reader.webhook_event(headers=headers, body=body, secret=secret, now=timezone.now())
    try:
        with transaction.atomic():
            event = ProviderEvent.objects.create(
                account=account, event_id=told.id, kind=told.kind[:60], payload=dict(told.payload)
            )
            return event, True
    except IntegrityError:
        return ProviderEvent.objects.get(account=account, event_id=told.id), False


def event_handle(*, event_id: int) -> bool:
    """Read what the message is about from the provider; return False if another worker has it or it was done before."""
    with turn(EVENTS, event_id) as mine:
        event = ProviderEvent.objects.select_related("account").filter(pk=event_id, handled_at=None).first()
        if not mine or event is None:
            return False
        try:
            with client_of(event.account, patient=False) as client:
                _follow(client, event)
        except NotFound as error:
            _write(event, error.message, handled=True)
        except ProviderError as error:
            _write(event, error.message, handled=False)
            return False
        else:
            _write(event, "", handled=True)
    return True


def _write(event: ProviderEvent, error: str, *, handled: bool) -> None:
    changes = {"handled_at": Now()} if handled else {}
    ProviderEvent.objects.filter(pk=event.pk).update(error=error, **changes)


def events_due() -> list[int]:
    """Return messages that should have been handled by now."""
    now = timezone.now()
    late = ProviderEvent.objects.filter(handled_at=None, received_at__lt=now - SLOW, received_at__gt=now - GIVEN_UP)
    return list(late.order_by("pk").values_list("pk", flat=True)[:100])


def _follow(client: Provider, event: ProviderEvent) -> None:
    resource = str(event.payload.get("resource_id", ""))
    mine = Recruitment.objects.select_related("campaign").filter(account=event.account_id)
    if event.kind.startswith("submission."):
        told = client.submission(resource)
        recruitment = mine.filter(external_id=told.study).first()
        if recruitment is not None:  # else the study was not created here
            submission_apply(recruitment=recruitment, told=told)
    elif event.kind.startswith("study."):
        recruitment = mine.filter(external_id=resource).first()
        if recruitment is not None:
            study_apply(recruitment=recruitment, study=client.study_fetch(resource))
