"""Celery tasks of mining. Every task may run twice."""

from annotation.core.queues import long_task
from annotation.core.shards import helpers
from annotation.mining.services import corpora, runs


@long_task
def corpus_index(corpus_id: int) -> None:
    corpora.corpus_index(corpus_id=corpus_id)


@long_task
def mining_run_execute(run_id: int) -> None:
    runs.mining_run_execute(run_id=run_id, enqueue=helpers(mining_run_help, run_id))


@long_task
def mining_run_help(run_id: int) -> None:
    """Help the worker that holds the run; other tasks can run in between."""
    if runs.mining_run_help(run_id=run_id):
        mining_run_help.delay(run_id)
