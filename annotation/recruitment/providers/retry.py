"""Repeat requests to a provider after pauses."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from annotation.recruitment.providers.errors import ProviderError

T = TypeVar("T")


@dataclass(frozen=True)
class Backoff:
    """Exponential pauses with full jitter, none shorter than the provider requests.

    A write is repeated only if that is harmless, or if the request certainly never left. Once the pauses would exceed
    ``patience`` seconds in all, the error is raised; the caller can try again after its ``retry_after``.

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
        """Make the call until it succeeds; raise the error that ends the attempts."""
        slept = 0.0
        for attempt in range(1, self.attempts + 1):
            try:
                return call()
            except ProviderError as error:
                may_repeat = error.retriable and (idempotent or not error.sent)
                pause = self._pause(attempt, error.retry_after)
                if not may_repeat or attempt == self.attempts or slept + pause > self.patience:
                    raise
                slept += pause
                self.sleep(pause)
        raise ValueError(f"attempts is {self.attempts}; accepted: 1 or more")

    def _pause(self, attempt: int, least: float | None) -> float:
        drawn = self.uniform(0.0, min(self.longest, self.first * 2 ** (attempt - 1)))
        return max(drawn, least or 0.0)
