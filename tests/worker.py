"""A real Celery worker for tests: its own process, on the test database, ended by its id."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.db import connection
from kombu import pools

from config.celery import app

ROOT = Path(__file__).resolve().parent.parent


class Worker:
    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.schedule = tempfile.TemporaryDirectory(prefix="assay-beat-")
        self.start()

    def start(self) -> None:
        command = (
            "celery --quiet -A config worker --beat --concurrency=1 --loglevel=warning "
            f"--without-gossip --without-mingle --without-heartbeat --schedule={self.schedule.name}/schedule"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command.split()], cwd=ROOT, env=self.environment, start_new_session=True
        )

    def kill(self) -> None:
        """As a machine that loses power: no goodbye, children included."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def running_worker() -> Iterator[Worker]:
    """Start a worker on the current test database; the queue of this process points there, too."""
    database = connection.settings_dict
    account = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
    address = f"{account}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"postgresql://{address}",
        "CELERY_BROKER_URL": f"pgmq://{address}",
        "CELERY_VISIBILITY_TIMEOUT": "5",
        "JOB_LEASE_SECONDS": "3",
        "SWEEP_SECONDS": "1",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each worker would compile the project anew
    previous, options = app.conf.broker_url, app.conf.broker_transport_options
    app.conf.broker_url = app.conf.broker_write_url = environment["CELERY_BROKER_URL"]
    app.conf.broker_transport_options = {**options, "conn_string": environment["DATABASE_URL"]}
    worker = Worker(environment)
    try:
        yield worker
    finally:
        worker.stop()
        worker.schedule.cleanup()
        app.conf.broker_url = app.conf.broker_write_url = previous
        app.conf.broker_transport_options = options
        pools.reset()
        app._after_fork()  # forgets the closed pools, so that the next test opens its own


def wait_until(condition, *, seconds: float = 60, every: float = 0.1) -> None:  # type: ignore[no-untyped-def]
    """Poll until ``condition()`` is true; an AssertionError names what never came true."""
    ends = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > ends:
            raise AssertionError(f"Not within {seconds} s: {condition.__name__} is still {value!r}")
        time.sleep(every)
