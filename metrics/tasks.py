"""Tasks of workers; each may run twice."""

from celery import shared_task

from annotation.core.queues import long_task
from annotation.core.shards import helpers
from annotation.tasks import stale_jobs_enqueue
from metrics.models import ScoreRun, SystemRatings, TrainedModel
from metrics.services import quality_training, runs, system_ratings, training


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def requeue_stale() -> None:
    stale_jobs_enqueue((ScoreRun, execute), (TrainedModel, train_model), (SystemRatings, rate_systems))
    quality_training.checkpoints_sweep()


@long_task
def execute(job_id: int) -> None:
    runs.score_run_execute(run_id=job_id, enqueue=helpers(help_out, job_id))


@long_task
def help_out(job_id: int) -> None:
    """Score shards of a run that another worker holds, for one turn; then let other tasks have theirs."""
    if runs.score_run_help(run_id=job_id):
        help_out.delay(job_id)


@long_task
def train_model(model_id: int) -> None:
    training.model_execute(model_id=model_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def rate_systems(ratings_id: int) -> None:
    system_ratings.system_ratings_compute(ratings_id=ratings_id)
