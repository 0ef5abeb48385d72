"""Two hundred concurrent raters on a real server, undisturbed, then while its parts are killed; twenty in a hurry.

python -m benchmarks.bench_handout [--seconds 300] [--hurried]

Starts a PostgreSQL, a gunicorn and a Celery worker of its own on loopback, and ends all three. The raters are simulated
in a process of their own, on the same machine as the server: each reads a screen for a drawn time (log-normal, median
``THINK`` seconds), sends its answer as the product's own script does (one request brings the next screen back) and
repeats it after a fault, with the same token. Twenty raters without thinking time then show what an answer costs.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg

from benchmarks.raters import THINK
from config.embedded_postgres import EmbeddedPostgres

ROOT = Path(__file__).resolve().parent.parent
RATERS, SECONDS, FAULT_SECONDS = 200, 300, 75
ITEMS, SYSTEMS, RATINGS_PER_UNIT, CRITERIA = 4000, 5, 10, 2
WORKERS, THREADS = 2, 8
P95_MS = 500
HURRIED, HURRIED_ITEMS, HURRIED_RATINGS, HURRIED_SECONDS = 20, 200, 3, 60
ANSWER_MS, ANSWERS_A_SECOND = 6, 250


def run(seconds: int = SECONDS) -> list[dict[str, Any]]:
    with running(Design(ITEMS, RATINGS_PER_UNIT, CRITERIA)) as stack:
        steady = stack.load(seconds)
        faults = [(15, stack.kill_web), (30, stack.kill_worker), (45, stack.crash_database)]
        faulty = stack.load(FAULT_SECONDS, faults)
        counts = stack.examine([*steady["answers"], *faulty["answers"]], CRITERIA)
    return [*rows(steady, faulty, counts), *hurried()]


def hurried() -> list[dict[str, Any]]:
    """Measure raters who answer as fast as they get screens, until everything is rated or time is over."""
    with running(Design(HURRIED_ITEMS, HURRIED_RATINGS, 1)) as stack:
        stack.load(3, raters=HURRIED, think=0.0)  # every process has answered, and remembers the campaign
        before = stack.processor_seconds()
        load = stack.load(HURRIED_SECONDS, raters=HURRIED, think=0.0)
        after = stack.processor_seconds()
        counts = stack.examine(load["answers"], 1)
    n = len(load["answers"])
    taken = 1000 * np.array([answer["seconds"] for answer in load["answers"]])
    lasted = max(answer["at"] for answer in load["answers"])
    each = {part: 1000 * (after[part] - before[part]) / n for part in after}
    wrong = sum(value for name, value in counts.items() if name != "acknowledged")
    setting = f"{HURRIED} raters without thinking time, {HURRIED_ITEMS * SYSTEMS:,} outputs × {HURRIED_RATINGS}"
    parts = ", ".join(f"{part} {value:.1f}" for part, value in each.items())
    whole = sum(each.values())
    return [
        _row(f"An answer and the next screen, {setting}: processor", whole, "ms", parts, whole / ANSWER_MS, "up to 1"),
        _row(
            "… answers a second",
            n / lasted,
            "answers/s",
            f"{ANSWERS_A_SECOND}; median {np.median(taken):.0f} ms; the raters ran on the same cores",
            n / lasted / ANSWERS_A_SECOND,
            "1 or more",
        ),
        _row(
            "… answers lost or stored twice, slots filled twice, units miscounted",
            float(wrong),
            "faults",
            f"{n:,} answers",
            target="0",
        ),
    ]


@dataclass(frozen=True)
class Design:
    """The campaign that is rated."""

    items: int  # each with the outputs of five systems
    ratings_per_unit: int
    criteria: int


@contextmanager
def running(design: Design) -> Iterator[Stack]:
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        home = Path(folder)
        home.chmod(0o755)  # the database runs under an account of its own
        stack = Stack(home, design)
        try:
            stack.start()
            yield stack
        finally:
            stack.stop()


def rows(steady: dict[str, Any], faulty: dict[str, Any], counts: dict[str, int]) -> list[dict[str, Any]]:
    setting = f"{RATERS} raters at once, {steady['seconds']:.0f} s"
    taken = 1000 * np.array([answer["seconds"] for answer in steady["answers"]])
    median, high = np.percentile(taken, [50, 95])
    n_slots = ITEMS * SYSTEMS * RATINGS_PER_UNIT
    wrong = counts["lost"] + counts["twice"] + counts["slots_filled_twice"] + counts["miscounted_units"]
    server = f"{WORKERS} workers of {THREADS} threads"
    limit = f"{P95_MS} ms; median {median:.0f} ms, of {len(taken):,} requests; {n_slots:,} slots"
    pace = f"{CRITERIA} ratings an answer; median thinking time {steady['think']:g} s; {server}"
    faults = (
        f"{counts['acknowledged']:,} acknowledged answers; {faulty['retried']:,} were sent again after a fault, the "
        f"longest for {faulty['longest']:.0f} s"
    )
    return [
        _row(
            f"An answer taken in and the next screen sent back, {setting}: 95th percentile",
            float(high),
            "ms",
            limit,
            high / P95_MS,
            "under 1",
        ),
        _row(f"Ratings a second, {setting}", CRITERIA * len(taken) / steady["seconds"], "ratings/s", pace),
        _row(f"Answers of status 5xx, {setting}", float(steady["errors"]), "answers", "none", target="0"),
        _row(
            "Web server, worker and database killed one after another under that load: acknowledged answers lost, "
            "stored twice, slots filled twice, units miscounted",
            float(wrong),
            "faults",
            faults,
            target="0",
        ),
    ]


def _row(
    name: str, value: float, unit: str, against: str, ratio: float | None = None, target: str = "to be reported"
) -> dict[str, Any]:
    ratio = None if ratio is None else float(ratio)
    return {"name": name, "value": value, "unit": unit, "against": against, "ratio": ratio, "target": target}


class Stack:
    """The running product, each part a process that can be killed."""

    def __init__(self, home: Path, design: Design) -> None:
        self.home, self.design = home, design
        self.database = EmbeddedPostgres(home / "postgres")
        self.web: subprocess.Popen[bytes] | None = None
        self.worker: subprocess.Popen[bytes] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    def start(self) -> None:
        self.database.hold()
        self.environment = {
            **os.environ,
            "RATER_ARRIVALS_PER_MINUTE": "100000",  # all raters of the benchmark share an address
            "DATABASE_URL": self.database.url(),
            "ASSAY_DATA_DIR": str(self.home),
            "SECRET_KEY": secrets.token_urlsafe(50),
            "DEBUG": "0",
            "LOG_LEVEL": "ERROR",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        for command in (["migrate", "-v0"], ["collectstatic", "-v0", "--noinput"]):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=self.environment, check=True)
        prepare = [sys.executable, "-m", "benchmarks.bench_handout", "prepare", *map(str, astuple(self.design))]
        done = subprocess.run(prepare, cwd=ROOT, env=self.environment, check=True, capture_output=True, text=True)
        self.link = f"/r/{done.stdout.split()[-1]}/"
        self.start_web()
        self.start_worker()

    def stop(self) -> None:
        for process in (self.web, self.worker):
            if process is not None and process.poll() is None:
                _end(process, signal.SIGTERM)
        self.database.release()

    def start_web(self) -> None:
        self.web = self._spawn(
            "web",
            "gunicorn",
            "config.wsgi",
            "--bind",
            f"127.0.0.1:{self.port}",
            "--workers",
            str(WORKERS),
            "--threads",
            str(THREADS),
            "--worker-class",
            "gthread",
        )
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5):
                    return
            except urllib.error.HTTPError:
                return  # it answers, but the worker is not started yet
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"The web server did not answer:\n{(self.home / 'web.log').read_text()[-2000:]}")

    def start_worker(self) -> None:
        self.worker = self._spawn("worker", "celery", "-A", "config", "worker", "--beat", "--loglevel=error")

    def _spawn(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        with (self.home / f"{name}.log").open("a") as output:
            return subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    # --- Faults: a part is killed without warning and restarted, as by a supervisor ---

    def kill_web(self) -> None:
        _end(self.web, signal.SIGKILL)
        self.start_web()

    def kill_worker(self) -> None:
        _end(self.worker, signal.SIGKILL)
        self.start_worker()

    def crash_database(self) -> None:
        self.database.restart(mode="immediate")

    def processor_seconds(self) -> dict[str, float]:
        """Return the seconds of the processor that web and database have taken."""
        if self.web is None:
            raise RuntimeError("The web part has not been started.")
        postmaster = psutil.Process(int((self.home / "postgres/data/postmaster.pid").read_text().split()[0]))
        return {"web": _processor_seconds(psutil.Process(self.web.pid)), "database": _processor_seconds(postmaster)}

    def load(
        self,
        seconds: int,
        faults: list[tuple[int, Callable[[], None]]] | None = None,
        *,
        raters: int = RATERS,
        think: float = THINK,
    ) -> dict[str, Any]:
        settings = map(str, (self.port, self.link, raters, seconds, think))
        command = [sys.executable, "-m", "benchmarks.raters", *settings]
        crowd = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        began = time.perf_counter()
        for after, fault in faults or []:
            time.sleep(max(began + after - time.perf_counter(), 0))
            fault()
        output, _ = crowd.communicate(timeout=seconds + 300)
        if crowd.returncode:
            raise RuntimeError(f"The simulated raters ended with status {crowd.returncode}.")
        report: dict[str, Any] = json.loads(output)
        return report

    def examine(self, answers: list[dict[str, Any]], ratings: int) -> dict[str, int]:
        """Count lost, duplicate and miscounted answers among those that the server acknowledged."""
        acknowledged = [answer["token"] for answer in answers]
        with psycopg.connect(self.database.url()) as connection:
            counts = connection.execute(_EXAMINE, {"tokens": acknowledged, "ratings": ratings}).fetchone()
        names = ("lost", "twice", "slots_filled_twice", "miscounted_units")
        return {"acknowledged": len(acknowledged), **dict(zip(names, counts or (), strict=True))}


_EXAMINE = """
    WITH mine AS (SELECT unnest(%(tokens)s::uuid[]) AS token)
    SELECT (SELECT count(*) FROM mine WHERE %(ratings)s > (
                SELECT count(*) FROM annotation_rating r JOIN annotation_presentation p ON p.id = r.presentation_id
                WHERE p.token = mine.token AND p.outcome IN ('submitted', 'late'))),
           (SELECT count(*) FROM (SELECT 1 FROM annotation_rating
                GROUP BY presentation_id, response_id, criterion_id HAVING count(*) > 1) AS more_than_once),
           (SELECT count(*) FROM (SELECT 1 FROM annotation_presentation WHERE outcome = 'submitted'
                GROUP BY slot_id HAVING count(*) > 1) AS filled_twice),
           (SELECT count(*) FROM annotation_unit u WHERE u.done_slots <> (
                SELECT count(*) FROM annotation_slot s WHERE s.unit_id = u.id AND s.state = 'done'))
