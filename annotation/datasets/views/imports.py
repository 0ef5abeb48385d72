"""Import data sets: the form, and a page that shows the progress and the result of an import."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation.core.access import get_in_project_or_404
from annotation.core.exports import table_response
from annotation.core.jobs import job_request_cancel
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.forms import DatasetUploadForm
from annotation.datasets.services.imports import dataset_import_create
from annotation.datasets.services.report import report_rows
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import DatasetImport, JobState, Project, RatingImport, Role

EXAMPLES = Path(settings.BASE_DIR) / "demo" / "examples"
DATASET_EXAMPLES, RATING_EXAMPLES = (
    sorted(path.name for path in EXAMPLES.glob(pattern)) for pattern in ("dataset.*", "ratings*.*")
)


@require_GET
def example_file(request: HttpRequest, filename: str) -> FileResponse:
    if filename not in DATASET_EXAMPLES + RATING_EXAMPLES:
        raise Http404(f"No example {filename!r}.")
    return FileResponse((EXAMPLES / filename).open("rb"), as_attachment=True, content_type="text/plain; charset=utf-8")


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def dataset_import(request: MemberRequest) -> HttpResponseBase:
    form = DatasetUploadForm(request.POST or None, request.FILES or None)
    if job := form.submit(dataset_import_create, project=request.project, by=request.user):
        dataset_import_execute.delay_on_commit(job.pk)
        return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)
    context = {"project": request.project, "form": form, "examples": DATASET_EXAMPLES}
    return render(request, "annotation/datasets/dataset_import.html", context)


def _dataset_import_or_404(project: Project, pk: int) -> DatasetImport:
    return get_in_project_or_404(DatasetImport.objects.defer("content").select_related("dataset"), project, pk=pk)


@require_GET
@object_view(_dataset_import_or_404, Role.VIEWER)
def dataset_import_detail(request: MemberRequest, job: DatasetImport) -> HttpResponseBase:
    made = reverse("annotation:dataset-detail", args=[request.project.slug, job.dataset.slug]) if job.dataset else ""
    return import_page(request, job, kind="dataset", made_url=made, made_label="Open the data set")


@require_POST
@object_view(_dataset_import_or_404, Role.MANAGER)
def dataset_import_cancel(request: MemberRequest, job: DatasetImport) -> HttpResponseBase:
    job_request_cancel(job)
    return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)


# --- The page of a job ------------------------------------------------------------------------------------------------


def import_page(
    request: MemberRequest, job: DatasetImport | RatingImport, *, kind: str, made_url: str, made_label: str
) -> HttpResponseBase:
    """Show the page or its live part, which redirects to the result when the import is done."""
    project = request.project
    if file_format := request.GET.get("format"):
        return _report_download(job, file_format)
    if request.htmx and job.state == JobState.DONE and made_url:
        return HttpResponseClientRedirect(made_url)
    errors = job.report.get("errors", [])
    dataset_slug = job.dataset.slug if job.dataset else ""
    again = {
        "dataset": reverse("annotation:dataset-import", args=[project.slug]),
        "rating": reverse("annotation:rating-import", args=[project.slug, dataset_slug]) if dataset_slug else "",
    }
    context: dict[str, Any] = {
        "project": project,
        "job": job,
        "errors": errors,
        "more": job.report.get("total", 0) - len(errors),
        "counts": report_rows(job.report.get("counts", {})),
        "poll_url": reverse(f"annotation:{kind}-import-detail", args=[project.slug, job.pk]),
        "cancel_url": reverse(f"annotation:{kind}-import-cancel", args=[project.slug, job.pk]),
        "again_url": again[kind],
        "made_url": made_url,
        "made_label": made_label,
    }
    template = "import_status" if request.htmx else "import_detail"
    return render(request, f"annotation/datasets/dataset_{template}.html", context)


def _report_download(job: DatasetImport | RatingImport, file_format: str) -> HttpResponseBase:
    if "errors" in job.report:
        columns = ["file", "line", "field", "found", "accepted"]
        rows = [[error[column] for column in columns] for error in job.report["errors"]]
        return table_response(format=file_format, filename=f"import-{job.pk}-errors", columns=columns, rows=rows)
    counts = report_rows(job.report.get("counts", {}))
    return table_response(format=file_format, filename=f"import-{job.pk}", columns=["what", "count"], rows=counts)
