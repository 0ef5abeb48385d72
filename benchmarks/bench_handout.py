"""Fifty raters at once against a real server: how long a unit and an answer take, and how many ratings a second.

python -m benchmarks.bench_handout

Starts a PostgreSQL and a gunicorn of its own on loopback, and ends both. The raters are threads of this process that
never pause to think, on the same machine as the server: what they measure is the server under full load.
"""

from __future__ import annotations

import http.client
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt

from config.embedded_postgres import EmbeddedPostgres

ROOT = Path(__file__).resolve().parent.parent
RATERS, SECONDS, MOST_RATINGS = 50, 20.0, 3000
ITEMS, SYSTEMS, RATINGS_PER_UNIT, CRITERIA = 2000, 5, 5, 2
WORKERS, THREADS = 2, 8

TOKEN = re.compile(r'name="token" value="([0-9a-f-]+)"')
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
FIELD = re.compile(r'name="(r\d+-[\w.-]+)" value="3"')


@dataclass
class Browser:
    """One rater: a kept connection, cookies, and the times of its requests."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    handed_out: list[float] = field(default_factory=list)
    submitted: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def send(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str, float]:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(form) if form is not None else None
        began = time.perf_counter()
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # the server closed a connection that lay idle
            self.connection.close()
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        text = answer.read().decode()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
        return answer.status, text, time.perf_counter() - began

    def join(self, link: str) -> None:
        _, page, _ = self.send("GET", link)
        status, _, _ = self.send("POST", f"{link}consent/", {"csrfmiddlewaretoken": _only(CSRF, page)})
        if status != 302:
            raise RuntimeError(f"Joining was answered with status {status}.")

    def rate(self, link: str) -> bool:
        status, page, seconds = self.send("GET", f"{link}work/")
        if status == 302:
            return False
        self.handed_out.append(seconds)
        form = {"csrfmiddlewaretoken": _only(CSRF, page), "token": _only(TOKEN, page)}
        status, _, seconds = self.send("POST", f"{link}submit/", form | dict.fromkeys(FIELD.findall(page), "3"))
        if status != 302:
            raise RuntimeError(f"An answer was refused with status {status}.")
        self.submitted.append(seconds)
        return True


def run() -> list[dict[str, Any]]:
    with server() as (port, link):
        browsers, elapsed = drive(port, link)
    handed_out = 1000 * np.concatenate([browser.handed_out for browser in browsers])
    submitted = 1000 * np.concatenate([browser.submitted for browser in browsers])
    setting = f"{RATERS} raters at once, {ITEMS * SYSTEMS * RATINGS_PER_UNIT:,} slots"
    return [
        _latency(f"A unit handed out and its page sent, {setting}: median", handed_out),
        _latency(f"An answer ({CRITERIA} ratings) taken in, {setting}: median", submitted),
        {
            "name": f"Answers a second, {setting}",
            "value": len(submitted) / elapsed,
            "unit": "answers/s",
            "against": f"{CRITERIA} ratings each; {WORKERS} workers of {THREADS} threads, {elapsed:.0f} s",
            "ratio": None,
            "target": "to be reported",
        },
    ]


def _latency(name: str, milliseconds: npt.NDArray[np.float64]) -> dict[str, Any]:
    median, high = np.percentile(milliseconds, [50, 95])
    return {
        "name": name,
        "value": float(median),
        "unit": "ms",
        "against": f"95th percentile: {high:.0f} ms, of {len(milliseconds):,} requests",
        "ratio": None,
        "target": "to be reported",
    }


def drive(port: int, link: str) -> tuple[list[Browser], float]:
    """All raters join, wait for each other, and rate until the time or the number of answers is reached."""
    browsers = [Browser(port) for _ in range(RATERS)]
    start = Barrier(RATERS + 1)

    def work(browser: Browser) -> None:
        browser.join(link)
        start.wait(60)
        ends = time.perf_counter() + SECONDS
        while time.perf_counter() < ends and len(browser.submitted) < MOST_RATINGS / RATERS:
            if not browser.rate(link):
                return

    with ThreadPoolExecutor(RATERS) as pool:
        tasks = [pool.submit(work, browser) for browser in browsers]
        start.wait(60)
        began = time.perf_counter()
        for task in tasks:
            task.result()
        return browsers, time.perf_counter() - began


@contextmanager
def server() -> Iterator[tuple[int, str]]:
    """A database with a running campaign and a gunicorn before it: its port, and the path of the rater link."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        home = Path(folder)
        home.chmod(0o755)  # the database runs under an account of its own
        database = EmbeddedPostgres(home / "postgres")
        database.hold()
        environment = {
            **os.environ,
            "DATABASE_URL": database.url(),
            "ASSAY_DATA_DIR": str(home),
            "SECRET_KEY": secrets.token_urlsafe(50),
            "DEBUG": "0",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        try:
            for command in (["migrate", "-v0"], ["collectstatic", "-v0", "--noinput"]):
                subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)
            prepare = [sys.executable, "-m", "benchmarks.bench_handout", "prepare"]
            done = subprocess.run(prepare, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
            with gunicorn(environment, home / "web.log") as port:
                yield port, f"/r/{done.stdout.split()[-1]}/"
        finally:
            database.release()


@contextmanager
def gunicorn(environment: dict[str, str], log: Path) -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}", "--workers", str(WORKERS),
             "--threads", str(THREADS), "--worker-class", "gthread"],
            cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _wait_for(port, process, log)
            yield port
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"gunicorn ended with status {process.returncode}:\n{log.read_text()[-2000:]}")
        try:
            Browser(port).send("GET", "/healthz")
        except ConnectionRefusedError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"gunicorn did not answer on port {port} within 30 s.")


