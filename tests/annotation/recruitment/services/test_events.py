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
def told(study: Recruitment, prolific: FakeProlific) -> Recruitment:
    """With messages."""
    assert study.account is not None
    accounts.account_receive_messages(account=study.account, url="http://127.0.0.1:1/providers/1/webhook")
    return Recruitment.objects.select_related("account", "campaign").get(pk=study.pk)


def message(told: Recruitment, prolific: FakeProlific, *, event_id: str = "", **changes: object):  # type: ignore[no-untyped-def]
    payload = {**prolific.events[-1].payload, **changes}
    headers, body = prolific.signed(payload, event_id=event_id)
    return events.event_receive(account=told.account, headers=headers, body=body)


def test_a_message_is_kept_once_and_makes_us_ask(told: Recruitment, prolific: FakeProlific) -> None:
    taken = comes(told, prolific)
    prolific.participant_returns(taken.submission.external_id)
    event, new = message(told, prolific, event_id="event-1")
    assert new
    assert message(told, prolific, event_id="event-1") == (event, False)
    assert events.event_handle(event_id=event.pk)
    assert not events.event_handle(event_id=event.pk)
    assert Submission.objects.get().status == Status.RETURNED


def test_a_message_is_not_believed_but_checked(told: Recruitment, prolific: FakeProlific) -> None:
    """The event's id is not signed, so that an old message can come again as a new one."""
    taken = comes(told, prolific)
    event, _ = message(told, prolific, status="RETURNED")
    events.event_handle(event_id=event.pk)
    assert Submission.objects.get(pk=taken.submission.pk).status == Status.ACTIVE


def test_forged_and_stale_messages_are_refused(told: Recruitment, prolific: FakeProlific) -> None:
    comes(told, prolific)
    headers, body = prolific.signed(prolific.events[-1].payload)
    with pytest.raises(WebhookRefused, match="signature"):
        events.event_receive(account=told.account, headers=headers, body=body + b" ")
    headers, body = prolific.signed(prolific.events[-1].payload, at=timezone.now().timestamp() - 3600)
    with pytest.raises(WebhookRefused, match="at most"):
        events.event_receive(account=told.account, headers=headers, body=body)
    assert ProviderEvent.objects.count() == 0


def test_a_study_that_ends_there_ends_here(told: Recruitment, prolific: FakeProlific) -> None:
    prolific._study_becomes(prolific.studies[told.external_id], "COMPLETED")
    event, _ = message(told, prolific)
    events.event_handle(event_id=event.pk)
    told.refresh_from_db()
    assert told.state == RecruitmentState.COMPLETED


def test_messages_about_other_studies_of_the_workspace_do_nothing(told: Recruitment, prolific: FakeProlific) -> None:
    comes(told, prolific)
    Recruitment.objects.update(external_id="another")
    event, _ = message(told, prolific)
    assert events.event_handle(event_id=event.pk)
    gone, _ = message(told, prolific, resource_id="0" * 24)
    assert events.event_handle(event_id=gone.pk)
    gone.refresh_from_db()
    assert "not found" in gone.error.lower()


def test_a_message_met_by_trouble_is_followed_later(told: Recruitment, prolific: FakeProlific) -> None:
    taken = comes(told, prolific)
    prolific.participant_returns(taken.submission.external_id)
    event, _ = message(told, prolific)
    prolific.fail(503, times=9)
    assert not events.event_handle(event_id=event.pk)
    assert events.events_due() == []
    ProviderEvent.objects.update(received_at=timezone.now() - timedelta(minutes=2))
    assert events.events_due() == [event.pk]
    prolific._troubles.clear()
    assert events.event_handle(event_id=event.pk)
    assert events.events_due() == []


@pytest.mark.django_db(transaction=True)
def test_two_workers_with_one_message_do_it_once(told: Recruitment, prolific: FakeProlific) -> None:
    taken = comes(told, prolific)
    prolific.participant_returns(taken.submission.external_id)
    event, _ = message(told, prolific)
    prolific.hang(0.5, where="GET")

    def handle(_: int) -> bool:
        try:
            return events.event_handle(event_id=event.pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(handle, range(4))) == [False, False, False, True]
    assert prolific.count("GET /api/v1/submissions/") == 1
    assert Submission.objects.get().status == Status.RETURNED
