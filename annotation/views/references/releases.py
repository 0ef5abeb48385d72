"""A release: its progress, then what it holds."""

from django.contrib.auth.decorators import login_required
from django.http import (
    HttpRequest,
    HttpResponse,
)
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation import tasks
from annotation.access import get_project_or_404, may_manage
from annotation.forms.references import METHODS
from annotation.models import JobState, Role
from annotation.services import jobs
from annotation.views.jobs import start_over
from annotation.views.references.browsing import browse
from annotation.views.references.common import release_or_404, release_url


@login_required
@require_GET
def release_detail(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    """Progress while it is built, then the browser of its weights."""
    project = get_project_or_404(request.user, project_slug)
    release = release_or_404(project, slug, number)
    if request.htmx and release.is_finished and "progress" in request.GET:
        return HttpResponseClientRefresh()
    context = {
        "project": project,
        "release": release,
        "reference_set": release.reference_set,
        "method_label": dict(METHODS)[release.method],
        "may_manage": may_manage(project),
    }
    if request.htmx and "progress" in request.GET:
        return render(request, "annotation/release_progress.html", context)
    if release.state == JobState.DONE:
        context |= browse(request, project, release)
    refused = "filter_form" in context and not context["filter_form"].is_valid()
    return render(request, "annotation/release_detail.html", context, status=400 if refused else 200)


@login_required
@require_POST
def release_cancel(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    release = release_or_404(project, slug, number)
    jobs.job_request_cancel(release)
    return redirect(release_url(project, release))


@login_required
@require_POST
def release_retry(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    release = release_or_404(project, slug, number)
    start_over(release, tasks.release_build)
    return redirect(release_url(project, release))
