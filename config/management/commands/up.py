"""Start all processes of Assay, and stop them in order."""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from types import FrameType
from typing import Any

import psutil
from celery.signals import worker_shutting_down
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand
from django.db import connections
from django.urls import get_resolver

from annotation.core.heartbeats import heartbeats_forget
from annotation.core.progress import noop
from annotation.core.queues import LONG, SHORT
from config.celery import app, liveness
from config.checks import refuse_to_serve
from config.claims import FolderClaim, FolderInUseError
from config.demo import demo_banner
from config.embedded_postgres import port_is_free
from config.forks import CAN_FORK, fork, run_command
from config.health import problems
from config.static_files import collect_changed
from config.supervision import STUCK_SECONDS, Database, Part, Process, Watch

STOP_SECONDS = 20
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - only where the user asks for it
START_SECONDS = 180  # until all parts work for the first time, on a slow and busy machine
FAILED_STARTS_AT_MOST = 3  # of a part, until then; later a part is always started again
NEEDED_BY_PARTS = (  # besides the project
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.solo",
    "celery.worker.consumer",
    "gunicorn.app.wsgiapp",
    "gunicorn.workers.gthread",
    "kombu.transport.pgmq",
)


class Command(BaseCommand):
    help = (
        "Start the database (unless DATABASE_URL names one), migrate, load the demo if ASSAY_DEMO is set, start web, "
        "scheduler and workers, start each again that ends or no longer works, and stop everything on Ctrl-C. "
        "For one machine; docs/deployment.md shows each part by itself."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--host", default=LOOPBACK, help="address to listen on; 0.0.0.0 lets the network in (default: %(default)s)"
        )
        parser.add_argument("--port", type=int, default=8000, help="the next free one is taken if busy (default: 8000)")
        parser.add_argument("--web-workers", type=int, default=2, help="web processes, 8 threads each (default: 2)")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stopping = False
        self.parts: list[Part] = []
        self.handle_signals()
        try:
            claim = FolderClaim(settings.DATA_DIR, self.report)
        except FolderInUseError as error:
            raise CommandError(str(error)) from error
        try:
            import_parts()
            self.in_child(self.prepare)
            host, port = options["host"], free_port(options["host"], options["port"])
            if port != options["port"]:
                self.report(f"Port {options['port']} is taken by another program: {port} is used.\n")
            name, near = names_of(host)
            claim.describe(f"http://{name}:{port}")
            # The parts answer to the name that is shown and to the one that is asked for health, too.
            settings.ALLOWED_HOSTS += [name, near]
            os.environ["ALLOWED_HOSTS"] = ",".join(settings.ALLOWED_HOSTS)
            # This command has run the checks: each worker would run them again, on 13 MiB that it need not copy.
            os.environ["CELERY_SKIP_CHECKS"] = "1"
            if not self.stopping:
                self.start_parts(host, port, options["web_workers"])
            watch = Watch(self.parts, lambda: health_at(f"http://{near}:{port}"), self.report)
            self.wait_until_healthy(watch)
            if not self.stopping:
                self.announce(f"http://{name}:{port}")
            while not self.stopping:
                watch.look()
                self.sleep(0.3)
        finally:
            self.stop()
            claim.close()

    def handle_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.on_signal)
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup has it ignore the end of the terminal
            signal.signal(signal.SIGHUP, self.on_signal)
        signal.signal(signal.SIGCHLD, noop)
        self.signals, writer = os.pipe()
        for end in (self.signals, writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def sleep(self, seconds: float) -> None:
        """Wait, but not longer than to the next signal: a part that ends sends one."""
        if select.select([self.signals], [], [], seconds)[0]:
            os.read(self.signals, 4096)

    def in_child(self, work: Callable[[], None]) -> None:
        """Do it in a child process, so that neither its memory nor its threads stay with the process that forks."""
        if not CAN_FORK:
            work()
            return
        child = fork(partial(self.do_or_exit, work), name=work.__name__)
        while (status := ended(child)) is None:
            if self.stopping:
                child.terminate()
            self.sleep(1)
        if status and not self.stopping:
            sys.exit(status)

    def do_or_exit(self, work: Callable[[], None]) -> None:
        try:
            work()
        except CommandError as error:
            self.stderr.write(f"CommandError: {error}")
            sys.exit(error.returncode)

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True

    def report(self, message: str) -> None:
        """Write to the terminal, if it is still there: the parts run on without one."""
        with suppress(OSError):
            self.stderr.write(message)
            self.stderr.flush()

    def announce(self, address: str) -> None:
        self.stdout.write(demo_banner(address) if settings.DEMO else f"Assay: {address}")
        connections.close_all()  # a part that starts again is forked without
        if settings.BEHIND_TLS:
            self.stdout.write("Open it through the proxy that ends TLS (BEHIND_TLS).")
        self.stdout.write(f"Logs: {settings.DATA_DIR / 'log'}    Stop: Ctrl-C")
        self.stdout.flush()

    def prepare(self) -> None:
        self.stdout.write("Database ...", ending=" ")
        call_command("migrate", interactive=False, verbosity=0)
        if not settings.DEBUG:
            collect_changed()
        self.stdout.write("ready.")
        if settings.DEMO:
            call_command("load_demo")
        try:
            refuse_to_serve()  # each part would, too, but only its log would say why
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        heartbeats_forget()
        if settings.MONITORING_DIR:
            for counts in settings.MONITORING_DIR.glob("*.db"):  # of processes of an earlier start
                counts.unlink()
        connections.close_all()

    def start_parts(self, host: str, port: int, web_workers: int) -> None:
        logs = settings.DATA_DIR / "log"
        logs.mkdir(parents=True, exist_ok=True)
        if settings.EMBEDDED_POSTGRES:
            self.parts.append(Database(settings.EMBEDDED_POSTGRES))
        processes = f"--bind {host}:{port} --workers {web_workers} --threads 8 --worker-class gthread"
        # A process gives gunicorn a sign of life each second, whatever its threads do.
        ends = f"--timeout {STUCK_SECONDS} --graceful-timeout {STOP_SECONDS // 2} --no-control-socket"
        web = ("gunicorn", "config.wsgi", *processes.split(), *ends.split())
        celery = ("celery", "--quiet", "-A", "config")
        scheduler = (*celery, "beat", "--loglevel=info", "--pidfile=")
        alone = ("--without-gossip", "--without-mingle", "--without-heartbeat")
        worker = (*celery, "worker", "--loglevel=info", *alone)
        mains = {"web": partial(run_part, web), "scheduler": partial(run_part, scheduler)}
        for name, queue in worker_queues(settings.WORKERS):
            mains[name] = partial(run_worker, (*worker, f"--hostname={name}@%h", f"--queues={queue}"))
        gc.freeze()  # what is imported by now stays shared with the forked parts
        for name, main in mains.items():
            self.parts.append(Process(name, main, log=logs / f"{name}.log"))

    def wait_until_healthy(self, watch: Watch) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self.stopping:
            body = watch.health()
            states = {"web": "no answer"} if body is None else problems(body)
            disk = states.pop("disk", None)
            if not states:
                if disk:
                    self.report(f"Disk: {disk}.")
                return
            watch.revive()
            failed = next((part for part in self.parts if part.failures >= FAILED_STARTS_AT_MOST), None)
            if failed:
                raise CommandError(f"{failed.name} ended {failed.failures} times; see {settings.DATA_DIR / 'log'}.")
            if time.monotonic() > deadline:
                listed = ", ".join(f"{name}: {state}" for name, state in states.items())
                raise CommandError(f"Not up within {START_SECONDS} s ({listed}); see {settings.DATA_DIR / 'log'}.")
            self.sleep(0.1)

    def stop(self) -> None:
        with suppress(OSError):
            self.stdout.write("\nStopping ...", ending=" ")
            self.stdout.flush()
        processes = [part for part in self.parts if isinstance(part, Process)]
        for process in processes:
            process.ask_to_stop()
        deadline = time.monotonic() + STOP_SECONDS
        for process in processes:
            process.wait_or_kill(deadline)
        connections.close_all()
        if settings.EMBEDDED_POSTGRES:
            settings.EMBEDDED_POSTGRES.release()
        with suppress(OSError):
            self.stdout.write("stopped.")


def import_parts() -> None:
    """Import what all parts need: they are forked from this process, and share it.

    What few of them use is not imported here but where it computes (``banned-module-level-imports`` in pyproject.toml).
    """
    get_resolver().url_patterns  # noqa: B018 - imports all views
    app.loader.import_default_modules()
    for name in NEEDED_BY_PARTS:
        importlib.import_module(name)


def run_part(words: Sequence[str], pulse: int) -> None:
    os.close(pulse)
    run_command(words)


def run_worker(words: Sequence[str], pulse: int) -> None:
    liveness.pulse = pulse
    worker_shutting_down.connect(end_in_time)
    run_command(words)


def end_in_time(**_: Any) -> None:
    """End a worker that was asked to and has a long task in progress, also if no one is left to do it."""
    timer = threading.Timer(STOP_SECONDS, os.killpg, (os.getpgrp(), signal.SIGKILL))
    timer.daemon = True
    timer.start()


def ended(child: psutil.Process) -> int | None:
    """Return the status of a child that has ended."""
    try:
        return int(child.wait(timeout=0))
    except psutil.TimeoutExpired:
        return None


def worker_queues(count: int) -> list[tuple[str, str]]:
    """Return the names of workers, each with its queue: of ``count`` for long work, and of one that is free for short.

    A worker that read two queues would wait for a message of one while the other has one.
    """
    if LONG == SHORT:
        return [(f"worker-{number}", SHORT) for number in range(1, count + 1)]
    return [("worker-1", SHORT), *((f"long_worker-{number}", LONG) for number in range(1, count + 1))]


def health_at(address: str) -> dict[str, Any] | None:
    """Return what /healthz answers; None if it does not."""
    try:
        try:
            answer = urllib.request.urlopen(f"{address}/healthz", timeout=5)  # noqa: S310 - a local address
        except urllib.error.HTTPError as degraded:  # its body names the part that does not work
            answer = degraded
        with answer:
            return dict(json.load(answer))
    except (ValueError, TypeError, OSError, HTTPException):  # nothing listens, another program, or one that is killed
        return None


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
