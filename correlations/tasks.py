"""Tasks of workers; each may run twice."""

from celery import shared_task

from annotation.tasks import stale_jobs_enqueue
from correlations.models import ParameterStudy, Study
from correlations.services import execution, parameter_execution


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def requeue_stale() -> None:
    stale_jobs_enqueue((Study, execute), (ParameterStudy, execute_parameter_study))


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def execute(job_id: int) -> None:
    execution.study_execute(study_id=job_id)


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def execute_parameter_study(job_id: int) -> None:
    parameter_execution.parameter_study_execute(study_id=job_id)