"""


def _end(process: subprocess.Popen[bytes] | None, how: signal.Signals) -> None:
    """End a process and its children, which share a session."""
    if process is None:
        return
    os.killpg(process.pid, how)
    process.wait(60)


def _processor_seconds(process: psutil.Process) -> float:
    """Return the seconds of a process and its children; those of children that ended count, too."""
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        times = each.cpu_times()
        total += times.user + times.system
    ended = process.cpu_times()
    return float(total + ended.children_user + ended.children_system)


def prepare(design: Design) -> None:
    """Fill the database, launch the campaign and print its link token, in a separate process."""
    import django

    django.setup()
    from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
    from annotation.campaigns.services.lifecycle import campaign_launch
    from annotation.campaigns.services.writing import campaign_create
    from annotation.models import Project
    from benchmarks.bench_launch import make_dataset

    project = Project.objects.create(name="Benchmark", slug="benchmark")
    dataset = make_dataset(project, design.items)
    criteria = [CriterionDraft(f"criterion-{n}", f"How good is it in respect {n}?") for n in range(design.criteria)]
    draft = CampaignDraft(
        dataset=dataset, name="Benchmark", criteria=criteria, ratings_per_unit=design.ratings_per_unit
    )
    print(campaign_launch(campaign=campaign_create(project=project, draft=draft)).link_token)


def main() -> None:
    from benchmarks.__main__ import HEADINGS, table

    seconds = int(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else SECONDS
    print(table(hurried() if "--hurried" in sys.argv else run(seconds), HEADINGS))


if __name__ == "__main__":
    prepare(Design(*map(int, sys.argv[2:]))) if sys.argv[1:2] == ["prepare"] else main()
