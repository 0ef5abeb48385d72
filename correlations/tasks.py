"""What workers run: fetch, call the service. Every task may run twice."""

from celery import shared_task

from annotation.core import jobs
from annotation.tasks import again
from correlations.models import ParameterStudy, Study
from correlations.services import execution, parameter_execution


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def requeue_stale() -> None:
    """Hand out again what a dead worker left."""
    for job_id in jobs.stale_ids(Study):
        again(execute, job_id)
    for job_id in jobs.stale_ids(ParameterStudy):
        again(execute_parameter_study, job_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def execute(job_id: int) -> None:
    execution.study_execute(study_id=job_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def execute_parameter_study(job_id: int) -> None:
    parameter_execution.parameter_study_execute(study_id=job_id)
