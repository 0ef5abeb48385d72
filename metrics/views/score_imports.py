"""Preview, import and export of scores made elsewhere."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.exports import zip_response
from annotation.core.kept_files import FileKeeper
from annotation.core.numbers import counted
from annotation.core.problems import unlisted
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.lookups import dataset_or_404
from annotation.models import Dataset, Role
from metrics.forms.score_imports import HIGHER, ScoreImportForm
from metrics.models import ScoreRun
from metrics.services.score_exports import archive_chunks
from metrics.services.score_imports import ScorePreview, raters_marked, score_file_import, score_file_preview

STORE = "store"
RANGES = {"scale", "lowest", "highest"}


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
@takes_uploads
def run_import(request: MemberRequest) -> HttpResponse:
    """Show the form; then the same form beside a preview of the file, and a button that stores it."""
    project = request.project
    keeper = FileKeeper(project, request.user)
    if request.method == "GET":
        initial = {"dataset": request.GET.get("dataset", ""), "direction": HIGHER}
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
            shown = _previewed(request, form, file)
        except ImportRefused as error:
            shown = {"refusal": error, "more": unlisted(error.rows, error.total)}
            if file["options"].shown_scales:
                shown |= _without_refused_scales(request, form, file)
        except AnnotationError as error:
            form.add_refusal(error)
            if RANGES & set(error.fields or {}):  # inputs beside the preview
                shown = _without_refused_scales(request, form, file)
    form.keep_file()
    return _page(request, form, **shown)


def _page(request: MemberRequest, form: ScoreImportForm, **context: Any) -> HttpResponse:
    context.setdefault("skip", [])
    return render(request, "metrics/score_import.html", {"project": request.project, "form": form, **context})


def _previewed(request: MemberRequest, form: ScoreImportForm, file: dict[str, Any]) -> dict[str, Any]:
    previews = raters_marked(file["dataset"], score_file_preview(**file))
    return {"filename": file["filename"], **_read(previews, _skipped(request, form, previews))}


def _without_refused_scales(request: MemberRequest, form: ScoreImportForm, file: dict[str, Any]) -> dict[str, Any]:
    """Return the preview with every scale that was entered but the refused ones; nothing if more is wrong."""
    try:
        return _previewed(request, form, {**file, "drop_refused": True})
    except AnnotationError:
        return {}


def _read(previews: list[ScorePreview], skip: list[str]) -> dict[str, Any]:
    """Return what the page says of the columns: raters' are no columns of scores unless they are wanted."""
    if len(previews) == 1:  # it has no box to tick
        counts = "1 column, which looks like a rater’s" if previews[0].of_rater else "1 column of scores"
        return {"previews": previews, "skip": skip, "counts": counts, "to_import": previews}
    raters = [preview.metric.scorer for preview in previews if preview.of_rater and preview.metric.scorer in skip]
    n_scores = len(previews) - len(raters)
    counts = counted(n_scores, "column") + " of scores" if n_scores else "no column of scores"
    if raters:
        counts += f" and {counted(len(raters), 'column')} of raters"
    to_import = [preview for preview in previews if preview.metric.scorer not in skip]
    return {"previews": previews, "skip": skip, "raters": raters, "counts": counts, "to_import": to_import}


def _skipped(request: MemberRequest, form: ScoreImportForm, previews: list[ScorePreview]) -> list[str]:
    """Return the metrics that are not imported: the ticked ones, and raters' columns that are offered anew."""
    offered = request.POST.getlist("offered")
    anew = [preview.metric.scorer for preview in previews if preview.of_rater and preview.metric.scorer not in offered]
    return [*form.cleaned_data["skip"], *anew]


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
