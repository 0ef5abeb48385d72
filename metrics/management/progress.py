"""A progress bar over a job that runs in the foreground, fed from what the job says of itself."""

import sys
import threading
from collections.abc import Callable

from django.db import connection
from tqdm import tqdm

from annotation.models import Job

INTERVAL_SECONDS = 0.5


def followed(model: type[Job], job_id: int, work: Callable[[], None], *, total: int, quiet: bool) -> None:
    """Do the work; meanwhile a second thread reads the job's progress and draws it on standard error."""
    finished = threading.Event()

    def follow(bar: tqdm) -> None:
        try:
            while not finished.wait(INTERVAL_SECONDS):
                row = model._default_manager.filter(pk=job_id).values_list("progress_done", "progress_note").first()
                if row is not None:
                    bar.n = row[0]
                    bar.set_description(row[1])
        finally:
            connection.close()

    with tqdm(
        total=total, file=sys.stderr, disable=quiet or None, bar_format="{desc:<24}|{bar}| {percentage:3.0f}%"
    ) as bar:
        watcher = threading.Thread(target=follow, args=(bar,), daemon=True)
        if not bar.disable:
            watcher.start()
        try:
            work()
        finally:
            finished.set()
            if watcher.is_alive():
                watcher.join()
        bar.update(bar.total - bar.n)
