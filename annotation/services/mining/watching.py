"""Who hears how far a job of mining is: a command's progress bar, or nobody."""

from collections.abc import Callable

Watch = Callable[[int, int, str], None]


def nobody_watches(done: int, total: int, note: str = "") -> None:
    """For callers that show nothing."""
