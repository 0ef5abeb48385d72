"""Work of the server's workers: imports, releases, score runs, studies."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from assay_client.errors import JobFailed

if TYPE_CHECKING:
    from assay_client.session import Assay

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds between two looks


class Job:
    """A job as the server last described it: ``job["progress"]``, ``job.state``."""

    def __init__(self, assay: Assay, body: dict[str, Any]) -> None:
        self.assay, self.body = assay, body

    def __getitem__(self, name: str) -> Any:
        return self.body[name]

    def __repr__(self) -> str:
        return f"<Job {self.url}: {self.state}>"

    @property
    def url(self) -> str:
        return str(self.body["url"])

    @property
    def state(self) -> str:
        """Return "queued", "running", "done", "failed" or "cancelled"."""
        return str(self.body["state"])

    @property
    def is_finished(self) -> bool:
        return self.body["finished_at"] is not None

    def look(self) -> Self:
        """Ask the server how far it is."""
        self.body = self.assay.get(self.url)
        return self

    def wait(self, timeout: float | None = None, *, progress: Callable[[Job], object] | None = None) -> Self:
        """Wait until it is done, with growing pauses; ``progress`` is called after each look.

        Raises
        ------
        JobFailed
            If it fails or is cancelled.
        TimeoutError
            If it is not finished after so many seconds. It goes on: wait again, or cancel it.
        """
        ends, pause = None if timeout is None else time.monotonic() + timeout, FIRST_PAUSE
        while not self.is_finished:
            if ends is not None and time.monotonic() > ends:
                raise TimeoutError(f"{self.url} is {self.state} after {timeout:g} s")
            time.sleep(pause)
            pause = min(1.5 * pause, LONGEST_PAUSE)
            self.look()
            if progress is not None:
                progress(self)
        if self.state != "done":
            raise JobFailed(self.body)
        return self

    def cancel(self) -> Self:
        return self._asked("cancel")

    def retry(self) -> Self:
        return self._asked("retry")

    def get(self, path: str = "", **parameters: Any) -> Any:
        """Return what an address below the job's answers, such as ``table/`` of a study."""
        return self.assay.get(f"{self.url}{path}", **parameters)

    def rows(self, path: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return all rows of a list below the job's address, such as ``scores/`` of a score run."""
        return list(self.assay.rows(f"{self.url}{path}", **parameters))

    def _asked(self, verb: str) -> Self:
        self.assay.post(f"{self.url}{verb}/")
        return self.look()
