"""Pages whose statistics a worker computes, and the page that shows its progress until then."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.core.access import may_manage
from annotation.core.job_views import start_over
from annotation.core.views import MemberRequest, object_view
from annotation.models import FiguresPart, Release, ReleaseFigures, Role
from annotation.references.sets.access import finished_release_or_404
from annotation.references.tasks import release_figures_compute
from annotation.references.weighing.selectors.stored import FiguresAwaited
from annotation.references.weighing.services.figures import figures_request

P = ParamSpec("P")
View = Callable[Concatenate[MemberRequest, P], HttpResponseBase]
STATUS = "figures-job"  # id of the live part
PAGES = {
    FiguresPart.ATTENTION: "release-attention",
    FiguresPart.SENSITIVITY: "release-sensitivity",
    FiguresPart.INFLUENCE: "release-influence",
    FiguresPart.TEXTS: "release-guard",
}


def awaits_figures(view: View[P]) -> View[P]:
    """Show the view, or the waiting page until its statistics are ready; downloads, too."""

    @wraps(view)
    def page(request: MemberRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            answer = view(request, *args, **kwargs)
        except FiguresAwaited as awaited:
            return _waiting(request, awaited)
        return HttpResponseClientRefresh() if _is_poll(request) else answer

    return page


def _is_poll(request: MemberRequest) -> bool:
    return bool(request.htmx) and request.htmx.target == STATUS


def _page_url(release: Release, part: str) -> str:
    reference_set = release.reference_set
    return reverse(
        f"annotation:{PAGES[FiguresPart(part)]}", args=[reference_set.project.slug, reference_set.slug, release.number]
    )


def _waiting(request: MemberRequest, awaited: FiguresAwaited) -> HttpResponse:
    release = awaited.release
    job, made = figures_request(release=release, part=awaited.part)
    if made:
        release_figures_compute.delay_on_commit(job.pk)
    reference_set = release.reference_set
    project = request.project
    context = {
        "project": project,
        "release": release,
        "reference_set": reference_set,
        "job": job,
        "what": awaited.part.label,
        "here": request.get_full_path(),
        "page_url": _page_url(release, awaited.part),
        "may_manage": may_manage(project),
    }
    template = "figures_status" if _is_poll(request) else "figures"
    return render(request, f"annotation/references/release_{template}.html", context, status=202)


@require_POST
@object_view(finished_release_or_404, Role.MANAGER)
def release_figures_retry(request: MemberRequest, release: Release, pk: int) -> HttpResponse:
    job = get_object_or_404(ReleaseFigures.objects.defer("content"), release=release, pk=pk)
    start_over(job, release_figures_compute)
    return redirect(
        f"annotation:{PAGES[FiguresPart(job.part)]}", request.project.slug, release.reference_set.slug, release.number
    )
