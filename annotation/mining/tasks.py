"""What workers run for mining: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.core.shards import helpers
from annotation.mining import services as mining
from annotation.mining.services import sample  # noqa: F401  # registers itself as a source of content


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def corpus_index(corpus_id: int) -> None:
    mining.corpus_index(corpus_id=corpus_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def mining_run_execute(run_id: int) -> None:
    mining.mining_run_execute(run_id=run_id, enqueue=helpers(mining_run_help, run_id))


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def mining_run_help(run_id: int) -> None:
    """Work beside the worker that holds the run; other tasks have their turn in between."""
    if mining.mining_run_help(run_id=run_id):
        mining_run_help.delay(run_id)
