"""What the pages of corpora and of mining runs share."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from annotation.access import get_in_project_or_404
from annotation.errors import AnnotationError
from annotation.models import Corpus, MiningRun, Project
from annotation.selectors.mining import mining_run_rows


def corpus_or_404(project: Project, slug: str) -> Corpus:
    found = Corpus.objects.defer("content").select_related("dataset", "requested_by")
    return get_in_project_or_404(found, project, slug=slug)


def run_or_404(project: Project, pk: int) -> MiningRun:
    return get_in_project_or_404(mining_run_rows(project), project, pk=pk)


def page_or_part(request: HttpRequest, page: str, part: str, context: dict[str, Any]) -> HttpResponse:
    """One address, two answers: going back through the history must find the page, from whatever cache."""
    live = request.htmx and not request.htmx.history_restore_request  # type: ignore[attr-defined] # its middleware
    response = render(request, f"annotation/{part if live else page}.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    return response


def blame(form: forms.Form, error: AnnotationError) -> None:
    """The service's refusal, at the input it is about."""
    for name, found in (error.fields or {"": [error.message]}).items():
        form.add_error(form.field_of(name), found)  # type: ignore[attr-defined] # every form here has it
