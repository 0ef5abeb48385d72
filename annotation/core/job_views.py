"""Views and helpers for the pages of jobs."""

from collections.abc import Callable
from typing import Any

from celery import Task
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.core.jobs import job_request_cancel, job_requeue
from annotation.core.views import MemberRequest, View, project_view
from annotation.models import Job, Role


@transaction.atomic
def start_over(job: Job, task: Task) -> None:
    """Start a failed or cancelled job again; other jobs stay as they are."""
    if job_requeue(job):
        task.delay_on_commit(job.pk)


def cancel_view(get_or_404: Callable[..., Job], page: str) -> View:
    """Return a view that cancels a job and leads back to its page: a URL name whose address has the same parts."""
    return _job_view(get_or_404, job_request_cancel, page)


def retry_view(get_or_404: Callable[..., Job], task: Task, page: str) -> View:
    """Return a view that starts a failed or cancelled job again and leads back to its page."""
    return _job_view(get_or_404, lambda job: start_over(job, task), page)


def _job_view(get_or_404: Callable[..., Job], change: Callable[[Job], None], page: str) -> View:
    @require_POST
    @project_view(Role.MANAGER)
    def change_job(request: MemberRequest, /, **address: Any) -> HttpResponse:
        change(get_or_404(request.project, **address))
        return redirect(reverse(page, kwargs={"project_slug": request.project.slug, **address}))

    return change_job


def job_part(request: HttpRequest, job: Job, template: str, context: dict[str, Any]) -> HttpResponse:
    """Return the live part of a page that watches a job; reload the page once the job is finished."""
    return HttpResponseClientRefresh() if job.is_finished else render(request, template, context)
