"""Tasks of workers; each may run twice."""

from celery import shared_task

from annotation.core.shards import helpers
from annotation.tasks import stale_jobs_enqueue
from correlations.models import ParameterStudy, Study, StudyVerification
from correlations.services import draws, execution, parameter_execution, verifications


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def requeue_stale() -> None:
    stale_jobs_enqueue((Study, execute), (ParameterStudy, execute_parameter_study), (StudyVerification, verify))


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def execute(job_id: int) -> None:
    execution.study_execute(study_id=job_id, enqueue=helpers(help_out, job_id))


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def help_out(job_id: int) -> None:
    """Draw resamples of a study that another worker holds, for one turn; then let other tasks have theirs."""
    if draws.study_draws_help(study_id=job_id):
        help_out.delay(job_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def execute_parameter_study(job_id: int) -> None:
    parameter_execution.parameter_study_execute(study_id=job_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def verify(job_id: int) -> None:
    verifications.verification_execute(verification_id=job_id)
