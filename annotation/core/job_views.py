"""Helpers for the pages of jobs."""

from typing import Any

from celery import Task
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRefresh

from annotation.core.jobs import job_requeue
from annotation.models import Job


@transaction.atomic
def start_over(job: Job, task: Task) -> None:
    """Start a failed or cancelled job again; other jobs stay as they are."""
    if job_requeue(job):
        task.delay_on_commit(job.pk)


def job_part(request: HttpRequest, job: Job, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return the live part of a page that watches a job; reload the page once the job is finished."""
    return HttpResponseClientRefresh() if job.is_finished else render(request, template, context)
