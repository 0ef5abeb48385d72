from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from annotation.models import ProviderEvent, Recruitment, RecruitmentState, Submission
from annotation.models import SubmissionStatus as Status
from annotation.recruitment.providers.errors import WebhookRefused
from annotation.recruitment.services import accounts, events
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.recruited import comes


@pytest.fixture
def subscribed(study: Recruitment, fake_prolific: FakeProlific) -> Recruitment:
    """The study, with its account subscribed to messages."""
    assert study.account is not None
    accounts.account_receive_messages(account=study.account, url="http://127.0.0.1:1/providers/1/webhook")
    return Recruitment.objects.select_related("account", "campaign").get(pk=study.pk)


def message(subscribed: Recruitment, fake_prolific: FakeProlific, *, event_id: str = "", **changes: object):  # type: ignore[no-untyped-def]
    payload = {**fake_prolific.events[-1].payload, **changes}
    headers, body = fake_prolific.signed(payload, event_id=event_id)
    return events.event_receive(account=subscribed.account, headers=headers, body=body)


def test_a_message_is_stored_once_and_refreshes_the_submission(
    subscribed: Recruitment, fake_prolific: FakeProlific
) -> None:
    admitted = comes(subscribed, fake_prolific)
    fake_prolific.participant_returns(admitted.submission.external_id)
    event, new = message(subscribed, fake_prolific, event_id="event-1")
    assert new
    assert message(subscribed, fake_prolific, event_id="event-1") == (event, False)
    assert events.event_handle(event_id=event.pk)
    assert not events.event_handle(event_id=event.pk)
    assert Submission.objects.get().status == Status.RETURNED


def test_a_message_is_checked_with_the_provider(subscribed: Recruitment, fake_prolific: FakeProlific) -> None:
    """The event's id is not signed, so an old message can be sent again as a new one."""
    admitted = comes(subscribed, fake_prolific)
    event, _ = message(subscribed, fake_prolific, status="RETURNED")
    events.event_handle(event_id=event.pk)
    assert Submission.objects.get(pk=admitted.submission.pk).status == Status.ACTIVE


def test_forged_and_stale_messages_are_refused(subscribed: Recruitment, fake_prolific: FakeProlific) -> None:
    comes(subscribed, fake_prolific)
    headers, body = fake_prolific.signed(fake_prolific.events[-1].payload)
    with pytest.raises(WebhookRefused, match="signature"):
        events.event_receive(account=subscribed.account, headers=headers, body=body + b" ")
    headers, body = fake_prolific.signed(fake_prolific.events[-1].payload, at=timezone.now().timestamp() - 3600)
    with pytest.raises(WebhookRefused, match="at most"):
        events.event_receive(account=subscribed.account, headers=headers, body=body)
    assert ProviderEvent.objects.count() == 0


def test_a_study_that_the_provider_ends_is_completed(subscribed: Recruitment, fake_prolific: FakeProlific) -> None:
    fake_prolific._study_becomes(fake_prolific.studies[subscribed.external_id], "COMPLETED")
    event, _ = message(subscribed, fake_prolific)
    events.event_handle(event_id=event.pk)
    subscribed.refresh_from_db()
    assert subscribed.state == RecruitmentState.COMPLETED


def test_messages_about_other_studies_of_the_workspace_do_nothing(
    subscribed: Recruitment, fake_prolific: FakeProlific
) -> None:
    comes(subscribed, fake_prolific)
    Recruitment.objects.update(external_id="another")
    event, _ = message(subscribed, fake_prolific)
    assert events.event_handle(event_id=event.pk)
    unknown_event, _ = message(subscribed, fake_prolific, resource_id="0" * 24)
    assert events.event_handle(event_id=unknown_event.pk)
    unknown_event.refresh_from_db()
    assert "not found" in unknown_event.error.lower()


def test_a_message_that_could_not_be_handled_is_retried_later(
    subscribed: Recruitment, fake_prolific: FakeProlific
) -> None:
    admitted = comes(subscribed, fake_prolific)
    fake_prolific.participant_returns(admitted.submission.external_id)
    event, _ = message(subscribed, fake_prolific)
    fake_prolific.fail(503, times=9)
    assert not events.event_handle(event_id=event.pk)
    assert events.events_due() == []
    ProviderEvent.objects.update(received_at=timezone.now() - timedelta(minutes=2))
    assert events.events_due() == [event.pk]
    fake_prolific._troubles.clear()
    assert events.event_handle(event_id=event.pk)
    assert events.events_due() == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_handle_a_message_once(subscribed: Recruitment, fake_prolific: FakeProlific) -> None:
    admitted = comes(subscribed, fake_prolific)
    fake_prolific.participant_returns(admitted.submission.external_id)
    event, _ = message(subscribed, fake_prolific)
    fake_prolific.hang(0.5, where="GET")
    looks_before = fake_prolific.count("GET /api/v1/submissions/")  # at the arrival

    def handle(_: int) -> bool:
        try:
            return events.event_handle(event_id=event.pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(handle, range(4))) == [False, False, False, True]
    assert fake_prolific.count("GET /api/v1/submissions/") == looks_before + 1
    assert Submission.objects.get().status == Status.RETURNED
