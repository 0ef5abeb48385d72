"""Uploads: the form, then a page that follows the import until it is done or refused."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation.access import get_in_project_or_404, get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.forms.datasets import DatasetUploadForm
from annotation.forms.rating_imports import RatingOptionsForm, RatingUploadForm
from annotation.models import Dataset, DatasetImport, JobState, Project, RatingImport, Role
from annotation.services import imports as services
from annotation.services.imports import report_rows
from annotation.services.imports.rating_options import SHAPES
from annotation.services.imports.rating_preview import is_draft
from annotation.services.jobs import job_request_cancel
from annotation.tasks import dataset_import_execute, rating_import_execute

EXAMPLES = Path(settings.BASE_DIR) / "demo" / "examples"
DATASET_EXAMPLES = ("dataset.jsonl", "dataset.csv", "dataset.tsv")
RATING_EXAMPLES = (
    "ratings.jsonl", "ratings.csv", "ratings.tsv", "ratings-long.csv", "ratings-by-rater.csv", "ratings-medians.csv",
    "ratings-appraise.csv", "ratings-label-studio.json",
)  # fmt: skip


@require_GET
def example_file(request: HttpRequest, filename: str) -> FileResponse:
    if filename not in DATASET_EXAMPLES + RATING_EXAMPLES:
        raise Http404(f"No example {filename!r}.")
    return FileResponse((EXAMPLES / filename).open("rb"), as_attachment=True, content_type="text/plain; charset=utf-8")


def _blame(form: Form, error: AnnotationError) -> None:
    """The service's refusal, at the field it is about."""
    for name, found in error.fields.items():
        for message in found:
            form.add_error(name if name in form.fields else None, message)
    if not error.fields:
        form.add_error(None, error.message)


# --- Data sets --------------------------------------------------------------------------------------------------------


