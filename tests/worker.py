"""Real Celery workers for tests, forked from a process that has imported the project."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.db import connection
from kombu import pools

from config.celery import app

ROOT = Path(__file__).resolve().parent.parent


class Nursery:
    """A connection to ``tests/nursery.py``, which forks a worker in a tenth of a second.

    All processes of a run have one folder: the first that needs the nursery begins it.
    """

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.environment, self.port_file = environment, folder / "nursery.port"
        with (folder / "nursery.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.connection = self._connected() or self._begun()

    def request(self, *words: str | int) -> int:
        self.connection.sendall((" ".join(map(str, words)) + "\n").encode())
        return int(self.connection.recv(1024))

    def close(self) -> None:
        self.connection.close()

    def _connected(self) -> socket.socket | None:
        """Return a connection to the nursery that runs; None if it has ended, or is about to."""
        try:
            self.connection = socket.create_connection(("127.0.0.1", int(self.port_file.read_text())))
        except (FileNotFoundError, ConnectionError):
            return None
        try:
            self.request("alive", 0)
        except (ConnectionError, ValueError):
            self.connection.close()
            return None
        return self.connection

    def _begun(self) -> socket.socket:
        command = [sys.executable, "-m", "tests.nursery", str(self.port_file)]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)
        connection = self._connected()
        assert connection, "the nursery has ended"
        return connection


class Worker:
    def __init__(self, nursery: Nursery) -> None:
        self.nursery = nursery
        self.start()

    def start(self) -> None:
        self.pid = self.nursery.request("start", connection.settings_dict["NAME"])

    def is_alive(self) -> bool:
        return bool(self.nursery.request("alive", self.pid))

    def kill(self) -> None:
        """Kill the worker and its children without warning."""
        os.killpg(self.pid, signal.SIGKILL)
        wait_until(self.has_ended, seconds=10)

    def stop(self) -> None:
        """Kill the worker, too: the test's rows are deleted anyway."""
        if self.is_alive():
            self.kill()

    def has_ended(self) -> bool:
        return not self.is_alive()


@contextmanager
def running_nursery(folder: Path) -> Iterator[Nursery]:
    """Prepare workers on the current test database; ``Worker.start`` forks one. ``folder`` is one for the whole run."""
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
        "HEARTBEAT_SECONDS": "1",
        "WEBHOOK_PRIVATE_ADDRESSES": "true",  # a test's receiver is on this machine
    }
    nursery = Nursery(folder, environment)
    try:
        yield nursery
    finally:
        nursery.close()


@contextmanager
def running_worker(nursery: Nursery) -> Iterator[Worker]:
    """Start a worker, and point the queue of this process to its database."""
    previous, options = app.conf.broker_url, app.conf.broker_transport_options
    app.conf.broker_url = app.conf.broker_write_url = nursery.environment["CELERY_BROKER_URL"]
    app.conf.broker_transport_options = {**options, "conn_string": nursery.environment["DATABASE_URL"]}
    worker = Worker(nursery)
    try:
        yield worker
    finally:
        worker.stop()
        app.conf.broker_url = app.conf.broker_write_url = previous
        app.conf.broker_transport_options = options
        pools.reset()
        app._after_fork()  # forgets the closed pools, so that the next test opens its own


def wait_until(condition, *, seconds: float = 60, every: float = 0.1) -> None:  # type: ignore[no-untyped-def]
    """Poll until ``condition()`` is true, or raise an AssertionError that names it."""
    ends = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > ends:
            raise AssertionError(f"Not within {seconds} s: {condition.__name__} is still {value!r}")
        time.sleep(every)
