"""A release: its progress, then what it holds."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import (
    HttpRequest,
    HttpResponse,
)
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation import tasks
from annotation.access import get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.forms.references import DeprecationForm
from annotation.models import JobState, Role
from annotation.selectors.release_facts import fallen_seeds_of, release_agreement, source_counts_of, split_counts
from annotation.selectors.releases import latest_release, same_content
from annotation.services import jobs
from annotation.services.release_files import FILES
from annotation.services.releases import release_deprecate as deprecate_release
from annotation.services.releases import release_restore as restore_release
from annotation.views.jobs import start_over
from annotation.views.references.browsing import old_address
from annotation.views.references.common import release_or_404, release_url
from annotation.weighting import SCHEMES

MADE_ELSEWHERE = "Imported: the weights were made elsewhere"


@login_required
@require_GET
def release_detail(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    """Progress while it is built, then what was made of what."""
    project = get_project_or_404(request.user, project_slug)
    release = release_or_404(project, slug, number)
    if request.htmx and release.is_finished and "progress" in request.GET:
        return HttpResponseClientRefresh()
    if release.state == JobState.DONE and (moved := old_address(request, project, release)):
        return redirect(moved)
    scheme = SCHEMES.get(release.method)
    context = {
        "project": project,
        "release": release,
        "reference_set": release.reference_set,
        "scheme": scheme,
        "method_label": f"{scheme.label}: {scheme.about}" if scheme else MADE_ELSEWHERE,
        "may_manage": may_manage(project),
    }
    if request.htmx and "progress" in request.GET:
        return render(request, "annotation/release_progress.html", context)
    if release.state == JobState.DONE:
        context |= {
            "files": list(FILES.values()),
            "twin": same_content(release),
            "agreement": release_agreement(release),
            "splits": split_counts(release),
            "sources": source_counts_of(release),
            "latest": latest_release(release.reference_set),
            "fallen": fallen_seeds_of(release),
        }
    return render(request, "annotation/release_detail.html", context)


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


@login_required
@require_http_methods(["GET", "POST"])
def release_deprecate(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    """Asks for the reason, and says what follows from it and what does not."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    release = release_or_404(project, slug, number, state=JobState.DONE)
    form = DeprecationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            deprecate_release(release=release, reason=form.cleaned_data["reason"], by=request.user)
        except AnnotationError as error:
            form.add_error("reason" if "reason" in error.fields else None, error.message)
        else:
            messages.success(request, f"{release} is deprecated.")
            return redirect(release_url(project, release))
    context = {
        "project": project,
        "release": release,
        "reference_set": release.reference_set,
        "form": form,
        "n_runs": release.score_runs.count(),
        "n_studies": release.studies.count(),
        "n_parameter_studies": release.parameter_studies.count(),
    }
    return render(request, "annotation/release_deprecate.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def release_restore(request: HttpRequest, project_slug: str, slug: str, number: int) -> HttpResponse:
    """Take a deprecation back."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    release = release_or_404(project, slug, number)
    try:
        restore_release(release=release, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"The deprecation of {release} was taken back.")
    return redirect(release_url(project, release))
