"""Import data sets: the form, and a page that shows the progress and the result of an import."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import errors_response, table_response
from annotation.core.job_views import cancel_view
from annotation.core.kept_files import LONGEST_ID, FileKeeper
from annotation.core.problems import unlisted
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.datasets.forms import DatasetUploadForm, MappingForm
from annotation.datasets.mapping.meanings import DIALOGUE, IGNORE, MEANINGS
from annotation.datasets.mapping.rules import is_by_rows, numbers_by_texts
from annotation.datasets.services.drafts import (
    dataset_import_ask,
    dataset_import_confirm,
    dataset_import_discard,
    given_mapping,
    is_draft,
    kept_until,
)
from annotation.datasets.services.files import TURN_SEPARATOR
from annotation.datasets.services.imports import dataset_import_create
from annotation.datasets.services.looking import numbers_left_out, preview_items
from annotation.datasets.services.report import meanings_of, report_rows
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
    keeper = FileKeeper(request.project, request.user, DatasetImport.objects.all())
    initial = again_initial(request, DatasetImport)
    form = DatasetUploadForm(request.POST or None, request.FILES or None, keeper=keeper, initial=initial)
    if job := form.submit(dataset_import_create, project=request.project, by=request.user, ask=True):
        dataset_import_execute.delay_on_commit(job.pk)
        return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)
    context = {"project": request.project, "form": form, "examples": DATASET_EXAMPLES}
    return render(request, "annotation/datasets/dataset_import.html", context)


def again_initial(request: MemberRequest, jobs: type[DatasetImport | RatingImport | WeightsImport]) -> dict[str, Any]:
    """Return what the form of the import that ``?again=`` names was sent with, its file included."""
    number = request.GET.get("again", "")
    if not number.isdecimal() or len(number) > LONGEST_ID:
        return {}
    job: Any = jobs._default_manager.defer("content").filter(project=request.project, pk=number).first()
    if job is None:
        return {}
    sent = {name: getattr(job, name) for name in ("name", "file_format", "reference_set") if hasattr(job, name)}
    return {**sent, **job.options, "kept": FileKeeper.key_of(job)}


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
    if is_draft(job):
        if request.htmx:
            return HttpResponseClientRefresh()
        look = job.report["look"]
        return mapping_page(request, job, MappingForm(None, fields=look["fields"], mapping=look["mapping"]))
    again = f"{reverse('annotation:dataset-import', args=[request.project.slug])}?again={job.pk}"
    may_map = job.state == JobState.FAILED and "errors" in job.report and may_manage(request.project)
    context: dict[str, Any] = {
        "made_label": "Open the data set",
        "again_url": again,
        "map_url": reverse("annotation:dataset-import-ask", args=[request.project.slug, job.pk]) if may_map else "",
        "meanings": meanings_of(job.options.get("mapping", {})),
    }
    return import_page(request, job, kind="dataset", made_url=made, **context)


dataset_import_cancel = cancel_view(_dataset_import_or_404, "annotation:dataset-import-detail")


# --- What the fields of a file mean -----------------------------------------------------------------------------------


def mapping_page(request: MemberRequest, job: DatasetImport, form: MappingForm) -> HttpResponseBase:
    """Show the fields with their proposed or chosen meanings, and the first items as they would be imported."""
    look = job.report["look"]
    mapping, preview, refusal = look["mapping"], None, ""
    if form.is_bound:
        mapping = form.arguments()["mapping"] if form.is_valid() else {}
    try:
        mapping = given_mapping(mapping, look.get("likely_id", ""))
        separator = job.options.get("turn_separator", TURN_SEPARATOR)
        preview = preview_items(look["rows"], mapping, filename=job.filename, turn_separator=separator)
    except AnnotationError as error:
        refusal = error.message
    if form.errors:
        refusal = "A field is marked: correct it first."
    numbers = numbers_left_out(look["fields"], mapping)
    context = {
        "project": request.project,
        "job": job,
        "look": look,
        "form": form,
        "preview": preview,
        "refusal": refusal,
        "is_chosen": form.is_bound,  # else nothing was done yet that could be wrong
        "takes_focus": form.is_bound and not request.htmx and "look" not in request.POST,
        "meanings": MEANINGS.values(),
        "numbers_by_texts": numbers_by_texts(mapping),
        "left_out": [
            field["name"]
            for field in look["fields"]
            if mapping.get(field["name"]) == IGNORE and field["name"] not in numbers
        ],
        "dialogue_field": next((name for name, meaning in mapping.items() if meaning == DIALOGUE), ""),
        "numbers_left_out": numbers,
        "more": unlisted(preview.errors, preview.total) if preview else 0,
        "has_more_rows": is_by_rows(mapping) and look["n_rows"] > len(look["rows"]),
        "may_manage": may_manage(request.project),
        "kept_until": kept_until(job),
    }
    page = "dataset_mapping_preview" if request.htmx else "dataset_mapping"
    return render(request, f"annotation/datasets/{page}.html", context)


@require_POST
@object_view(_dataset_import_or_404, Role.MANAGER)
def dataset_import_map(request: MemberRequest, job: DatasetImport) -> HttpResponseBase:
    """Import the file with the chosen meanings, or show what they would give; a second confirmation changes nothing."""
    if is_draft(job):
        look = job.report["look"]
        form = MappingForm(request.POST, fields=look["fields"], mapping=look["mapping"])
        if request.htmx or "look" in request.POST or not form.is_valid():
            return mapping_page(request, job, form)
        try:
            confirmed = dataset_import_confirm(job=job, **form.arguments())
        except AnnotationError:
            return mapping_page(request, job, form)  # which says why
        if confirmed:
            dataset_import_execute.delay_on_commit(job.pk)
    return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)


@require_POST
@object_view(_dataset_import_or_404, Role.MANAGER)
def dataset_import_ask_again(request: MemberRequest, job: DatasetImport) -> HttpResponseBase:
    """Look at a refused file again, to choose what its fields mean."""
    if dataset_import_ask(job=job):
        dataset_import_execute.delay_on_commit(job.pk)
    return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)


@require_POST
@object_view(_dataset_import_or_404, Role.MANAGER)
def dataset_import_drop(request: MemberRequest, job: DatasetImport) -> HttpResponseBase:
    if perform(
        request, lambda by: dataset_import_discard(job=job), f"{job.filename} was discarded; nothing was imported."
    ):
        return redirect("annotation:dataset-list", request.project.slug)
    return redirect("annotation:dataset-import-detail", request.project.slug, job.pk)


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
        "more": unlisted(errors, job.report.get("total", 0)),
        "poll_url": reverse(f"annotation:{kind}-import-detail", args=[project.slug, job.pk]),
        "cancel_url": reverse(f"annotation:{kind}-import-cancel", args=[project.slug, job.pk]),
        "made_url": made_url,
    }
    template = "datasets/dataset_import_status" if request.htmx else page
    return render(request, f"annotation/{template}.html", context)
