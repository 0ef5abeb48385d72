"""The leaderboard without a queue."""

import pytest
from django.db import transaction

from metrics import tasks
from metrics.views.leaderboard import _enqueue_later


@pytest.mark.django_db(transaction=True)
def test_a_queue_that_cannot_be_reached_keeps_no_page_back(monkeypatch, caplog) -> None:
    def refuse(pk: int) -> None:
        raise ConnectionError("no queue")

    monkeypatch.setattr(tasks.rate_systems, "delay", refuse)
    with transaction.atomic():
        _enqueue_later(7)

    assert "no queue" in caplog.text
