"""Look-ups and responses shared by the pages of corpora and mining runs."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from annotation.core.access import get_in_project_or_404
from annotation.core.views import MemberRequest
from annotation.mining.selectors import mining_run_rows
from annotation.models import Corpus, MiningRun, Project


def corpus_or_404(project: Project, slug: str) -> Corpus:
    corpora = Corpus.objects.defer("content").select_related("dataset", "requested_by")
    return get_in_project_or_404(corpora, project, slug=slug)


def run_or_404(project: Project, pk: int) -> MiningRun:
    return get_in_project_or_404(mining_run_rows(project), project, pk=pk)


def page_or_part(request: MemberRequest, page: str, part: str, context: dict[str, Any]) -> HttpResponse:
    """Render the part for htmx, else the page; the Vary header keeps caches from mixing them up."""
    live = request.htmx and not request.htmx.history_restore_request
    response = render(request, f"annotation/mining/{part if live else page}.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    return response
