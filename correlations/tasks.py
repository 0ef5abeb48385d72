"""Tasks of workers; each may run twice."""

from celery import shared_task

from annotation.core.queues import long_task
from annotation.core.shards import helpers
from annotation.models import User
from annotation.tasks import stale_jobs_enqueue
from correlations.models import ParameterStudy, Study, StudyVerification
from correlations.services import execution, parameter_execution, sharing, verifications
from correlations.services.restaurants import restaurants_next
from metrics.services.training import model_execute


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def requeue_stale() -> None:
    stale_jobs_enqueue((Study, execute), (ParameterStudy, execute_parameter_study), (StudyVerification, verify))


@long_task
def execute(job_id: int) -> None:
    execution.study_execute(study_id=job_id, enqueue=helpers(help_out, job_id))


@long_task
def help_out(job_id: int) -> None:
    """Draw resamples of a study that another worker holds, for one turn; then let other tasks have theirs."""
    if sharing.study_draws_help(study_id=job_id):
        help_out.delay(job_id)


@long_task
def execute_parameter_study(job_id: int) -> None:
    parameter_execution.parameter_study_execute(study_id=job_id)


@long_task
def verify(job_id: int) -> None:
    verifications.verification_execute(verification_id=job_id)


@long_task
def restaurants_advance(user_id: int) -> None:
    """Do the next job of the demo's second project, then let other tasks have their turn."""
    job = restaurants_next(by=User.objects.get(pk=user_id))
    if job is None:
        return
    if isinstance(job, Study):
        execution.study_execute(study_id=job.pk)
    else:
        model_execute(model_id=job.pk)
    restaurants_advance.delay(user_id)
