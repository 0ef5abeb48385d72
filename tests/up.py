"""A running ``manage.py up``, whose parts can be ended."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from config.management.commands.up import health_at


class Up:
    """A running ``manage.py up``, as its processes and its health show it."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process, self.folder = process, folder
        self.name = self.address = ""
        assert process.stdout
        for line in process.stdout:
            if shown := re.search(r"http://([\d.]+:(\d+))", line):
                self.name, self.address = shown[1], f"http://127.0.0.1:{shown[2]}"
                break
        assert self.address, "it ended before it printed an address"

    def processes(self) -> list[psutil.Process]:
        """Return all processes that use the data folder, orphans included."""
        users = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("ASSAY_DATA_DIR") == str(self.folder):
                    users.append(process)
        return users

    def part(self, name: str) -> psutil.Process | None:
        with suppress(psutil.Error, FileNotFoundError, StopIteration, ValueError):
            if name == "database":
                return psutil.Process(int((self.folder / "postgres/data/postmaster.pid").read_text().split()[0]))
            children = psutil.Process(self.process.pid).children()
            return next(child for child in children if child.name() == f"assay {name}")
        return None

    def is_well(self) -> bool:
        health = health_at(self.address)
        return health is not None and health["status"] == "ok"

    def task_seconds_after(self, name: str, killed: psutil.Process) -> float:
        """Return how long after the part's new start a task came through; negative if none did or a part is missing."""
        health, part = health_at(self.address), self.part(name)
        if health is None or health["status"] != "ok" or part is None or part == killed:
            return -1
        return float(time.time() - part.create_time() - health["seconds_since_task"])


@contextmanager
def running_up(folder: Path, web_workers: int = 1, **variables: str) -> Iterator[Up]:
    overridden = ("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "ASSAY_LONG_QUEUE")
    environment = {name: value for name, value in os.environ.items() if name not in overridden}
    with socket.create_server(("127.0.0.1", 0)) as probe:  # a port that no other run of the tests uses
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            sys.executable,
            "manage.py",
            "up",
            "--host",
            "0.0.0.0",
            "--port",
            f"{port}",
            "--web-workers",
            f"{web_workers}",
        ],
        cwd=Path(__file__).resolve().parent.parent,
        env=environment | {"ASSAY_DATA_DIR": str(folder), "HEARTBEAT_SECONDS": "1", **variables},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Up(process, folder)
    finally:
        process.kill()
        process.communicate()
