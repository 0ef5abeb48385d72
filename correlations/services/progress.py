"""One bar for the many stages of a study, told often enough to keep the lease and seldom enough to cost nothing."""

import time
from collections.abc import Callable

from annotation.services.jobs import Claim

PARTS = 1000
INTERVAL_SECONDS = 0.25


class StagedProgress:
    """Stages with their shares of the whole; each hands out a callback ``(done, total)``."""

    def __init__(self, claim: Claim, shares: dict[str, int]) -> None:
        self.claim = claim
        whole = sum(shares.values())
        self.bounds: dict[str, tuple[float, float]] = {}
        before = 0
        for name, share in shares.items():
            self.bounds[name] = (PARTS * before / whole, PARTS * (before + share) / whole)
            before += share
        self.last = 0.0

    def stage(self, name: str) -> Callable[[int, int], None]:
        low, high = self.bounds[name]
        self.last = 0.0  # the first word of a stage is always passed on

        def report(done: int, total: int) -> None:
            now = time.monotonic()
            if now - self.last >= INTERVAL_SECONDS:
                self.last = now
                self.claim.progress(round(low + (high - low) * done / max(total, 1)), PARTS, name)

        report(0, 1)
        return report
