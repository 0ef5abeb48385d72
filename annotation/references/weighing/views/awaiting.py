"""Pages whose statistics a worker computes, and the page that shows its progress until then."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.core.job_views import start_over
from annotation.core.views import MemberRequest, object_view
from annotation.models import FiguresPart, Release, ReleaseFigures, Role
from annotation.references.sets.access import finished_release_or_404, release_args, release_context
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
            response = view(request, *args, **kwargs)
        except FiguresAwaited as awaited:
            return _waiting(request, awaited)
        return HttpResponseClientRefresh() if _is_poll(request) else response

    return page


def check_page(
    view: Callable[Concatenate[MemberRequest, Release, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Show a page about a finished release's weights, or a download from it, to members of its project."""
    return require_GET(object_view(finished_release_or_404, Role.VIEWER)(awaits_figures(view)))


def _is_poll(request: MemberRequest) -> bool:
    return bool(request.htmx) and request.htmx.target == STATUS


def _page_url(request: MemberRequest, release: Release, part: FiguresPart) -> str:
    return reverse(f"annotation:{PAGES[part]}", args=release_args(request.project, release))


def _waiting(request: MemberRequest, awaited: FiguresAwaited) -> HttpResponse:
    release = awaited.release
    job, is_new = figures_request(release=release, part=awaited.part)
    if is_new:
        release_figures_compute.delay_on_commit(job.pk)
    context = release_context(request.project, release) | {
        "job": job,
        "what": awaited.part.label,
        "here": request.get_full_path(),
        "page_url": _page_url(request, release, awaited.part),
    }
    template = "figures_status" if _is_poll(request) else "figures"
    return render(request, f"annotation/references/release_{template}.html", context, status=202)


@require_POST
@object_view(finished_release_or_404, Role.MANAGER)
def release_figures_retry(request: MemberRequest, release: Release, pk: int) -> HttpResponse:
    job = get_object_or_404(ReleaseFigures.objects.defer("content"), release=release, pk=pk)
    start_over(job, release_figures_compute)
    return redirect(_page_url(request, release, FiguresPart(job.part)))