@login_required
@require_http_methods(["GET", "POST"])
def dataset_import(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    form = DatasetUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        data = dict(form.cleaned_data)
        file = data.pop("file")
        try:
            job = services.dataset_import_create(
                project=project, by=request.user, filename=file.name, content=file.read(), **data
            )
        except AnnotationError as error:
            _blame(form, error)
        else:
            dataset_import_execute.delay_on_commit(job.pk)
            return redirect("annotation:dataset-import-detail", project.slug, job.pk)
    context = {"project": project, "form": form, "examples": DATASET_EXAMPLES}
    return render(request, "annotation/dataset_import.html", context)


@login_required
@require_GET
def dataset_import_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    job = get_in_project_or_404(DatasetImport.objects.defer("content").select_related("dataset"), project, pk=pk)
    made = reverse("annotation:dataset-detail", args=[project.slug, job.dataset.slug]) if job.dataset else ""
    return _job_page(request, project, job, kind="dataset", made_url=made, made_label="Open the data set")


@login_required
@require_POST
def dataset_import_cancel(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    job = get_in_project_or_404(DatasetImport.objects.defer("content"), project, pk=pk)
    job_request_cancel(job)
    return redirect("annotation:dataset-import-detail", project.slug, job.pk)


# --- Ratings ----------------------------------------------------------------------------------------------------------


@login_required
@require_http_methods(["GET", "POST"])
def rating_import(request: HttpRequest, project_slug: str, dataset_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    dataset = get_in_project_or_404(Dataset.objects, project, slug=dataset_slug)
    form = RatingUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            job = services.rating_import_draft(
                dataset=dataset,
                by=request.user,
                name=form.cleaned_data["name"],
                filename=file.name,
                content=file.read(),
                file_format=form.cleaned_data["file_format"],
                options=form.cleaned_data["options"],
            )
        except AnnotationError as error:
            _blame(form, error)
        else:
            return redirect("annotation:rating-import-detail", project.slug, job.pk)
    context = {"project": project, "dataset": dataset, "form": form, "examples": RATING_EXAMPLES}
    return render(request, "annotation/rating_import.html", context)


@login_required
@require_GET
def rating_import_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    jobs = RatingImport.objects.defer("content").select_related("campaign", "dataset")
    job = get_in_project_or_404(jobs, project, pk=pk)
    if is_draft(job):
        return _preview_page(request, project, job, RatingOptionsForm(initial=job.options))
    made = reverse("annotation:campaign-detail", args=[project.slug, job.campaign_id]) if job.campaign_id else ""
    return _job_page(request, project, job, kind="rating", made_url=made, made_label="Open the campaign")


def _shown_value(value: float | str | None) -> str:
    if value is None:
        return "not rated"
    return value if isinstance(value, str) else f"{value:g}".replace("-", "−")


def _preview_page(request: HttpRequest, project: Project, job: RatingImport, form: RatingOptionsForm) -> HttpResponse:
    """What a file looks like, for somebody to confirm."""
    preview = job.report["preview"]
    context = {
        "project": project,
        "dataset": job.dataset,
        "job": job,
        "preview": preview,
        "shape": SHAPES[preview["options"]["shape"]],
        "sample": [
            {**one, "cells": list(zip(preview["criteria"], map(_shown_value, one["values"]), strict=True))}
            for one in preview["sample"]
        ],
        "counts": report_rows(preview["counts"]),
        "may_manage": may_manage(project),
        "more": preview["total"] - len(preview["errors"]),
        "form": form,
    }
    return render(request, "annotation/rating_import_preview.html", context)


@login_required
@require_POST
def rating_import_confirm(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    """Import the file as it was shown; one that is on its way already stays so."""
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    job = get_in_project_or_404(RatingImport.objects.defer("content"), project, pk=pk)
    if services.rating_import_confirm(job=job):
        rating_import_execute.delay_on_commit(job.pk)
    return redirect("annotation:rating-import-detail", project.slug, job.pk)


@login_required
@require_POST
def rating_import_read_again(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    job = get_in_project_or_404(RatingImport.objects.select_related("dataset"), project, pk=pk)
    form = RatingOptionsForm(request.POST)
    if form.is_valid():
        try:
            services.rating_import_read_again(job=job, options=form.cleaned_data["options"])
        except AnnotationError as error:
            messages.error(request, error.message)
    elif is_draft(job):
        return _preview_page(request, project, job, form)
    return redirect("annotation:rating-import-detail", project.slug, job.pk)


@login_required
@require_POST
def rating_import_discard(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    job = get_in_project_or_404(RatingImport.objects.defer("content").select_related("dataset"), project, pk=pk)
    try:
        services.rating_import_discard(job=job)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:rating-import-detail", project.slug, pk)
    messages.success(request, f"{job.filename} was discarded; nothing was stored.")
    return redirect("annotation:dataset-detail", project.slug, job.dataset.slug)


@login_required
@require_POST
def rating_import_cancel(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    job = get_in_project_or_404(RatingImport.objects.defer("content"), project, pk=pk)
    job_request_cancel(job)
    return redirect("annotation:rating-import-detail", project.slug, job.pk)


# --- The page of a job ------------------------------------------------------------------------------------------------


def _job_page(
    request: HttpRequest,
    project: Project,
    job: DatasetImport | RatingImport,
    *,
    kind: str,
    made_url: str,
    made_label: str,
) -> HttpResponse:
    """The page, or its live part; whoever watched an import succeed is taken to what it made."""
    if wanted := request.GET.get("format"):
        return _report_download(job, wanted)
    watching = request.htmx  # type: ignore[attr-defined] # set by its middleware
    if watching and job.state == JobState.DONE and made_url:
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
    template = "import_status" if watching else "import_detail"
    return render(request, f"annotation/dataset_{template}.html", context)


def _report_download(job: DatasetImport | RatingImport, wanted: str) -> HttpResponse:
    if "errors" in job.report:
        columns = ["file", "line", "field", "found", "accepted"]
        rows = [[error[column] for column in columns] for error in job.report["errors"]]
        return table_response(format=wanted, filename=f"import-{job.pk}-errors", columns=columns, rows=rows)
    found = report_rows(job.report.get("counts", {}))
    return table_response(format=wanted, filename=f"import-{job.pk}", columns=["what", "count"], rows=found)
