"""What workers run: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.core import jobs
from annotation.core.shards import helpers
from annotation.tasks import again
from metrics.models import ScoreRun, TrainedModel
from metrics.services import runs, training


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def requeue_stale() -> None:
    """Hand out again what a dead worker left."""
    for job_id in jobs.stale_ids(ScoreRun):
        again(execute, job_id)
    for model_id in jobs.stale_ids(TrainedModel):
        again(train_model, model_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def execute(job_id: int) -> None:
    runs.score_run_execute(run_id=job_id, enqueue=helpers(help_out, job_id))


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def help_out(job_id: int) -> None:
    """Work beside the worker that holds the run; other tasks have their turn in between."""
    if runs.score_run_help(run_id=job_id):
        help_out.delay(job_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def train_model(model_id: int) -> None:
    training.model_execute(model_id=model_id)
