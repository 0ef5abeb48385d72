"""An installation of Assay as separate processes, on servers that a test has started."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import dj_database_url
import httpx
from django.conf import settings
from django.db import connection
from django.test.utils import override_settings
from kombu import pools

from config.celery import app
from tests.services.servers import LOOPBACK, free_port
from tests.worker import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
LEASE_SECONDS = 3
QUIET = ("--loglevel=info", "--without-gossip", "--without-mingle", "--without-heartbeat")


class Site:
    """Web, workers and scheduler, each with a data folder of its own; indexes of corpora and models are in one."""

    def __init__(self, folder: Path, database: str, *, broker: str = "", pooler: str = "") -> None:
        self.folder, self.database, self.pooler = folder, database, pooler
        self.broker = broker or urlunsplit(urlsplit(database)._replace(scheme="pgmq"))
        self.shared = {"ASSAY_CORPORA_DIR": folder / "corpora", "ASSAY_MODELS_DIR": folder / "models"}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def environment(self, name: str, **variables: str) -> dict[str, str]:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.services.settings",
            "DATABASE_URL": self.database,
            "DATABASE_POOLER_URL": self.pooler,
            "CELERY_BROKER_URL": self.broker,
            "CELERY_VISIBILITY_TIMEOUT": "5",
            "JOB_LEASE_SECONDS": f"{LEASE_SECONDS}",
            "LOG_LEVEL": "INFO",
            "SWEEP_SECONDS": "1",
            "HEARTBEAT_SECONDS": "1",
            "ASSAY_DATA_DIR": f"{home}",
            "ASSAY_LONG_QUEUE": "long",
            **{variable: f"{path}" for variable, path in self.shared.items()},
            **variables,
        }

    def run(self, *words: str) -> str:
        """Run a command of ``manage.py`` and return what it printed, whether it failed or not."""
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment("command"), capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def start(self, name: str, command: list[str], *, host: str = "", **variables: str) -> None:
        """Start a process with a group of its own; ``host`` is the network namespace that it has."""
        within = ["ip", "netns", "exec", host] if host else []
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*within, *command],
                cwd=ROOT,
                env=self.environment(name, **variables),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_worker(self, name: str, *options: str, host: str = "", **variables: str) -> None:
        celery = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker"]
        command = [*celery, f"--hostname={name}@test", "--include=tests.services.tasks", *QUIET, *options]
        self.start(name, command, host=host, **variables)

    def start_beat(self) -> None:
        schedule = f"--schedule={self.folder / 'schedule'}"
        self.start("beat", [sys.executable, "-m", "celery", "--quiet", "-A", "config", "beat", schedule, "--pidfile="])

    def start_web(self) -> None:
        self.port = free_port()
        address = f"{LOOPBACK}:{self.port}"
        self.start(
            "web",
            [sys.executable, "-m", "gunicorn", "config.wsgi", f"--bind={address}", "--workers=2", "--threads=4"],
        )
        wait_until(self.web_answers, seconds=120)

    def web_answers(self) -> bool:
        assert self.processes["web"].poll() is None, self.log("web")
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.address}/healthz", timeout=10).status_code in (200, 503)
        return False

    def is_well(self) -> bool:
        with suppress(httpx.TransportError):
            return bool(httpx.get(f"{self.address}/healthz", timeout=10).json()["status"] == "ok")
        return False

    def kill(self, name: str) -> None:
        """Kill a process and its children without warning."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes.pop(name).wait()

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def errors(self, name: str) -> str:
        """Return the lines of errors; until all parts are well, the address of health answers with one."""
        lines = (line for line in self.log(name).splitlines() if "/healthz" not in line)
        return "\n".join(line for line in lines if "Traceback" in line or '"error"' in line)

    def end(self) -> None:
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        ends = time.monotonic() + 20
        for process in self.processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(ends - time.monotonic(), 0.1))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    @contextmanager
    def here(self) -> Iterator[None]:
        """Let this process use the site's database and queue."""
        previous, conf = dict(connection.settings_dict), app.conf
        broker = conf.broker_url, conf.broker_transport_options
        connection.close()
        connection.settings_dict.update(dj_database_url.parse(self.pooler or self.database))
        connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] = bool(self.pooler)
        conf.broker_url = conf.broker_write_url = self.broker
        if self.broker.startswith("pgmq:"):
            conf.broker_transport_options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, "conn_string": self.database}
        else:
            conf.broker_transport_options = {}
        _forget_connections()
        try:
            with override_settings(
                DATABASE_POOLER_URL=self.pooler,
                CORPORA_DIR=self.shared["ASSAY_CORPORA_DIR"],
                JOB_LEASE_SECONDS=LEASE_SECONDS,
            ):
                yield
        finally:
            connection.close()
            connection.settings_dict.clear()
            connection.settings_dict.update(previous)
            conf.broker_url = conf.broker_write_url = broker[0]
            conf.broker_transport_options = broker[1]
            _forget_connections()


def _forget_connections() -> None:
    pools.reset()
    app._after_fork()


@contextmanager
def running_site(folder: Path, database: str, *, broker: str = "", pooler: str = "") -> Iterator[Site]:
    """Yield an installation with its tables, without a process; end those that the block starts."""
    site = Site(folder, database, broker=broker, pooler=pooler)
    printed = site.run("migrate", "--verbosity=0")
    assert not printed.strip(), printed
    try:
        with site.here():
            yield site
    finally:
        site.end()
