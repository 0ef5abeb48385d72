"""Preview, import and export of scores made elsewhere."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.exports import zip_response
from annotation.core.kept_files import EARLIER, TEXTS, FileKeeper
from annotation.core.numbers import counted
from annotation.core.problems import unlisted
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.lookups import dataset_or_404
from annotation.models import Dataset, DatasetImport, RatingImport, Role
from metrics.forms.score_imports import HIGHER, ScoreImportForm
from metrics.models import ScoreRun
from metrics.services.score_exports import archive_chunks
from metrics.services.score_imports import ScorePreview, raters_marked, score_file_import, score_file_preview
from metrics.services.shown_columns import ShownColumns

STORE = "store"
RANGES = {"scale", "lowest", "highest"}
OF_COLUMNS = {*RANGES, "name"}


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
@takes_uploads
def run_import(request: MemberRequest) -> HttpResponse:
    """Show the form; then the same form beside a preview of the file, and a button that stores it.

    ``?ratings=`` names an import of ratings, and ``?texts=`` one of a data set, whose file may hold scores, too.
    """
    project = request.project
    keeper = FileKeeper(project, request.user, RatingImport.objects.all(), DatasetImport.objects.all())
    if request.method == "GET":
        initial = {"dataset": request.GET.get("dataset", ""), "direction": HIGHER}
        for kind, name in ((TEXTS, "texts"), (EARLIER, "ratings")):
            if number := request.GET.get(name, ""):
                initial["kept"] = f"{kind}-{number}"
        return _page(request, ScoreImportForm(project=project, keeper=keeper, initial=initial))
    form = ScoreImportForm(request.POST, request.FILES, project=project, keeper=keeper)
    shown: dict[str, Any] = {}
    if form.is_valid():
        try:
            file = form.arguments()
            if request.POST.get("action") == STORE and not form.has_old_scales:
                runs = score_file_import(**file, by=request.user)
                form.forget_file()
                return _stored(request, runs)
            shown = _previewed(form, file)
        except ImportRefused as error:
            shown = {"refusal": error, "more": unlisted(error.rows, error.total)}
            if file["options"].shown_scales:
                shown |= _without_refused(form, file)
        except AnnotationError as error:
            beside = OF_COLUMNS if form.columns_seen else RANGES
            if beside & set(error.fields or {}):  # inputs of the preview
                form.add_error(None, error.message)
                shown = _without_refused(form, file)
            else:
                form.add_refusal(error)
    form.keep_file()
    return _page(request, form, **shown)


def _page(request: MemberRequest, form: ScoreImportForm, **context: Any) -> HttpResponse:
    return render(request, "metrics/score_import.html", {"project": request.project, "form": form, **context})


def _previewed(form: ScoreImportForm, file: dict[str, Any]) -> dict[str, Any]:
    previews = raters_marked(file["dataset"], _previews(file))
    return {"filename": file["filename"], "columns": ShownColumns.of(previews, file["options"], form.columns_seen)}


def _previews(file: dict[str, Any]) -> list[ScorePreview]:
    """Read a file. A name that several columns may have is left to the page, which asks for the name of each."""
    try:
        return score_file_preview(**file)
    except AnnotationError as error:
        if not file["options"].name or "name" not in (error.fields or {}):
            raise
        try:
            previews = score_file_preview(**{**file, "options": replace(file["options"], name="")})
        except AnnotationError:
            raise error from None
        if len(previews) == 1:
            raise
        return previews


def _without_refused(form: ScoreImportForm, file: dict[str, Any]) -> dict[str, Any]:
    """Return the preview with every scale that was entered but the refused ones; nothing if more is wrong."""
    names = file["options"].shown_names
    file = {**file, "options": replace(file["options"], shown_names={}), "drop_refused": True}
    try:
        shown = _previewed(form, file)
    except AnnotationError:
        return {}
    shown["columns"] = shown["columns"].named(names)
    return shown


def _stored(request: MemberRequest, runs: list[tuple[ScoreRun, bool]]) -> HttpResponse:
    new = sum(created for _, created in runs)
    if not new:
        messages.info(request, "Opened the existing runs with these scores.")
    if len(runs) == 1:
        return redirect("metrics:run-detail", request.project.slug, runs[0][0].number)
    if new:
        existing = f" {len(runs) - new} had been imported before." if new < len(runs) else ""
        messages.success(request, f"{counted(new, 'score run')} imported.{existing}")
    return redirect("metrics:run-list", request.project.slug)


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def run_export(request: MemberRequest, dataset: Dataset) -> StreamingHttpResponse:
    """Send all finished runs of a data set with its texts and ratings, in mt-metrics-eval's layout."""
    return zip_response(archive_chunks(dataset), f"{request.project.slug}-{dataset.slug}-scores.zip")
