"""Start all processes of Assay, and stop them in order."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand
from django.db import connections

from annotation.core.jobs import heartbeat_forget
from config.demo import demo_banner
from config.embedded_postgres import port_is_free

STOP_SECONDS = 20
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - only where the user asks for it
RESTART_AT_MOST = 5


class Part:
    """A child process in a separate session: Ctrl-C reaches only its parent, which stops the parts in order."""

    def __init__(self, name: str, *command: str, log: Path) -> None:
        self.name, self.command, self.log, self.starts = name, command, log, 0
        self.start()

    def start(self) -> None:
        self.starts += 1
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                self.command,
                cwd=settings.BASE_DIR,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask_to_stop(self) -> None:
        if self.alive:
            self.process.send_signal(signal.SIGTERM)

    def wait_or_kill(self, deadline: float) -> None:
        try:
            self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Command(BaseCommand):
    help = (
        "Start the database (unless DATABASE_URL names one), migrate, load the demo if ASSAY_DEMO is set, start web "
        "and worker, and stop everything on Ctrl-C. For one machine; docs/deployment.md shows each part by itself."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--host", default=LOOPBACK, help="address to listen on; 0.0.0.0 lets the network in (default: %(default)s)"
        )
        parser.add_argument("--port", type=int, default=8000, help="the next free one is taken if busy (default: 8000)")
        parser.add_argument("--web-workers", type=int, default=2, help="web processes, 8 threads each (default: 2)")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stopping = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.on_signal)
        self.prepare()
        host, port = options["host"], free_port(options["host"], options["port"])
        name, near = names_of(host)
        # The parts inherit it and answer to this name, too.
        os.environ["ALLOWED_HOSTS"] = ",".join([*settings.ALLOWED_HOSTS, name])
        parts = self.start_parts(host, port, options["web_workers"])
        try:
            self.wait_until_healthy(parts, f"http://{near}:{port}")
            if not self.stopping:
                address = f"http://{name}:{port}"
                self.stdout.write(demo_banner(address) if settings.DEMO else f"Assay: {address}")
                self.stdout.write(f"Logs: {settings.DATA_DIR / 'log'}    Stop: Ctrl-C")
                self.stdout.flush()
            self.watch(parts)
        finally:
            self.stop(parts)

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def prepare(self) -> None:
        self.stdout.write("Database ...", ending=" ")
        call_command("migrate", interactive=False, verbosity=0)
        if not settings.DEBUG:
            call_command("collectstatic", interactive=False, verbosity=0)
        self.stdout.write("ready.")
        if settings.DEMO and not self.stopping:
            call_command("load_demo")
        heartbeat_forget("worker")
        connections.close_all()

    def start_parts(self, host: str, port: int, web_workers: int) -> list[Part]:
        logs = settings.DATA_DIR / "log"
        logs.mkdir(parents=True, exist_ok=True)
        processes = f"--bind {host}:{port} --workers {web_workers} --threads 8 --worker-class gthread"
        web = ("gunicorn", "config.wsgi", *processes.split(), "--graceful-timeout", str(STOP_SECONDS // 2))
        alone = ("--without-gossip", "--without-mingle", "--without-heartbeat")
        schedule = ("--beat", "--schedule", settings.CELERY_BEAT_SCHEDULE_FILENAME)
        worker = ("celery", "--quiet", "-A", "config", "worker", *schedule, "--loglevel=info", *alone)
        return [
            Part(name, sys.executable, "-m", *command, log=logs / f"{name}.log")
            for name, command in (("web", web), ("worker", worker))
        ]

    def wait_until_healthy(self, parts: list[Part], address: str) -> None:
        deadline = time.monotonic() + 60
        while not self.stopping and not is_healthy(address):
            self.revive(parts)
            if time.monotonic() > deadline:
                raise CommandError(f"Web or worker did not come up within 60 s; see {settings.DATA_DIR / 'log'}.")
            time.sleep(0.1)

    def watch(self, parts: list[Part]) -> None:
        while not self.stopping:
            self.revive(parts)
            time.sleep(0.3)

    def revive(self, parts: list[Part]) -> None:
        for part in parts:
            if part.alive or self.stopping:
                continue
            if part.starts >= RESTART_AT_MOST:
                raise CommandError(f"{part.name} ended {part.starts} times; see {part.log}.")
            self.stderr.write(f"{part.name} ended with status {part.process.returncode}; starting it again.")
            part.start()

    def stop(self, parts: list[Part]) -> None:
        self.stdout.write("\nStopping ...", ending=" ")
        self.stdout.flush()
        for part in parts:
            part.ask_to_stop()
        deadline = time.monotonic() + STOP_SECONDS
        for part in parts:
            part.wait_or_kill(deadline)
        connections.close_all()
        if settings.EMBEDDED_POSTGRES:
            settings.EMBEDDED_POSTGRES.release()
        self.stdout.write("stopped.")


def is_healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=5) as answer:  # noqa: S310 - a local address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def names_of(host: str) -> tuple[str, str]:
    """Return the address to show for a host to listen on, and the address to reach it from this machine."""
    return (network_address(), LOOPBACK) if host == EVERYWHERE else (host, host)


def network_address() -> str:
    """Return this machine's address in its network, from the routing table; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documentation, RFC 5737
        except OSError:
            return LOOPBACK
        return str(probe.getsockname()[0])


def free_port(host: str, first: int) -> int:
    port = next((port for port in range(first, min(first + 50, 65536)) if port_is_free(host, port)), None)
    if port is None:
        raise CommandError(f"No free port on {host} from {first} to {first + 49}; choose one with --port.")
    return port
