"""Scores made elsewhere: looked at, imported, and taken away again."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import get_in_project_or_404, get_project_or_404
from annotation.errors import AnnotationError, ImportRefused
from annotation.models import Dataset, Project, Role, User
from metrics.forms.score_imports import HIGHER, ScoreImportForm, packed
from metrics.models import ScoreRun
from metrics.services.score_exports import archive_chunks
from metrics.services.score_imports import score_file_import, score_file_look

STORE = "store"
FIELDS = {"scorer": "name", "lower_is_better": "direction"}


@login_required
@require_http_methods(["GET", "POST"])
def run_import(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The form; then the same form beside what was understood, and a button that stores it."""
    user = cast(User, request.user)
    project = get_project_or_404(user, project_slug, role=Role.MANAGER)
    if request.method == "GET":
        initial = {"dataset": request.GET.get("dataset", ""), "direction": HIGHER}
        return _page(request, project, ScoreImportForm(project=project, initial=initial))
    form = ScoreImportForm(request.POST, request.FILES, project=project)
    if not form.is_valid():
        return _page(request, project, form)
    found, refusal = None, None
    file: dict[str, Any] = {key: form.cleaned_data[key] for key in ("dataset", "filename", "content")}
    try:
        if request.POST.get("action") == STORE:
            return _stored(request, project, score_file_import(**file, by=user, options=form.options()))
        found = score_file_look(**file, options=form.options())
    except ImportRefused as error:
        refusal = error
    except AnnotationError as error:
        for name, told in error.fields.items():
            form.add_error(FIELDS.get(name, name) if FIELDS.get(name, name) in form.fields else None, told)
        if not error.fields:
            form.add_error(None, error.message)
    form.carry(file["filename"])
    carried = {"carried": packed(file["content"]), "filename": file["filename"]}
    more = refusal.total - len(refusal.rows) if refusal else 0
    return _page(request, project, form, found=found, refusal=refusal, more=more, **carried)


def _page(request: HttpRequest, project: Project, form: ScoreImportForm, **context: Any) -> HttpResponse:
    context["lower"] = form["lower"].value() or [] if form.is_bound else []
    return render(request, "metrics/score_import.html", {"project": project, "form": form, **context})


def _stored(request: HttpRequest, project: Project, runs: list[tuple[ScoreRun, bool]]) -> HttpResponse:
    new = sum(created for _, created in runs)
    if not new:
        messages.info(request, "These very scores were imported before: here they are.")
    if len(runs) == 1:
        return redirect("metrics:run-detail", project.slug, runs[0][0].pk)
    if new:
        again = f" {len(runs) - new} had been imported before." if new < len(runs) else ""
        messages.success(request, f"{new} score run{'' if new == 1 else 's'} imported.{again}")
    return redirect("metrics:run-list", project.slug)


@login_required
@require_GET
def run_export(request: HttpRequest, project_slug: str, dataset_slug: str) -> StreamingHttpResponse:
    """All finished runs of a data set with its texts and ratings, in mt-metrics-eval's layout."""
    project = get_project_or_404(cast(User, request.user), project_slug)
    dataset = get_in_project_or_404(Dataset.objects, project, slug=dataset_slug)
    response = StreamingHttpResponse(archive_chunks(dataset), content_type="application/zip")
    response["Content-Disposition"] = content_disposition_header(True, f"{project.slug}-{dataset.slug}-scores.zip")
    return response
