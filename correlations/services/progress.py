"""Report the many stages of a study as one bar."""

from collections.abc import Callable

from annotation.core.progress import Progress, Throttle

PARTS = 1000


class StagedProgress:
    """Stages with their shares of the whole; each hands out a callback ``(done, total)``."""

    def __init__(self, report: Progress, shares: dict[str, int]) -> None:
        self.report = report
        whole = sum(shares.values())
        self.bounds: dict[str, tuple[float, float]] = {}
        before = 0
        for name, share in shares.items():
            self.bounds[name] = (PARTS * before / whole, PARTS * (before + share) / whole)
            before += share

    def stage(self, name: str) -> Callable[[int, int], None]:
        low, high = self.bounds[name]
        throttle = Throttle()

        def report(done: int, total: int) -> None:
            if throttle.due():
                self.report(round(low + (high - low) * done / max(total, 1)), PARTS, name)

        report(0, 1)
        return report


def part_of(report: Callable[[int, int], None], place: int, parts: int) -> Callable[[int, int], None]:
    """Return the callback of one of several parts of a stage that are alike."""
    return lambda done, total: report(place * total + done, parts * total)
