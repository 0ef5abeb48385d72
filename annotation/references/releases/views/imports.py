"""The page of an import of weights, which shows its progress and, if the file is refused, its row errors."""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation.core.access import get_in_project_or_404
from annotation.core.exports import table_response
from annotation.core.jobs import job_request_cancel
from annotation.core.views import MemberRequest, object_view
from annotation.models import JobState, Project, Role, WeightsImport
from annotation.references.sets.access import release_url

ERROR_COLUMNS = ("file", "line", "field", "found", "accepted")


def _import_or_404(project: Project, pk: int) -> WeightsImport:
    jobs = WeightsImport.objects.defer("content").select_related("dataset", "release__reference_set")
    return get_in_project_or_404(jobs, project, pk=pk)


@require_GET
@object_view(_import_or_404, Role.VIEWER)
def weights_import_detail(request: MemberRequest, job: WeightsImport) -> HttpResponseBase:
    project = request.project
    errors = job.report.get("errors", [])
    if file_format := request.GET.get("format"):
        rows = [[error[column] for column in ERROR_COLUMNS] for error in errors]
        filename = f"weights-{job.pk}-errors"
        return table_response(format=file_format, filename=filename, columns=ERROR_COLUMNS, rows=rows)
    made_url = release_url(project, job.release) if job.release else ""
    if request.htmx and job.state == JobState.DONE and made_url:
        return HttpResponseClientRedirect(made_url)
    context = {
        "project": project,
        "job": job,
        "errors": errors,
        "more": job.report.get("total", 0) - len(errors),
        "poll_url": reverse("annotation:weights-import-detail", args=[project.slug, job.pk]),
        "cancel_url": reverse("annotation:weights-import-cancel", args=[project.slug, job.pk]),
        "again_url": f"{reverse('annotation:reference-set-import', args=[project.slug])}?dataset={job.dataset.slug}",
        "made_url": made_url,
        "made_label": "Open the release",
        "in_steps": True,  # reading, storing: too few for a progress bar
        "counts": _counts(job),
    }
    template = "datasets/dataset_import_status" if request.htmx else "references/weights_import_detail"
    return render(request, f"annotation/{template}.html", context)


def _counts(job: WeightsImport) -> list[tuple[str, int]]:
    """Return what a finished import added."""
    if job.release is None:
        return []
    report = job.release.report
    return [("References with a weight", report["references"]["weighted"]), ("Items", report["items"]["with_weight"])]


@require_POST
@object_view(_import_or_404, Role.MANAGER)
def weights_import_cancel(request: MemberRequest, job: WeightsImport) -> HttpResponse:
    job_request_cancel(job)
    return redirect("annotation:weights-import-detail", request.project.slug, job.pk)
