"""Scoring a large data set: a million segments through the product's own services, by two workers.

python -m benchmarks.bench_score_run
ASSAY_BENCH_SEGMENTS=100000 ASSAY_BENCH_METRICS=cider,self_bleu python -m benchmarks.bench_score_run

Works in processes of its own on a PostgreSQL of its own, durable as in production, and removes both. The data set is
synthetic: Zipf word frequencies, two references per segment, and an output that shares half of the first.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench_import import in_own_process, printed, row, timed

if TYPE_CHECKING:
    from annotation.models import Release, System

MEASURE = "--measure"
SEGMENTS = int(os.environ.get("ASSAY_BENCH_SEGMENTS", "1000000"))
REFERENCES = 2
VOCABULARY, TEXT_WORDS = 30_000, 10
MADE_AT_ONCE = 20_000
MEMORY = 2  # GiB that no worker may reach
# Metrics with independent shards, and those whose shards need a number, a table or a pool of all outputs.
METRICS = os.environ.get("ASSAY_BENCH_METRICS", "bleu,delta_bleu,cider,self_bleu,entropy").split(",")


def run() -> list[dict[str, Any]]:
    return in_own_process("benchmarks.bench_score_run", MEASURE)


def measure() -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.core.management import call_command

    from metrics.models import ScoreRun

    call_command("migrate", verbosity=0)
    loading, (release, system) = timed(data_set)
    rows = [row(f"{SEGMENTS:,} segments with {REFERENCES} references each copied into the database", loading, "s")]
    for metric in METRICS:
        run_id = run_id_for(release, system, metric)
        seconds, memory = timed(partial(by_two_workers, run_id))
        done = ScoreRun.objects.get(pk=run_id)
        if done.state != "done":
            raise RuntimeError(done.error)
        n = done.shards.count()
        print(f"{metric}: {seconds:.0f} s, {memory}", file=sys.stderr)
        rows += [
            row(f"{metric} of them by two workers, {n} shards, 1,000 resamples", seconds, "s"),
            row(
                "… peak memory of the larger worker",
                max(memory),
                "GiB",
                against=f"{MEMORY} GiB",
                ratio=max(memory) / MEMORY,
                target="under 1",
            ),
        ]
        repeated, _ = timed(partial(run_id_for, release, system, metric))
        rows.append(row(f"… requested again: {metric} is looked up, its outputs hashed", repeated, "s"))
    return rows


def run_id_for(release: Release, system: System, metric: str) -> int:
    from metrics.services.runs import score_run_create

    run, _ = score_run_create(
        project=release.reference_set.project,
        release=release,
        systems=[system],
        metric=metric,
        parameters={"tokenize": "whitespace"},
        by=None,
    )
    return run.pk


# --- Two workers ------------------------------------------------------------------------------------------------------


def by_two_workers(run_id: int) -> list[float]:
    """Return the peak memory of both workers in GiB."""
    context = multiprocessing.get_context("spawn")
    peaks = context.Queue()
    workers = [context.Process(target=work, args=(run_id, peaks)) for work in (execute_run, help_with_run)]
    for worker in workers:
        worker.start()
    gibibytes = [peaks.get() for _ in workers]
    for worker in workers:
        worker.join()
    return gibibytes


def execute_run(run_id: int, peaks: Any) -> None:
    import django

    django.setup()
    from metrics.services.runs import score_run_execute

    score_run_execute(run_id=run_id)
    peaks.put(peak_memory())


def help_with_run(run_id: int, peaks: Any) -> None:
    import django

    django.setup()
    from metrics.models import ScoreRun
    from metrics.services.runs import score_run_help

    while ScoreRun.objects.filter(pk=run_id, state__in=("queued", "running")).exists():
        score_run_help(run_id=run_id)
        time.sleep(0.2)
    peaks.put(peak_memory())


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


# --- The data set -----------------------------------------------------------------------------------------------------


def data_set() -> tuple[Release, System]:
    from django.db import connection
    from django.utils import timezone

    from annotation.core.copying import copy_rows
    from annotation.models import (
        Dataset,
        Item,
        JobState,
        Project,
        ReferenceSet,
        Release,
        ReleaseWeight,
        Response,
        ResponseSource,
        System,
    )
    from annotation.models.releases import IMPORTED

    project = Project.objects.create(name="Benchmark", slug="benchmark")
    dataset = Dataset.objects.create(project=project, name="A million", slug="million")
    system = System.objects.create(dataset=dataset, name="System")
    with connection.cursor() as cursor:  # search indexes: their cost belongs to imports, not to scoring
        cursor.execute("DROP INDEX item_search; DROP INDEX response_search")
    positions = range(SEGMENTS)
    copy_rows(
        Item,
        ["id", "dataset_id", "external_id", "position", "context", "message", "meaning_representation", "split"],
        ((at + 1, dataset.pk, f"s{at}", at, [], "what did you see ?", "", "") for at in positions),
    )
    copy_rows(
        Response,
        ["id", "item_id", "text", "text_key"],
        ((pk, pk // (REFERENCES + 1) + 1, text, f"{pk:064x}") for pk, text in enumerate(texts())),
    )
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "kind", "system_id", "source_context", "source_message", "raw_text"],
        ((at * (REFERENCES + 1), at + 1, "system", system.pk, [], "", "") for at in positions),
    )
    reference_set = ReferenceSet.objects.create(project=project, dataset=dataset, name="References", slug="references")
    release = Release.objects.create(
        reference_set=reference_set, number=1, method=IMPORTED, signature="made up", content_hash="0" * 64
    )
    copy_rows(
        ReleaseWeight,
        ["release_id", "item_id", "item_position", "response_id", "is_original", "weight", "n_ratings"],
        (
            (release.pk, at + 1, at, at * (REFERENCES + 1) + number, number == 1, weight, 5)
            for at, segment_weights in enumerate(weights())
            for number, weight in enumerate(segment_weights, start=1)
        ),
    )
    release.state, release.finished_at = JobState.DONE, timezone.now()
    release.save()
    return release, system


def texts() -> Iterator[str]:
    """Yield the output and then the references of each segment."""
    rng = np.random.default_rng(7)
    words = np.array([f"w{number}" for number in range(VOCABULARY)])
    odds = 1 / np.arange(1, VOCABULARY + 1)
    odds /= odds.sum()
    for start in range(0, SEGMENTS, MADE_AT_ONCE):
        n = min(MADE_AT_ONCE, SEGMENTS - start)
        drawn = rng.choice(VOCABULARY, size=(n, REFERENCES + 1, TEXT_WORDS), p=odds)
        shared = rng.random((n, TEXT_WORDS)) < 0.5
        drawn[:, 0] = np.where(shared, drawn[:, 1], drawn[:, 0])
        for tokens in words[drawn].reshape(-1, TEXT_WORDS):
            yield " ".join(tokens)


def weights() -> Iterator[list[float]]:
    """Yield weights in tenths; that of the first reference is positive."""
    rng = np.random.default_rng(8)
    for start in range(0, SEGMENTS, MADE_AT_ONCE):
        n = min(MADE_AT_ONCE, SEGMENTS - start)
        first, others = rng.integers(1, 11, size=(n, 1)), rng.integers(-10, 11, size=(n, REFERENCES - 1))
        yield from (np.concatenate([first, others], axis=1) / 10).tolist()


if __name__ == "__main__":
    printed(run, measure)
