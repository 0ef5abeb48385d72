"""A real worker sends what was written."""

import pytest

from annotation.models import Delivery, DeliveryState, Membership, Project, User
from annotation.notifications.services.choosing import notifications_choose
from annotation.notifications.services.recording import notification_record
from tests.annotation.notifications.servers import web_server
from tests.worker import Worker, wait_until

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


def test_a_worker_sends_a_webhook_once(project: Project, owner: User, worker: Worker, settings: object) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = True  # type: ignore[attr-defined] # pytest-django's
    membership = Membership.objects.get(project=project, user=owner)
    with web_server() as receiver:
        notifications_choose(
            membership=membership,
            site="https://assay.example.org/",
            by_email=[],
            by_webhook=["campaign_full"],
            webhook_url=receiver.url,
        )
        facts = {"campaign": "Replies", "campaign_pk": 1, "slots": 8}
        notification_record(kind="campaign_full", project=project, key="1", facts=facts)

        def is_sent() -> bool:
            return Delivery.objects.get().state == DeliveryState.SENT

        wait_until(is_sent, seconds=90)
        assert len(receiver.received) == 1
