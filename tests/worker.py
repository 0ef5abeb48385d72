"""Real Celery workers for tests, forked from a process that has imported the project."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import django
from django.db import connection, connections
from kombu import pools

from config.celery import app

ROOT = Path(__file__).resolve().parent.parent


class Nursery:
    """A process that imports the project once and forks workers, each in a tenth of a second.

    It and its workers end with the process that started it, which holds its standard input.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.worker"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def request(self, *words: str | int) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


def serve_forks() -> None:
    """Serve one request per line: ``start 0`` forks a worker, ``alive PID`` tells whether one still runs."""
    django.setup()
    from celery.bin.celery import celery  # its imports need the app registry

    app.loader.import_default_modules()
    connections.close_all()
    running: set[int] = set()
    for line in sys.stdin:
        verb, argument = line.split()
        if verb == "start":
            pid = os.fork()
            if not pid:
                _work(celery)
            running.add(pid)
            answer = pid
        else:
            pid = int(argument)
            if pid in running and os.waitpid(pid, os.WNOHANG)[0]:
                running.discard(pid)
            answer = int(pid in running)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    for pid in running:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _work(celery: Any) -> None:
    """Become a worker with its own process group and without the nursery's pipes."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    arguments = [
        *("--quiet", "-A", "config", "worker", "--beat", "--loglevel=warning"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]
    sys.argv = ["celery", *arguments]
    status = 1
    try:
        celery(arguments, standalone_mode=False)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(status)


class Worker:
    def __init__(self, nursery: Nursery) -> None:
        self.nursery = nursery
        self.start()

    def start(self) -> None:
        self.pid = self.nursery.request("start", 0)

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
def running_nursery() -> Iterator[Nursery]:
    """Prepare workers on the current test database; ``Worker.start`` forks one."""
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
    nursery = Nursery(environment)
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


if __name__ == "__main__":
    serve_forks()
