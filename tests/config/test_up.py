"""The command ``up`` starts all parts, starts those again that end, and stops all."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from config.management.commands.up import health_at, names_of, network_address
from tests.conftest import ROOT
from tests.worker import wait_until

PARTS = ("scheduler", "web", "worker-1", "database")
EXPIRED_SECONDS = 8  # a heartbeat that the killed scheduler sent has expired by then


@pytest.mark.parametrize(
    ("host", "names"),
    [("127.0.0.1", ("127.0.0.1", "127.0.0.1")), ("0.0.0.0", (network_address(), "127.0.0.1"))],
)
def test_the_shown_address_can_be_opened_in_a_browser(host: str, names: tuple[str, str]) -> None:
    assert names_of(host) == names


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

    def task_seconds_after(self, name: str, killed: psutil.Process) -> float:
        """Return how long after the part's new start a task came through; negative if none did or a part is missing."""
        health, part = health_at(self.address), self.part(name)
        if health is None or health["status"] != "ok" or part is None or part == killed:
            return -1
        return float(time.time() - part.create_time() - health["seconds_since_task"])


@contextmanager
def running_up(folder: Path, **variables: str) -> Iterator[Up]:
    overridden = ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if name not in overridden}
    with socket.create_server(("127.0.0.1", 0)) as probe:  # a port that no other run of the tests uses
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--host", "0.0.0.0", "--port", f"{port}", "--web-workers", "1"],
        cwd=ROOT,
        env=environment | {"ASSAY_DATA_DIR": str(folder), "HEARTBEAT_SECONDS": "1", **variables},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Up(process, folder)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.worker
def test_up_brings_each_killed_part_back_and_leaves_nothing(server_folder: Path) -> None:
    """In production behind a proxy that ends TLS. Each part takes seconds, also on a busy machine."""
    killed: dict[str, psutil.Process] = {}
    with running_up(server_folder, BEHIND_TLS="1", ALLOWED_HOSTS="assay.example.org") as up:
        # Both the printed host name and the given one are allowed hosts, and pages find the collected files.
        for name in (up.name, "assay.example.org"):
            headers = {"Host": name, "X-Forwarded-Proto": "https"}
            with urllib.request.urlopen(urllib.request.Request(f"{up.address}/", headers=headers)) as answer:
                assert re.search(r"/static/css/assay\.[0-9a-f]{12}\.css", answer.read().decode())
        for name in PARTS:
            part = up.part(name)
            assert part
            killed[name] = part
            part.kill()
            wait_until(lambda name=name, part=part: up.task_seconds_after(name, part) > 0, seconds=180)
        wait_until(lambda: up.task_seconds_after("scheduler", killed["scheduler"]) > EXPIRED_SECONDS)
        up.process.kill()
        wait_until(lambda: up.processes() == [])
        assert not (server_folder / "postgres" / "data" / "postmaster.pid").exists()
    with running_up(server_folder, DEBUG="1") as up:  # which goes on where the killed one ended
        up.process.send_signal(signal.SIGINT)
        rest = up.process.communicate(timeout=60)[0]
        assert up.process.returncode == 0
        assert rest.rstrip().endswith("stopped.")
        assert up.processes() == []
        assert not (server_folder / "postgres" / "data" / "postmaster.pid").exists()
