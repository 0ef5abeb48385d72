"""Import data sets: the form, and a page that shows the progress and the result of an import."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation.core.access import get_in_project_or_404
from annotation.core.errors import AnnotationError
from annotation.core.exports import errors_response, table_response
from annotation.core.job_views import cancel_view
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.forms import DatasetUploadForm
from annotation.datasets.services.imports import dataset_import_create
from annotation.datasets.services.report import report_rows
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import DatasetImport, JobState, Project, RatingImport, Role, WeightsImport

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
@takes_uploads
def dataset_import(request: MemberRequest) -> HttpResponseBase:
    form = DatasetUploadForm(request.POST or None, request.FILES or None)
    if job := form.submit(dataset_import_create, project=request.project, by=request.user):
        dataset_import_execute.delay_on_commit(job.pk)
        return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)
    context = {"project": request.project, "form": form, "examples": DATASET_EXAMPLES}
    return render(request, "annotation/datasets/dataset_import.html", context)


@require_POST
@project_view(Role.MANAGER)
def dataset_import_example(request: MemberRequest) -> HttpResponseBase:
    """Import the example, as if its file had been uploaded."""
    file = EXAMPLES / "dataset.csv"
    try:
        job = dataset_import_create(
            project=request.project, by=request.user, name="Example", filename=file.name, content=file.read_bytes()
        )
    except AnnotationError as error:
        messages.error(request, str(error))
        return redirect("annotation:project-detail", request.project.slug)
    dataset_import_execute.delay_on_commit(job.pk)
    return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)


def _dataset_import_or_404(project: Project, pk: int) -> DatasetImport:
    return get_in_project_or_404(DatasetImport.objects.defer("content").select_related("dataset"), project, pk=pk)


@require_GET
@object_view(_dataset_import_or_404, Role.VIEWER)
def dataset_import_detail(request: MemberRequest, job: DatasetImport) -> HttpResponseBase:
    made = reverse("annotation:dataset-detail", args=[request.project.slug, job.dataset.slug]) if job.dataset else ""
    again = reverse("annotation:dataset-import", args=[request.project.slug])
    return import_page(request, job, kind="dataset", made_url=made, made_label="Open the data set", again_url=again)


dataset_import_cancel = cancel_view(_dataset_import_or_404, "annotation:dataset-import-detail")


# --- The page of a job ------------------------------------------------------------------------------------------------


def import_page(
    request: MemberRequest,
    job: DatasetImport | RatingImport | WeightsImport,
    *,
    kind: str,
    made_url: str,
    page: str = "datasets/dataset_import_detail",
    **context: Any,
) -> HttpResponseBase:
    """Show the page or its live part, which redirects to the result when the import is done."""
    project = request.project
    errors = job.report.get("errors", [])
    counts = context.setdefault("counts", report_rows(job.report.get("counts", {})))
    if file_format := request.GET.get("format"):
        stem = f"{'weights' if kind == 'weights' else 'import'}-{job.pk}"
        if "errors" in job.report:
            return errors_response(file_format, stem, errors)
        return table_response(format=file_format, filename=stem, columns=("what", "count"), rows=counts)
    if request.htmx and job.state == JobState.DONE and made_url:
        return HttpResponseClientRedirect(made_url)
    context |= {
        "project": project,
        "job": job,
        "errors": errors,
        "more": job.report.get("total", 0) - len(errors),
        "poll_url": reverse(f"annotation:{kind}-import-detail", args=[project.slug, job.pk]),
        "cancel_url": reverse(f"annotation:{kind}-import-cancel", args=[project.slug, job.pk]),
        "made_url": made_url,
    }
    template = "datasets/dataset_import_status" if request.htmx else page
    return render(request, f"annotation/{template}.html", context)
