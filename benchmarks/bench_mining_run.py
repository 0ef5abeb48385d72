"""Mining in the product: a corpus is imported, two workers share a run, candidates become references.

python -m benchmarks.bench_mining_run

Works in a process of its own on a PostgreSQL of its own, durable as in production, and removes both.
"""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bench_import import MEASURE, in_own_process, printed, row, timed
from benchmarks.bench_mining import BEST, MINING_SECONDS, SEEDS, TRIPLES, Texts, queries

if TYPE_CHECKING:
    from annotation.models import Corpus, Dataset, MiningRun, Project


def run() -> list[dict[str, Any]]:
    return in_own_process("benchmarks.bench_mining_run", MEASURE)


def help_out(run_id: int) -> None:
    """Help with a run in a second process."""
    import django

    django.setup()
    from annotation.mining.services.runs import mining_run_help

    while mining_run_help(run_id=run_id):
        pass


def measure() -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.mining.services.runs import mining_run_create
    from annotation.mining.services.storing import mining_run_store
    from annotation.models import MinedCandidate, Project

    call_command("migrate", verbosity=0)
    project = Project.objects.create(name="Benchmark", slug="benchmark")
    reading, corpus = streamed(project)
    run = mining_run_create(project=project, dataset=seed_dataset(project), corpus=corpus, specification={"n": BEST})
    mining, _ = timed(lambda: by_two_workers(run))
    run.refresh_from_db()
    if run.state != "done":
        raise RuntimeError(run.error)
    storing, stored = timed(lambda: mining_run_store(run=run))
    candidates = MinedCandidate.objects.filter(run=run).count()
    run_name = f"A run of {SEEDS:,} seeds × {BEST} over them by two workers, {candidates:,} candidates in the database"
    return [
        row(f"{TRIPLES:,} triples streamed from a file of JSON Lines into an index", reading, "s"),
        row(
            run_name,
            mining,
            "s",
            against=f"{MINING_SECONDS} s",
            ratio=mining / MINING_SECONDS,
            target="under 1",
        ),
        row(f"{stored.sources:,} candidates made references, in one transaction", storing, "s"),
    ]


def streamed(project: Project) -> tuple[float, Corpus]:
    from django.conf import settings

    from annotation.mining.services.corpora import corpus_stream

    file = Path(settings.DATA_DIR) / "pool.jsonl"
    with file.open("w", encoding="utf-8") as sink:
        sink.writelines(json.dumps(triple._asdict()) + "\n" for triple in Texts(TRIPLES))
    with file.open("rb") as stream:
        return timed(
            lambda: corpus_stream(
                project=project,
                by=None,
                name="Pool",
                filename=file.name,
                stream=stream,
                size=file.stat().st_size,
                options={},
            )
        )


def seed_dataset(project: Project) -> Dataset:
    from annotation.datasets.services.files import read_dataset
    from annotation.datasets.services.imports import dataset_create

    lines = [
        json.dumps(
            {
                "id": f"s{number}",
                "context": list(triple.context),
                "message": triple.message,
                "references": [{"text": triple.response, "kind": "seed"}],
            }
        )
        for number, triple in enumerate(queries(SEEDS))
    ]
    content, _ = read_dataset("\n".join(lines).encode(), filename="seeds.jsonl", file_format="jsonl")
    return dataset_create(project=project, name="Seeds", content=content)


def by_two_workers(run: MiningRun) -> None:
    from annotation.mining.services.runs import mining_run_execute

    helper = multiprocessing.get_context("spawn").Process(target=help_out, args=(run.pk,))
    mining_run_execute(run_id=run.pk, enqueue=lambda _: helper.start())
    helper.join()


if __name__ == "__main__":
    printed(run, measure)
