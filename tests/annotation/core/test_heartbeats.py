"""Work is proven by a task that came through the queue."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from annotation.core import heartbeats
from annotation.core.heartbeats import SCHEDULER, TASK, heartbeat, task_heartbeat, work_state, worker_heartbeat
from annotation.core.queues import SHORT
from annotation.models import Heartbeat
from tests.worker import Worker, wait_until


def grow_old(name: str, **age: float) -> None:
    Heartbeat.objects.filter(name__startswith=name).update(seen_at=Now() - timedelta(**age))


@pytest.fixture
def silence(db: None) -> None:
    """The scheduler sends, and nothing has come through for an hour."""
    heartbeat(SCHEDULER)
    heartbeat(f"{TASK}{SHORT}")
    grow_old(TASK, hours=1)


def test_a_worker_that_lives_but_takes_no_work_is_no_working_part(silence: None) -> None:
    worker_heartbeat(queues=[SHORT], busy=False)
    work = work_state()
    assert work.worker == "takes no work"
    assert work.task_age_seconds == pytest.approx(3600, abs=60)


def test_workers_that_are_all_busy_are_well(silence: None) -> None:
    heartbeat(f"worker {SHORT} a:1", busy=True)
    heartbeat(f"worker {SHORT} b:1", busy=True)
    assert work_state().worker == "busy"
    heartbeat(f"worker {SHORT} b:1", busy=False)
    assert work_state().worker == "takes no work"


def test_a_busy_worker_that_was_killed_does_not_count(silence: None) -> None:
    worker_heartbeat(queues=[SHORT], busy=True)
    grow_old("worker", minutes=1)
    assert work_state().worker == "not seen"


def test_without_a_scheduler_nothing_is_known_of_workers_that_wait(silence: None) -> None:
    grow_old(SCHEDULER, hours=1)
    worker_heartbeat(queues=[SHORT], busy=False)
    work = work_state()
    assert (work.scheduler, work.worker) == ("not seen", "unknown")


def test_workers_that_ended_are_forgotten(silence: None) -> None:
    worker_heartbeat(queues=[SHORT], busy=False)
    grow_old("worker", hours=2)
    task_heartbeat(SHORT)
    assert not Heartbeat.objects.filter(name__startswith="worker").exists()
    assert work_state().worker == "ok"


def test_each_queue_has_workers_of_its_own(silence: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "LONG", "long")
    worker_heartbeat(queues=[SHORT, "long"], busy=True)
    assert (work_state().worker, work_state().long_worker) == ("busy", "busy")
    task_heartbeat("long")
    assert (work_state().worker, work_state().long_worker) == ("busy", "ok")
    grow_old(f"worker {SHORT}", minutes=1)
    assert (work_state().worker, work_state().long_worker) == ("not seen", "ok")


@pytest.mark.worker
def test_a_heartbeat_comes_through_a_real_scheduler_queue_and_worker(worker: Worker) -> None:
    def both_work() -> bool:
        work = work_state()
        return (work.scheduler, work.worker) == ("ok", "ok")

    wait_until(both_work)
    assert worker.is_alive()
