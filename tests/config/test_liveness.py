"""A worker that stands still ends itself; one that works, or waits for the database, does not."""

import subprocess
import sys
from unittest.mock import Mock, patch

import pytest
from celery import bootsteps
from celery.worker.loops import synloop
from psycopg import OperationalError

from config import liveness
from config.celery import PromptConnection, app
from config.liveness import Liveness, turning_step
from tests.config.test_supervision import Clock
from tests.conftest import ROOT

# The second expression never lets go of the interpreter, so that no other thread can run.
STILL = """
import sys, threading, re
from config import liveness as module; module.LOOK_SECONDS = 0.1
liveness = module.Liveness(1)
liveness.turn()
threading.Thread(target=liveness.watch, daemon=True).start()
threading.Event().wait() if sys.argv[1] == "waits" else re.match("(a+)+$", "a" * 60 + "b")
"""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(liveness, "time", clock)
    return clock


@pytest.mark.parametrize("how", ["waits", "computes"])
def test_a_process_that_stands_still_ends_and_shows_where(how: str) -> None:
    process = subprocess.run([sys.executable, "-c", STILL, how], cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode > 0
    assert 'File "<string>", line 7 in <module>' in process.stderr


def test_a_loop_that_turns_lives(clock: Clock) -> None:
    worker = Liveness(60)
    for _ in range(3):
        worker.turn()
        clock.now += 60
        assert worker.is_alive()
    clock.now += 1
    assert not worker.is_alive()


@pytest.mark.parametrize(("attribute", "then"), [("busy", False), ("database_answers", True)])
def test_a_loop_may_stand_still_during_a_task_and_without_the_database(
    clock: Clock, attribute: str, then: bool
) -> None:
    worker = Liveness(60)
    worker.turn()
    setattr(worker, attribute, not then)
    clock.now += 1000
    assert worker.is_alive()
    setattr(worker, attribute, then)
    clock.now += 60  # it has the whole time again
    assert worker.is_alive()
    clock.now += 1
    assert not worker.is_alive()


def test_a_loop_that_reports_no_turns_is_not_watched(clock: Clock) -> None:
    worker = Liveness(60)
    clock.now += 1000
    assert worker.is_alive()


def test_each_turn_of_celerys_loop_is_reported() -> None:
    class Consumer(Mock):
        def perform_pending_operations(self) -> None:
            reported.append("its own operations")

    def drain(timeout: float) -> None:
        reported.append("end of turn")
        if len(reported) >= 6:
            blueprint.state = bootsteps.CLOSE

    reported: list[str] = []
    consumer, blueprint, connection = Consumer(), Mock(state=bootsteps.RUN), Mock(drain_events=drain)
    consumer.pool.is_green = False
    turning_step(lambda: reported.append("turn"))(consumer).start(consumer)
    synloop(consumer, connection, Mock(), blueprint, None, Mock(prev=1, value=1), 0, Mock())
    assert reported == 2 * ["turn", "its own operations", "end of turn"]
    assert "Turning" in {step.__name__ for step in app.steps["consumer"]}


def test_a_queue_that_was_away_is_tried_again_every_two_seconds() -> None:
    pauses: list[float] = []

    connection = app.connection_for_read()
    assert isinstance(connection, PromptConnection)

    def note(error: Exception, interval: float) -> None:
        pauses.append(interval)
        if len(pauses) == 4:
            raise KeyboardInterrupt

    away = connection.recoverable_connection_errors[0]()
    with (
        patch.object(PromptConnection, "_establish_connection", side_effect=away),
        patch("kombu.utils.functional.sleep"),
        pytest.raises(KeyboardInterrupt),
    ):
        connection.ensure_connection(note)
    assert max(pauses) <= 2


def test_each_try_to_reach_the_queue_begins_with_a_new_client() -> None:
    """A client that failed waits twice as long each time before it connects again: up to a minute and more."""
    clients: list[Mock] = []

    def client_of(transport: object) -> Mock:
        if len(clients) == 3:
            raise KeyboardInterrupt
        client = Mock()
        client.list_queues.side_effect = OperationalError("the database system is starting up")
        clients.append(client)
        return client

    with (
        patch("kombu.transport.pgmq.Transport._create_pgmq_client", client_of),
        patch("kombu.utils.functional.sleep"),
        pytest.raises(KeyboardInterrupt),
    ):
        app.connection_for_read().ensure_connection()
    assert [client.close.call_count for client in clients] == [1, 1, 1]
