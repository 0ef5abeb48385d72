"""Parts that end are started again with growing pauses; parts that run but do not work are replaced."""

import errno
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from config import supervision
from config.supervision import (
    LOOK_SECONDS,
    PATIENCE_SECONDS,
    PAUSES,
    SETTLED_SECONDS,
    STARTING_SECONDS,
    STOPPED_SECONDS,
    STUCK_SECONDS,
    Database,
    Process,
    Watch,
    sick_kinds,
)
from tests.worker import wait_until

WELL = dict.fromkeys(("web", "database", "scheduler", "worker", "long_worker", "disk"), "ok")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(supervision, "time", clock)
    return clock


@pytest.fixture
def part(clock: Clock, tmp_path: Path) -> Iterator[Process]:
    """A process with a child of its own."""
    part = Process("worker-1", sleep_with_child, log=tmp_path / "log")
    yield part
    part.kill()


def sleep_with_child(_: int) -> None:
    os.execv("/bin/sh", ["sh", "-c", "sleep 600 & exec sleep 600"])


def give_one_sign_of_life(pulse: int) -> None:
    os.write(pulse, b".")
    sleep_with_child(pulse)


def end(part: Process) -> None:
    os.kill(part.process.pid, signal.SIGKILL)
    part.process.wait()


def test_what_ends_is_started_again_with_growing_pauses_without_end(part: Process, clock: Clock) -> None:
    for pause in (*PAUSES, PAUSES[-1]):
        end(part)
        messages: list[str] = []
        part.revive(messages.append)
        assert messages == [f"worker-1 ended; starting it again{f' in {pause} s' if pause else ''}."]
        assert part.is_alive() == (pause == 0)
        clock.now += pause
        part.revive(messages.append)
        assert part.is_alive()


def test_a_part_that_ran_for_a_while_has_recovered(part: Process, clock: Clock) -> None:
    part.failures = 5
    clock.now += SETTLED_SECONDS + 1
    end(part)
    part.revive(print)
    assert part.is_alive()
    assert part.failures == 1


def test_nothing_is_left_of_a_part_that_ended(part: Process) -> None:
    wait_until(lambda: psutil.Process(part.process.pid).children())
    orphans = psutil.Process(part.process.pid).children()
    end(part)
    part.revive(print)
    psutil.wait_procs(orphans, timeout=10)
    assert not any(orphan.is_running() and orphan.status() != psutil.STATUS_ZOMBIE for orphan in orphans)


def test_a_part_that_cannot_be_started_is_tried_again_later(
    part: Process, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    end(part)
    messages: list[str] = []
    with monkeypatch.context() as full:
        full.setattr(os, "fork", refuse)
        part.revive(messages.append)
        assert "worker-1 did not start" in messages[1]
    part.revive(messages.append)
    clock.now += PAUSES[-1]
    part.revive(messages.append)
    assert part.is_alive()


@pytest.mark.parametrize(("seen", "seconds"), [("its pulse", STUCK_SECONDS), ("its state", STOPPED_SECONDS)])
def test_a_part_that_stands_still_is_replaced(part: Process, clock: Clock, seen: str, seconds: int) -> None:
    watch = Watch([part], lambda: WELL, print)
    if seen == "its pulse":
        part.kill()
        part.main = give_one_sign_of_life
        part.start()
        wait_until(lambda: part.is_stuck() or part.has_pulse)
    else:
        os.kill(part.process.pid, signal.SIGSTOP)
        wait_until(lambda: part.process.status() == psutil.STATUS_STOPPED)
    stopped = part.process
    clock.now += seconds
    watch.look()
    assert part.is_alive()
    clock.now += LOOK_SECONDS
    watch.look()
    watch.look()
    assert part.process != stopped
    assert part.is_alive()


def test_a_stopped_database_is_ended_and_started_again(clock: Clock, tmp_path: Path) -> None:
    class Server:
        """A database server of one process."""

        process = subprocess.Popen(["sleep", "600"])
        kill = process.kill

        def is_running(self) -> bool:
            return self.process.poll() is None

        def is_stopped(self) -> bool:
            return self.is_running() and psutil.Process(self.process.pid).status() == psutil.STATUS_STOPPED

        def start_again(self) -> None:
            self.process = subprocess.Popen(["sleep", "600"])

    server: Any = Server()
    watch = Watch([Database(server)], lambda: WELL, print)
    stopped = server.process
    stopped.send_signal(signal.SIGSTOP)
    wait_until(server.is_stopped)
    clock.now += STOPPED_SECONDS
    watch.look()
    assert server.process == stopped
    clock.now += LOOK_SECONDS
    watch.look()
    stopped.wait()
    watch.look()
    assert server.process != stopped
    assert server.is_running()
    server.process.kill()
    server.process.wait()


def test_a_part_that_gives_no_signs_of_life_is_not_expected_to(part: Process, clock: Clock) -> None:
    running = part.process
    watch = Watch([part], lambda: WELL, print)
    for _ in range(2):
        clock.now += 2 * STUCK_SECONDS
        watch.look()
    assert part.process == running
    assert part.is_alive()


def test_a_worker_that_lives_but_takes_no_work_is_replaced(part: Process, clock: Clock) -> None:
    health: dict[str, Any] = WELL | {"worker": "takes no work"}
    watch = Watch([part], lambda: health, print)
    stuck = part.process.pid
    watch.look()
    clock.now += STARTING_SECONDS  # it may still be starting
    watch.look()
    assert part.is_alive()
    clock.now += PATIENCE_SECONDS["worker"] + 1
    watch.look()
    watch.look()
    assert part.is_alive()
    assert part.process.pid != stuck
    clock.now += STARTING_SECONDS + PATIENCE_SECONDS["worker"] + 1  # the next gets twice as long to start
    watch.look()
    assert part.is_alive()
    clock.now += STARTING_SECONDS
    watch.look()
    assert not part.is_alive()


def test_a_worker_that_recovers_in_time_stays(part: Process, clock: Clock) -> None:
    states = iter(["takes no work", "ok", "takes no work"])
    watch = Watch([part], lambda: WELL | {"worker": next(states)}, print)
    running = part.process.pid
    for _ in range(3):
        clock.now += STARTING_SECONDS + PATIENCE_SECONDS["worker"]
        watch.look()
    assert part.process.pid == running
    assert part.is_alive()


@pytest.mark.parametrize(
    ("health", "to_blame"),
    [
        (None, {"web"}),
        (WELL, set()),
        (WELL | {"disk": "1 MiB free"}, set()),
        (WELL | {"worker": "busy"}, set()),
        (WELL | {"worker": "takes no work"}, {"worker"}),
        (WELL | {"worker": "not seen"}, {"worker"}),
        (WELL | {"long_worker": "takes no work"}, {"long_worker"}),
        (WELL | {"scheduler": "not seen", "worker": "unknown"}, {"scheduler"}),
        (WELL | {"database": "down", "scheduler": "unknown", "worker": "unknown"}, set()),
    ],
)
def test_what_others_need_is_blamed_first(health: dict[str, Any] | None, to_blame: set[str]) -> None:
    assert sick_kinds(health) == to_blame
