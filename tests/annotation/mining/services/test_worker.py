"""A mining run in a real worker, killed half-way and resumed: no candidate is lost or duplicated."""

import os
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from annotation.mining import tasks
from annotation.mining.selectors import candidate_rows, corpus_folder
from annotation.mining.services.corpora import corpus_index
from annotation.mining.services.runs import mining_run_execute
from annotation.models import Corpus, JobState, MinedCandidate, MiningRun, MiningShard, Project
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset, triples_file, uploaded_corpus
from tests.worker import Worker, wait_until

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]

WORDS = [
    "tea",
    "coffee",
    "rain",
    "snow",
    "game",
    "match",
    "train",
    "bus",
    "river",
    "bridge",
    "song",
    "band",
    "book",
    "story",
    "garden",
    "roof",
    "window",
    "door",
    "summer",
    "winter",
]
N_SEEDS = 500


def many_triples(n: int) -> list[tuple[list[str], str, str]]:
    """Return conversations that share words with each other."""
    return [
        (
            [],
            f"What about the {WORDS[n % 20]} and the {WORDS[(n // 20) % 20]} number {n}?",
            f"I like the {WORDS[(n * 7) % 20]} more than the {WORDS[(n * 3 + 1) % 20]}, {n} times.",
        )
        for n in range(n)
    ]


def many_items(n: int) -> list[dict[str, object]]:
    return [
        {"id": f"s{number}", "message": message, "references": [{"text": f"Well, {response}", "kind": "seed"}]}
        for number, (_, message, response) in enumerate(many_triples(n))
    ]


def check_shared_folder() -> None:
    """Check that the worker has the same ASSAY_DATA_DIR as this process."""
    assert Path(os.environ["ASSAY_DATA_DIR"]) == django_settings.DATA_DIR


def test_a_killed_worker_loses_and_duplicates_no_candidate(project: Project, worker: Worker) -> None:
    check_shared_folder()
    dataset = seeds_dataset(project, items=many_items(N_SEEDS))
    corpus = indexed_corpus(project, content=triples_file(many_triples(1500)))
    run = asked_run(project, dataset, corpus, n=15, negatives=1)
    tasks.mining_run_execute.delay(run.pk)

    def some_shards_are_done() -> bool:
        return MiningShard.objects.filter(run=run, state=JobState.DONE).count() >= 2

    wait_until(some_shards_are_done, seconds=120, every=0.02)
    worker.kill()
    done_shards = dict(MiningShard.objects.filter(run=run, state=JobState.DONE).values_list("pk", "finished_at"))
    assert 2 <= len(done_shards) < run.shards.count()
    candidates = MinedCandidate.objects.filter(run=run)
    assert set(candidates.values_list("shard", flat=True).distinct()) == set(
        done_shards
    )  # a shard is stored completely or not at all
    worker.start()

    def finished() -> bool:
        return MiningRun.objects.get(pk=run.pk).state == JobState.DONE

    wait_until(finished, seconds=240)
    run.refresh_from_db()
    assert run.attempt >= 2
    assert dict(MiningShard.objects.filter(pk__in=done_shards).values_list("pk", "finished_at")) == done_shards
    in_process_run = asked_run(project, dataset, corpus, n=15, negatives=1)
    mining_run_execute(run_id=in_process_run.pk)  # in this process, without interruption
    assert sorted(candidate_rows(run), key=repr) == sorted(candidate_rows(in_process_run), key=repr)
    assert MinedCandidate.objects.filter(run=run).values("item").distinct().count() == N_SEEDS


def test_a_worker_killed_while_indexing_leaves_the_corpus_to_the_next(project: Project, worker: Worker) -> None:
    check_shared_folder()
    corpus = uploaded_corpus(project, content=triples_file(many_triples(30_000)))
    tasks.corpus_index.delay(corpus.pk)

    def is_reading() -> bool:
        corpus_row = Corpus.objects.only("state", "progress_note").get(pk=corpus.pk)
        return corpus_row.state == JobState.RUNNING and "triples" in corpus_row.progress_note

    wait_until(is_reading, seconds=120, every=0.02)
    worker.kill()
    assert not corpus_folder(corpus).exists()
    worker.start()

    def finished() -> bool:
        return Corpus.objects.only("state").get(pk=corpus.pk).state == JobState.DONE

    wait_until(finished, seconds=240)
    corpus.refresh_from_db()
    assert (corpus.attempt, corpus.n_triples) == (2, 30_000)
    folders = [path.name for path in corpus_folder(corpus).parent.iterdir() if str(corpus.folder) in path.name]
    assert folders == [str(corpus.folder)]
    local_corpus = uploaded_corpus(project, "Here", triples_file(many_triples(30_000)))
    corpus_index(corpus_id=local_corpus.pk)
    local_corpus.refresh_from_db()
    assert corpus.content_hash == local_corpus.content_hash
