"""The command ``up`` starts all parts, starts those again that end, and stops all."""

import re
import signal
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from django.core.management import CommandError

from annotation.core.progress import noop
from annotation.models import User
from config.checks import DEMO_PASSWORD
from config.management.commands import up as command
from config.management.commands.up import health_at, names_of, network_address, worker_queues
from tests.up import running_up
from tests.worker import wait_until

PARTS = ("scheduler", "web", "worker-1", "database")
EXPIRED_SECONDS = 8  # a heartbeat that the killed scheduler sent has expired by then


@pytest.mark.parametrize(
    ("host", "names"),
    [("127.0.0.1", ("127.0.0.1", "127.0.0.1")), ("0.0.0.0", (network_address(), "127.0.0.1"))],
)
def test_the_shown_address_can_be_opened_in_a_browser(host: str, names: tuple[str, str]) -> None:
    assert names_of(host) == names


@pytest.mark.parametrize("body", [b'{"web', b"[1]", b"5"])
def test_a_web_process_that_is_killed_while_it_answers_gives_no_answer(body: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        reader = ThreadPoolExecutor(1).submit(health_at, address)
        web, _ = server.accept()
        web.recv(4096)
        web.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (164 if b"{" in body else len(body), body))
        web.close()
        assert reader.result(timeout=60) is None


def test_one_worker_is_free_for_short_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "LONG", "long")
    assert worker_queues(2) == [("worker-1", "celery"), ("long_worker-1", "long"), ("long_worker-2", "long")]
    monkeypatch.setattr(command, "LONG", "celery")
    assert worker_queues(2) == [("worker-1", "celery"), ("worker-2", "celery")]


def test_the_terminal_says_why_up_refuses_to_start(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "call_command", lambda *_, **__: None)  # neither migrates nor loads the demo
    monkeypatch.setattr(command, "collect_changed", noop)
    User.objects.create_user("viewer", password=DEMO_PASSWORD)
    with pytest.raises(CommandError, match="'viewer' has the demo's password; change it"):
        command.Command().prepare()


@pytest.mark.worker
def test_up_brings_each_killed_part_back_and_leaves_nothing(server_folder: Path) -> None:
    """In production behind a proxy that ends TLS. Each part takes seconds, also on a busy machine."""
    killed: dict[str, psutil.Process] = {}
    with running_up(server_folder, BEHIND_TLS="1", ALLOWED_HOSTS="assay.example.org", ASSAY_WORKERS="1") as up:
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
