"""Callbacks by which long work reports its progress."""

import time
from collections.abc import Callable

Progress = Callable[[int, int, str], None]  # called with the amount done, the total and a note
Beat = Callable[[], None]  # called often during long work; an exception ends the work

INTERVAL_SECONDS = 0.5


def noop(*_: object) -> None:
    """Do nothing: the default of a callback."""


class Throttle:
    """Limit reports to one each ``INTERVAL_SECONDS``; the first is always due."""

    def __init__(self) -> None:
        self.last = float("-inf")

    def due(self) -> bool:
        now = time.monotonic()
        if now - self.last < INTERVAL_SECONDS:
            return False
        self.last = now
        return True
