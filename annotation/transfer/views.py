"""Projects that leave and enter: what an archive holds, its download, its upload, and the comparison of hashes."""

from collections import Counter

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.exports import zip_response
from annotation.core.jobs import job_request_cancel
from annotation.core.problems import unlisted
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, UserRequest, project_view
from annotation.models import ProjectImport, Role, User
from annotation.projects.selectors.deletion import contents_of
from annotation.transfer.forms import ProjectImportForm
from annotation.transfer.registry import MISSING
from annotation.transfer.services.export import project_chunks
from annotation.transfer.services.imports import project_import_create
from annotation.transfer.tasks import project_import_execute


@require_GET
@project_view(Role.OWNER)
def project_export(request: MemberRequest) -> HttpResponse:
    """Show what leaves with the project, and what stays."""
    project = request.project
    missing = [each for source in MISSING for each in source(project)]
    context = {"project": project, "contents": contents_of(project), "missing": missing}
    return render(request, "annotation/transfer/project_export.html", context)


@require_GET
@project_view(Role.OWNER)
def project_archive(request: MemberRequest) -> HttpResponseBase:
    """Download the project as one archive."""
    return zip_response(project_chunks(request.project), f"{request.project.slug}.assay.zip")


@login_required
@require_http_methods(["GET", "POST"])
@takes_uploads
def project_import(request: UserRequest) -> HttpResponseBase:
    form = ProjectImportForm(request.POST or None, request.FILES or None)
    if job := form.submit(project_import_create, by=request.user):
        project_import_execute.delay_on_commit(job.pk)
        return redirect("annotation:project-import-detail", job.pk)
    context = {"form": form, "imports": _imports_of(request.user).order_by("-pk")[:10]}
    return render(request, "annotation/transfer/project_import.html", context)


def _imports_of(user: User) -> QuerySet[ProjectImport]:
    """Return the imports that the user began: no one else sees them."""
    return ProjectImport.objects.defer("content").select_related("project").filter(requested_by=user)


@login_required
@require_GET
def project_import_detail(request: UserRequest, pk: int) -> HttpResponse:
    """Show progress, then the hashes as published and as computed here."""
    job = get_object_or_404(_imports_of(request.user), pk=pk)
    hashes, errors = job.report.get("hashes", []), job.report.get("errors", [])
    equal = Counter(row["equal"] for row in hashes)[True]
    context = {
        "job": job,
        "hashes": hashes,
        "differing": [row for row in hashes if not row["equal"]],
        "equal": equal,
        "missing": job.report.get("missing", []),
        "errors": errors,
        "more": unlisted(errors, job.report.get("total", 0)),
        "poll_url": request.path,
        "cancel_url": reverse("annotation:project-import-cancel", args=[job.pk]),
        "project_url": reverse("annotation:project-detail", args=[job.project.slug]) if job.project else "",
    }
    part = "annotation/transfer/project_import_status.html"
    return render(request, part if request.htmx else "annotation/transfer/project_import_detail.html", context)


@login_required
@require_POST
def project_import_cancel(request: UserRequest, pk: int) -> HttpResponse:
    job_request_cancel(get_object_or_404(_imports_of(request.user), pk=pk))
    return redirect("annotation:project-import-detail", pk)
