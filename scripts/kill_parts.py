"""End or stop each part of a running ``up`` in turn, and measure how long the product needs to be whole again.

    python -m scripts.kill_parts

In production mode behind TLS, with two processes for web and two workers. Whole again means: another process has
the part's place, ``/healthz`` is ok, a new task came through the queue, and ten pages in a row are answered.
"""

# ruff: noqa: E402 - the settings come before the first import that needs them

import argparse
import os
import secrets
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import django
import psutil

# Only names of the project are read here: the database is that of each `up`.
os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": "postgresql://none@127.0.0.1:1/none"}
os.environ["SECRET_KEY"] = secrets.token_hex(32)
django.setup()

from tests.up import Up, running_up

SECONDS = 30  # accepted
PATIENCE = 180
PARTS = ("web", "web process", "scheduler", "worker-1", "long_worker-1", "database")
HOST = "assay.example.org"


def process_of(up: Up, part: str) -> psutil.Process | None:
    if part != "web process":
        return up.part(part)
    web = up.part("web")
    children = web.children() if web else []
    return min(children, key=lambda child: child.pid) if children else None


def is_replaced(up: Up, part: str, ended: psutil.Process) -> bool:
    process = process_of(up, part)
    return process is not None and process != ended


def pages_answer(up: Up, n: int = 10) -> bool:
    headers = {"Host": HOST, "X-Forwarded-Proto": "https"}
    request = urllib.request.Request(f"{up.address}/accounts/login/", headers=headers)
    try:
        for _ in range(n):
            with urllib.request.urlopen(request, timeout=5):
                pass
    except OSError:
        return False
    return True


def seconds_until(is_so: Callable[[], bool], began: float) -> float:
    while not is_so():
        if time.monotonic() - began > PATIENCE:
            return float("inf")
        time.sleep(0.2)
    return time.monotonic() - began


def measure(up: Up, part: str, number: signal.Signals) -> float:
    process = process_of(up, part)
    if process is None:
        return float("inf")
    of_part = "web" if part == "web process" else part
    before = up.part(of_part) if part == "web process" else process
    began = time.monotonic()
    process.send_signal(number)

    def is_whole() -> bool:
        if not is_replaced(up, part, process) or not pages_answer(up):
            return False
        after = up.task_seconds_after(of_part, before)
        return up.is_well() if part == "web process" else after > 0

    return seconds_until(is_whole, began)


def new_up(folder: Path) -> float:
    """Start another ``up`` on the folder at once, as an init system does, and return when it is whole."""
    began = time.monotonic()
    with running_up(folder, 2, BEHIND_TLS="1", ALLOWED_HOSTS=HOST) as up:
        took = seconds_until(lambda: up.is_well() and pages_answer(up), began)
        up.process.send_signal(signal.SIGTERM)
        up.process.wait()
    return took


def report(part: str, how: str, seconds: float) -> bool:
    print(f"| {part} | {how} | {seconds:.1f} | {os.getloadavg()[0]:.0f} |", flush=True)
    return seconds <= SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=[*PARTS, "up"], choices=[*PARTS, "up"])
    options = parser.parse_args()
    print("| part | signal | seconds | load |\n| --- | --- | --- | --- |")
    results = []
    with tempfile.TemporaryDirectory(prefix="assay-kill-") as name:
        folder = Path(name)
        with running_up(folder, 2, BEHIND_TLS="1", ALLOWED_HOSTS=HOST) as up:
            cases = [(part, how) for part in options.parts for how in (signal.SIGKILL, signal.SIGSTOP) if part != "up"]
            results += [report(part, how.name, measure(up, part, how)) for part, how in cases]
        if "up" in options.parts:  # the end of the block has killed it
            results.append(report("up", "SIGKILL", new_up(folder)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
