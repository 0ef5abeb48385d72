"""How long the demo and synthetic data of the paper's scale take to import, and what COPY gains over INSERT.

python -m benchmarks.bench_import

Works in a process of its own on a PostgreSQL of its own, durable as in production, and removes both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from config.embedded_postgres import EmbeddedPostgres

ROOT = Path(__file__).resolve().parent.parent
TARGET_SECONDS = 20
MEASURE = "--measure"


def run() -> list[dict[str, Any]]:
    return in_own_process("benchmarks.bench_import", MEASURE)


def in_own_process(module: str, flag: str) -> list[dict[str, Any]]:
    """Run a benchmark module with the flag on a new database, and return the rows it prints as JSON."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        server = EmbeddedPostgres(Path(folder) / "postgres")
        server.hold()
        try:
            environment = {
                **os.environ,
                "DATABASE_URL": server.url(),
                "ASSAY_DATA_DIR": folder,
                "LOG_LEVEL": "ERROR",
                "DJANGO_SETTINGS_MODULE": "config.settings",
            }
            command = [sys.executable, "-m", module, flag]
            done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        finally:
            server.release()
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def measure() -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return [*demo_rows(), *synthetic_rows()]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = perf_counter()
    result = work()
    return perf_counter() - began, result


def demo_rows() -> list[dict[str, Any]]:
    from annotation.demo.load import demo_import
    from annotation.models import Rating, User

    by = User.objects.create_user("bench")
    seconds, report = timed(lambda: demo_import(by=by))
    judgements = report["references"]["judgements"] + report["outputs"]["judgements"]
    references = report["dataset"]["references"]
    copy, insert = copy_against_insert(Rating.objects.count())
    return [
        row(
            f"Demo, to the commit: {references:,} references, {judgements:,} judgements",
            seconds,
            "s",
            target=f"under {TARGET_SECONDS} s",
        ),
        row(
            "Demo: rows a second (references, outputs, ratings)",
            (references + report["dataset"]["outputs"] + 2 * judgements) / seconds,
            "rows/s",
        ),
        row(
            f"{Rating.objects.count():,} ratings by COPY",
            copy,
            "s",
            against=f"bulk_create: {insert:.2f} s",
            ratio=insert / copy,
        ),
    ]


def copy_against_insert(count: int) -> tuple[float, float]:
    """Measure storing the demo's ratings again as revision 1 by COPY and by INSERT; both are rolled back."""
    from django.db import transaction

    from annotation.core.copying import copy_rows
    from annotation.models import Rating

    columns = ["campaign_id", "presentation_id", "response_id", "rater_id", "criterion_id", "rated_as_id", "value"]
    known = list(Rating.objects.order_by("pk").values_list(*columns))
    if len(known) != count:
        raise ValueError(f"ratings: found {len(known)}; accepted: {count}.")

    def seconds_rolled_back(work: Callable[[], object]) -> float:
        with transaction.atomic():
            seconds, _ = timed(work)
            transaction.set_rollback(True)
        return seconds

    copied = seconds_rolled_back(
        lambda: copy_rows(Rating, [*columns, "revision", "extra"], ((*rating, 1, False) for rating in known))
    )
    inserted = seconds_rolled_back(
        lambda: Rating.objects.bulk_create(
            [Rating(**dict(zip(columns, rating, strict=True)), revision=1) for rating in known], batch_size=5000
        )
    )
    return copied, inserted


def synthetic_rows() -> list[dict[str, Any]]:
    from django.core.management import call_command

    from annotation.models import Membership, Presentation, Project, ResponseSource, User

    project = Project.objects.create(name="Bench", slug="bench")
    Membership.objects.create(project=project, user=User.objects.get(username="bench"), role="owner")
    seconds, _ = timed(lambda: call_command("generate_dataset", project="bench", user="bench", stdout=sys.stderr))
    texts = ResponseSource.objects.filter(item__dataset__project=project).count()
    judgements = Presentation.objects.filter(campaign__project=project).count()
    return [row(f"Paper scale, made up and imported: {texts:,} texts, {judgements:,} judgements", seconds, "s")]


def row(
    name: str, value: float, unit: str, *, against: str = "", ratio: float | None = None, target: str = ""
) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, "against": against, "ratio": ratio, "target": target}


def printed(run: Callable[[], list[dict[str, Any]]], measure: Callable[[], list[dict[str, Any]]]) -> None:
    """Print the table of a benchmark or, in the measuring process, its rows as JSON."""
    if MEASURE in sys.argv:
        print(json.dumps(measure()))
        return
    from benchmarks.__main__ import HEADINGS, table

    print(table(run(), HEADINGS))


if __name__ == "__main__":
    printed(run, measure)
