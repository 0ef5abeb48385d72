"""What the pages of all jobs have in common."""

from celery import Task
from django.db import transaction

from annotation.models import Job
from annotation.services.jobs import job_requeue


@transaction.atomic
def start_over(job: Job, task: Task) -> None:
    """Hand a failed or cancelled job to the workers again; any other stays as it is."""
    if job_requeue(job):
        task.delay_on_commit(job.pk)
