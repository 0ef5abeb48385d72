"""Helpers for the pages of jobs."""

from collections.abc import Callable
from typing import Any

from celery import Task
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.core.jobs import job_request_cancel, job_requeue
from annotation.core.views import MemberRequest, View, object_view
from annotation.models import Job, Role


@transaction.atomic
def start_over(job: Job, task: Task) -> None:
    """Start a failed or cancelled job again; other jobs stay as they are."""
    if job_requeue(job):
        task.delay_on_commit(job.pk)


def cancel_view(get_or_404: Callable[..., Job], page: str) -> View:
    """Return a view that cancels a job and leads back to its page, a URL name."""

    @require_POST
    @object_view(get_or_404, Role.MANAGER)
    def cancel(request: MemberRequest, job: Job) -> HttpResponse:
        job_request_cancel(job)
        return redirect(page, request.project.slug, job.pk)

    return cancel


def retry_view(get_or_404: Callable[..., Job], task: Task, page: str) -> View:
    """Return a view that starts a failed or cancelled job again and leads back to its page, a URL name."""

    @require_POST
    @object_view(get_or_404, Role.MANAGER)
    def retry(request: MemberRequest, job: Job) -> HttpResponse:
        start_over(job, task)
        return redirect(page, request.project.slug, job.pk)

    return retry


def job_part(request: HttpRequest, job: Job, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return the live part of a page that watches a job; reload the page once the job is finished."""
    return HttpResponseClientRefresh() if job.is_finished else render(request, template, context)
