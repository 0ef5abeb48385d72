"""Keep the parts of the product running: start again what ended or no longer works, with growing pauses."""

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from config.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError
from config.forks import fork
from config.health import problems

PAUSES = (0, 1, 2, 4, 8, 15, 30)  # seconds before the first, second ... start again
SETTLED_SECONDS = 60  # a part that ran as long has recovered: its next pause is the shortest again
STARTING_SECONDS = 60  # after that a part must work; each start in a row gets twice as long, up to the fifth
LOOK_SECONDS = 2  # between two looks at the parts' health
# A part whose process lives but that does not work for as long is replaced. Many slow requests can keep web busy.
PATIENCE_SECONDS = {"web": 60, "scheduler": 15, "worker": 15, "long_worker": 15}
STUCK_SECONDS = 20  # without a sign of life, of which a worker gives one each second
STOPPED_SECONDS = 10  # by a signal (SIGSTOP)


class Part(ABC):
    """Something that must run."""

    def __init__(self, name: str) -> None:
        self.name, self.kind = name, name.split("-")[0]  # its name in the answer of /healthz
        self.failures = 0  # in a row
        self.was_sick = False  # when it was ended
        self.started_at = time.monotonic()
        self.starts_at: float | None = None  # after the pause, once it has ended

    @abstractmethod
    def is_alive(self) -> bool: ...

    def is_stuck(self) -> bool:
        return False

    @abstractmethod
    def launch(self) -> None: ...

    @abstractmethod
    def kill(self) -> None:
        """End all that is left of it."""

    def start(self) -> None:
        self.started_at, self.starts_at, self.was_sick = time.monotonic(), None, False
        self.launch()

    def revive(self, report: Callable[[str], Any]) -> None:
        """Start it again if it has ended and its pause is over."""
        if self.starts_at is None:
            if self.is_alive():
                return
            self.kill()
            recovered = time.monotonic() - self.started_at > SETTLED_SECONDS and not self.was_sick
            self.failures = 1 if recovered else self.failures + 1
            pause = PAUSES[min(self.failures, len(PAUSES)) - 1]
            self.starts_at = time.monotonic() + pause
            report(f"{self.name} ended; starting it again" + (f" in {pause} s." if pause else "."))
        if time.monotonic() >= self.starts_at:
            try:
                self.start()
            except (OSError, EmbeddedPostgresError, psutil.Error) as error:
                report(f"{self.name} did not start: {str(error).splitlines()[0]}")


class Process(Part):
    """A child process in a separate session: Ctrl-C reaches only its parent, which stops the parts in order.

    ``main`` is given a pipe for signs of life. If it gives one, it must go on, or it counts as stuck.
    """

    def __init__(self, name: str, main: Callable[[int], object], *, log: Path) -> None:
        super().__init__(name)
        self.main, self.log = main, log
        self.pulse: int | None = None
        self.start()

    def launch(self) -> None:
        pulse, sender = os.pipe()
        for end in (pulse, sender):
            os.set_blocking(end, False)
        try:
            self.process = fork(lambda: self.main(sender), name=self.name, log=self.log)
        except OSError:
            os.close(pulse)
            raise
        finally:
            os.close(sender)
        if self.pulse is not None:
            os.close(self.pulse)
        self.pulse, self.has_pulse = pulse, False
        self.alive_at = self.running_at = time.monotonic()

    def is_alive(self) -> bool:
        try:
            self.process.wait(timeout=0)
        except psutil.TimeoutExpired:
            return True
        return False

    def is_stuck(self) -> bool:
        """Return whether it no longer gives the signs of life that it gave, or was stopped by a signal for a while."""
        with suppress(BlockingIOError):
            if self.pulse is not None and os.read(self.pulse, 4096):
                self.has_pulse, self.alive_at = True, time.monotonic()
        now = time.monotonic()
        if self.process.status() != psutil.STATUS_STOPPED:
            self.running_at = now
        no_sign = self.has_pulse and now - self.alive_at > STUCK_SECONDS
        return no_sign or now - self.running_at > STOPPED_SECONDS

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(psutil.NoSuchProcess):
            self.process.kill()  # it may not have its session yet
        self.process.wait()

    def ask_to_stop(self) -> None:
        if self.is_alive():
            self.process.terminate()

    def wait_or_kill(self, deadline: float) -> None:
        with suppress(psutil.TimeoutExpired):
            self.process.wait(max(0.1, deadline - time.monotonic()))
        self.kill()


class Database(Part):
    """The embedded server, which its last user stops."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        super().__init__("database")
        self.server = server
        self.running_at = time.monotonic()

    def is_alive(self) -> bool:
        return self.server.is_running()

    def launch(self) -> None:
        self.server.start_again()

    def is_stuck(self) -> bool:
        """Return whether it was stopped by a signal for a while: new connections wait for it without end."""
        if not self.server.is_stopped():
            self.running_at = time.monotonic()
        return time.monotonic() - self.running_at > STOPPED_SECONDS

    def kill(self) -> None:
        """End a stopped server. Its other processes end with their parent, and their data is in use until then."""
        if self.server.is_stopped():
            self.server.kill()


class Watch:
    """Watches all parts."""

    def __init__(
        self, parts: Sequence[Part], health: Callable[[], dict[str, Any] | None], report: Callable[[str], Any]
    ):
        self.parts, self.health, self.report = parts, health, report
        self.next_look = 0.0
        self.sick_since: dict[str, float] = {}

    def look(self) -> None:
        """Start ended parts again; every few seconds also end parts that run but do not work."""
        self.revive()
        if time.monotonic() >= self.next_look:
            for part in self.parts:
                if part.starts_at is None and part.is_stuck():
                    self.replace(part)
            self.end_sick_parts(sick_kinds(self.health()))
            self.next_look = time.monotonic() + LOOK_SECONDS

    def revive(self) -> None:
        for part in self.parts:
            part.revive(self.report)

    def end_sick_parts(self, sick: set[str]) -> None:
        now = time.monotonic()
        self.sick_since = {kind: self.sick_since.get(kind, now) for kind in sick}
        for part in self.parts:
            patience = PATIENCE_SECONDS.get(part.kind)
            if part.kind not in sick or patience is None or part.starts_at is not None:
                continue
            must_work_from = part.started_at + STARTING_SECONDS * 2 ** min(part.failures, 4)
            if now - max(self.sick_since[part.kind], must_work_from) > patience:
                self.replace(part)

    def replace(self, part: Part) -> None:
        self.report(f"{part.name} runs but does not work; ending it.")
        part.was_sick = True
        part.kill()


def sick_kinds(health: dict[str, Any] | None) -> set[str]:
    """Return the parts to blame for an answer of /healthz: what others need comes first."""
    if health is None:
        return {"web"}
    states = problems(health)
    if "database" in states:
        return set()
    return {"scheduler"} if "scheduler" in states else {"worker", "long_worker"} & set(states)
