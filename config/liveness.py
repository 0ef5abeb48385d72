"""A worker that stands still ends itself, so that whatever started it starts another.

Its loop may wait for a lock without end, or a library may never let go of the interpreter. A thread looks at the loop;
a timer of ``faulthandler``, which needs no interpreter, ends the process if that thread does not set it again.
"""

import faulthandler
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from celery import bootsteps

LOOK_SECONDS = 1


class Liveness:
    """Whether a worker's loop turns, a task is in progress, or both wait for the database."""

    def __init__(self, still_seconds: float) -> None:
        self.still_seconds = still_seconds
        self.busy = False
        self.turned_at: float | None = None  # a loop that does not report its turns is not watched
        self.database_answers = True  # if it does not, the loop waits for its return
        self.ending = threading.Event()
        self.pulse: int | None = None  # a pipe to the process that watches this one

    def turn(self) -> None:
        self.turned_at = time.monotonic()

    def is_alive(self) -> bool:
        now = time.monotonic()
        if self.turned_at is None:
            return True
        if self.busy or not self.database_answers:
            self.turned_at = now  # the next turn has the whole time
        return now - self.turned_at <= self.still_seconds

    def watch(self) -> None:
        """Return when the worker is asked to end; end the process, with a traceback, if it stands still."""
        while True:
            with suppress(MemoryError, RuntimeError):  # a task has all memory that it may take
                if not self.is_alive():
                    break
                faulthandler.dump_traceback_later(self.still_seconds, exit=True)
                if self.pulse is not None:
                    with suppress(OSError):  # the pipe is full, or has no reader
                        os.write(self.pulse, b".")
            if self.ending.wait(LOOK_SECONDS):
                faulthandler.cancel_dump_traceback_later()
                return
        faulthandler.dump_traceback()
        os._exit(os.EX_SOFTWARE)


def turning_step(turn: Callable[[], None]) -> type[bootsteps.StartStopStep]:
    """Return a step of Celery's consumer that calls ``turn`` with each turn of the loop.

    It is the loop of brokers without file descriptors to wait for, as the database; Celery drives others differently.
    """

    class Turning(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
        requires = ("celery.worker.consumer.tasks:Tasks",)

        def start(self, parent: Any) -> None:
            perform = type(parent).perform_pending_operations

            def turn_and_perform() -> None:
                turn()
                perform(parent)

            parent.perform_pending_operations = turn_and_perform

    return Turning
