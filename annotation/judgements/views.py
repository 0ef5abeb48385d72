"""Imported ratings: the upload, the preview of the file, and the import."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.services.names import free_name
from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.errors import AnnotationError
from annotation.core.job_views import cancel_view
from annotation.core.kept_files import LONGEST_ID, TEXTS, FileKeeper
from annotation.core.problems import unlisted
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view
from annotation.datasets.lookups import dataset_or_404
from annotation.datasets.services.drafts import kept_until
from annotation.datasets.services.report import report_rows
from annotation.datasets.views.imports import RATING_EXAMPLES, again_initial, import_page
from annotation.judgements.forms import RatingOptionsForm, RatingUploadForm
from annotation.judgements.services import imports, preview
from annotation.judgements.services.options import SHAPE_LABELS
from annotation.judgements.services.preview import is_draft
from annotation.judgements.tasks import rating_import_execute
from annotation.models import Dataset, Project, RatingImport, Role

IMPORTED_RATINGS = "Imported ratings"  # the proposed name of their campaign


def _rating_import_or_404(project: Project, pk: int) -> RatingImport:
    jobs = RatingImport.objects.defer("content").select_related("campaign", "dataset")
    return get_in_project_or_404(jobs, project, pk=pk)


def _import_with_file_or_404(project: Project, pk: int) -> RatingImport:
    return get_in_project_or_404(RatingImport.objects.select_related("dataset"), project, pk=pk)


def _to_import(request: MemberRequest, job: RatingImport) -> HttpResponseBase:
    return redirect("annotation:rating-import-detail", request.project.slug, job.pk)


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.MANAGER)
@takes_uploads
def rating_import(request: MemberRequest, dataset: Dataset) -> HttpResponseBase:
    """Show the form. ``?texts=`` names the import of the data set, whose file may hold ratings, too."""
    keeper = FileKeeper(request.project, request.user, RatingImport.objects.all(), dataset.imports.all())
    initial = again_initial(request, RatingImport) or _initial_of_texts(request, dataset)
    form = RatingUploadForm(request.POST or None, request.FILES or None, keeper=keeper, initial=initial)
    if request.method == "POST":
        job = form.submit(imports.rating_import_create, dataset=dataset, by=request.user, draft=True)
        if job is not None:
            return _to_import(request, job)
    context = {"project": request.project, "dataset": dataset, "form": form, "examples": RATING_EXAMPLES}
    return render(request, "annotation/judgements/rating_import.html", context)


def _initial_of_texts(request: MemberRequest, dataset: Dataset) -> dict[str, Any]:
    number = request.GET.get("texts", "")
    if not number.isdecimal() or len(number) > LONGEST_ID or not dataset.imports.filter(pk=number).exists():
        return {}
    return {"kept": f"{TEXTS}-{number}", "name": free_name(request.project, IMPORTED_RATINGS)}


@require_GET
@object_view(_rating_import_or_404, Role.VIEWER)
def rating_import_detail(request: MemberRequest, job: RatingImport) -> HttpResponseBase:
    project = request.project
    if is_draft(job):
        return _preview_page(request, job, RatingOptionsForm(initial=job.options))
    made = reverse("annotation:campaign-detail", args=[project.slug, job.campaign_id]) if job.campaign_id else ""
    again = f"{reverse('annotation:rating-import', args=[project.slug, job.dataset.slug])}?again={job.pk}"
    return import_page(request, job, kind="rating", made_url=made, made_label="Open the campaign", again_url=again)


def _shown_value(value: float | str | None) -> str:
    if value is None:
        return "not rated"
    return value if isinstance(value, str) else f"{value:g}".replace("-", "−")


def _preview_page(request: MemberRequest, job: RatingImport, form: RatingOptionsForm) -> HttpResponseBase:
    """Return the preview of a file, to be confirmed."""
    report = job.report["preview"]
    context = {
        "project": request.project,
        "dataset": job.dataset,
        "job": job,
        "preview": report,
        "import_label": preview.import_label(report),
        "shape": SHAPE_LABELS[report["options"]["shape"]],
        "sample": [
            {**judgement, "cells": list(zip(report["criteria"], map(_shown_value, judgement["values"]), strict=True))}
            for judgement in report["sample"]
        ],
        "counts": report_rows(report["counts"]),
        "may_manage": may_manage(request.project),
        "more": unlisted(report["errors"], report["total"]),
        "form": form,
        "kept_until": kept_until(job),
    }
    return render(request, "annotation/judgements/rating_import_preview.html", context)


@require_POST
@object_view(_rating_import_or_404, Role.MANAGER)
def rating_import_confirm(request: MemberRequest, job: RatingImport) -> HttpResponseBase:
    """Import the file as previewed; a second confirmation changes nothing."""
    if preview.rating_import_confirm(job=job):
        rating_import_execute.delay_on_commit(job.pk)
    return _to_import(request, job)


@require_POST
@object_view(_import_with_file_or_404, Role.MANAGER)
def rating_import_read_again(request: MemberRequest, job: RatingImport) -> HttpResponseBase:
    form = RatingOptionsForm(request.POST)
    if form.is_valid():
        try:
            preview.rating_import_read_again(job=job, options=form.cleaned_data["options"])
        except AnnotationError as error:
            messages.error(request, error.message)
    elif is_draft(job):
        return _preview_page(request, job, form)
    return _to_import(request, job)


@require_POST
@object_view(_rating_import_or_404, Role.MANAGER)
def rating_import_discard(request: MemberRequest, job: RatingImport) -> HttpResponseBase:
    try:
        preview.rating_import_discard(job=job)
    except AnnotationError as error:
        messages.error(request, error.message)
        return _to_import(request, job)
    messages.success(request, f"{job.filename} was discarded; nothing was imported.")
    return redirect("annotation:dataset-detail", request.project.slug, job.dataset.slug)


rating_import_cancel = cancel_view(_rating_import_or_404, "annotation:rating-import-detail")
