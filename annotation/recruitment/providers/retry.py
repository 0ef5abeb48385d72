"""When to ask a provider again, and after how long."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from annotation.recruitment.providers.errors import ProviderError

T = TypeVar("T")


@dataclass(frozen=True)
class Backoff:
    """Exponential pauses with full jitter, none shorter than the provider asked for.

    A write is repeated only where repeating it is harmless, or where the request certainly never left. When the pauses
    would exceed ``patience`` seconds in all, the error goes to the caller, who can come back at its ``retry_after``.

    References
    ----------
    Brooker, Exponential Backoff and Jitter, AWS Architecture Blog 2015: full jitter.
    """

    attempts: int = 5
    first: float = 0.5
    longest: float = 20.0
    patience: float = 45.0
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[float, float], float] = random.uniform

    def run(self, call: Callable[[], T], *, idempotent: bool) -> T:
        slept = 0.0
        for attempt in range(1, self.attempts + 1):
            try:
                return call()
            except ProviderError as error:
                may = error.retriable and (idempotent or not error.sent)
                pause = self._pause(attempt, error.retry_after)
                if not may or attempt == self.attempts or slept + pause > self.patience:
                    raise
                slept += pause
                self.sleep(pause)
        raise ValueError(f"attempts is {self.attempts}; accepted: 1 or more")

    def _pause(self, attempt: int, asked: float | None) -> float:
        drawn = self.uniform(0.0, min(self.longest, self.first * 2 ** (attempt - 1)))
        return max(drawn, asked or 0.0)
