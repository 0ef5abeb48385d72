"""Pages whose figures a worker computes: until they are there, one that says so and looks again by itself."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import get_project_or_404, may_manage
from annotation.models import FiguresPart, JobState, ReleaseFigures, Role
from annotation.selectors.weighing.stored import FiguresAwaited
from annotation.services.figures import figures_request
from annotation.tasks import release_figures_compute
from annotation.views.jobs import start_over
from annotation.views.references.common import release_or_404

View = Callable[..., HttpResponseBase]
STATUS = "figures-job"  # id of the live part
PAGES = {
    FiguresPart.ATTENTION: "release-attention",
    FiguresPart.SENSITIVITY: "release-sensitivity",
    FiguresPart.INFLUENCE: "release-influence",
    FiguresPart.TEXTS: "release-guard",
}


def awaits_figures(view: View) -> View:
    """The view, or the page that waits for its figures. It answers every address alike, those of downloads, too."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            answer = view(request, *args, **kwargs)
        except FiguresAwaited as awaited:
            return _waiting(request, awaited)
        return HttpResponseClientRefresh() if _is_poll(request) else answer

    return page


def _is_poll(request: HttpRequest) -> bool:
    htmx = request.htmx  # type: ignore[attr-defined] # set by its middleware
    return bool(htmx) and htmx.target == STATUS


def _waiting(request: HttpRequest, awaited: FiguresAwaited) -> HttpResponse:
    release = awaited.release
    job, made = figures_request(release=release, part=awaited.part)
    if made:
        release_figures_compute.delay_on_commit(job.pk)
    reference_set = release.reference_set
    project = get_project_or_404(request.user, reference_set.project.slug)
    context = {
        "project": project,
        "release": release,
        "reference_set": reference_set,
        "job": job,
        "what": awaited.part.label,
        "here": request.get_full_path(),
        "page_url": reverse(
            f"annotation:{PAGES[awaited.part]}", args=[project.slug, reference_set.slug, release.number]
        ),
        "may_manage": may_manage(project),
    }
    template = "figures_status" if _is_poll(request) else "figures"
    return render(request, f"annotation/release_{template}.html", context, status=202)


@login_required
@require_POST
def release_figures_retry(request: HttpRequest, project_slug: str, slug: str, number: int, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    release = release_or_404(project, slug, number, state=JobState.DONE)
    job = get_object_or_404(ReleaseFigures.objects.defer("content"), release=release, pk=pk)
    start_over(job, release_figures_compute)
    return redirect(f"annotation:{PAGES[FiguresPart(job.part)]}", project.slug, slug, number)