def prepare() -> None:
    """In a process of its own: fill the database, launch the campaign, print its link token."""
    import django

    django.setup()
    from annotation.models import Dataset, Item, Project, Response, ResponseSource, SourceKind, System
    from annotation.services.campaigns import CampaignDraft, CriterionDraft, campaign_create, campaign_launch

    project = Project.objects.create(name="Benchmark", slug="benchmark")
    dataset = Dataset.objects.create(project=project, name="Benchmark", slug="benchmark")
    systems = System.objects.bulk_create(System(dataset=dataset, name=f"System {n}") for n in range(SYSTEMS))
    items = Item.objects.bulk_create(
        Item(dataset=dataset, external_id=str(n), position=n, context=["Hello.", "Hi!"], message=f"What is {n}?")
        for n in range(ITEMS)
    )
    pairs = [(item, system) for item in items for system in systems]
    responses = Response.objects.bulk_create(
        Response(item=item, text=f"{system.name} says {item.position}.", text_key=f"{system.name}")
        for item, system in pairs
    )
    ResponseSource.objects.bulk_create(
        ResponseSource(response=response, item=item, kind=SourceKind.SYSTEM, system=system)
        for response, (item, system) in zip(responses, pairs, strict=True)
    )
    criteria = [CriterionDraft(f"criterion-{n}", f"How good is it in respect {n}?") for n in range(CRITERIA)]
    draft = CampaignDraft(dataset, "Benchmark", criteria, ratings_per_unit=RATINGS_PER_UNIT)
    print(campaign_launch(campaign=campaign_create(project=project, draft=draft)).link_token)


def _only(pattern: re.Pattern[str], page: str) -> str:
    match = pattern.search(page)
    if match is None:
        raise RuntimeError(f"The page has no {pattern.pattern!r}.")
    return match[1]


def main() -> None:
    for row in run():
        print(f"{row['name']}: {row['value']:.1f} {row['unit']} ({row['against']})")


if __name__ == "__main__":
    prepare() if "prepare" in sys.argv[1:] else main()
