"""For owners: the data that a project holds about a rater, and its erasure."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.core.access import get_in_project_or_404
from annotation.core.errors import AnnotationError
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Project, Rater, Role
from annotation.records.selectors.held import held_about, held_of
from annotation.records.services.erasure import rater_erase as erase
from annotation.recruitment.providers import recruiting_providers


@require_http_methods(["GET", "POST"])
@project_view(Role.OWNER)
def rater_held(request: MemberRequest) -> HttpResponse:
    """Search by POST, so that an id appears in no address, history or log."""
    rater_id = request.POST.get("wanted", "").replace("\x00", "").strip()
    context = {
        "project": request.project,
        "rater_id": rater_id,
        "raters": held_about(request.project, rater_id) if rater_id else [],
        "rater_ids": ", ".join(each.rater_id for each in recruiting_providers()),
    }
    return render(request, "annotation/records/campaign_records_held.html", context)


def _rater_or_404(project: Project, pk: int) -> Rater:
    return get_in_project_or_404(Rater.objects.all(), project, pk=pk)


@require_http_methods(["GET", "POST"])
@object_view(_rater_or_404, Role.OWNER)
def rater_erase(request: MemberRequest, rater: Rater) -> HttpResponse:
    if request.method == "POST":
        try:
            outcome = erase(rater=rater, comments=request.POST.get("comments") == "on", by=request.user)
        except AnnotationError as error:
            messages.error(request, f"{error.message} Nothing was erased.")
            return redirect("annotation:rater-erase", request.project.slug, rater.pk)
        comments = f" and {outcome.comments:,} comments" if outcome.comments else ""
        messages.success(request, f"Erased: who the rater was{comments}. The ratings are as they were.")
        if outcome.files:
            messages.warning(request, f"Uploaded files still hold the original names: {', '.join(outcome.files)}.")
        return redirect("annotation:rater-held", request.project.slug)
    context = {"project": request.project, "rater": rater, "held": held_of(rater)}
    return render(request, "annotation/records/campaign_records_erase.html", context)
