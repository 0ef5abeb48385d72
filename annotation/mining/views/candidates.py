"""The candidates of a mining run: seed by seed, as a download, and which near-duplicates to add."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.parameters import whole_number, whole_numbers
from annotation.core.views import MemberRequest, object_view
from annotation.mining import selectors
from annotation.mining.forms import CandidateFilterForm
from annotation.mining.services.storing import near_duplicates_choose, near_duplicates_choose_all
from annotation.mining.views.common import page_or_part, run_or_404
from annotation.models import JobState, MiningRun, Project, Role


@require_GET
@object_view(run_or_404, Role.VIEWER)
def mining_run_candidates(request: MemberRequest, run: MiningRun) -> HttpResponse:
    """Show ten seeds a page, each conversation with its candidates."""
    form = _form(request, run)
    chosen = form.chosen() if form.is_valid() else selectors.EVERYTHING
    page = selectors.candidate_page(
        run, chosen, after=whole_number(request, "after"), before=whole_number(request, "before")
    )
    filters = [(name, value) for name, value in request.GET.items() if value and name not in ("after", "before")]
    context = {
        "project": request.project,
        "run": run,
        "form": form,
        "page": page,
        "is_narrowed": chosen != selectors.EVERYTHING,
        "before_url": _page_url(request, filters, "before", page.before),
        "after_url": _page_url(request, filters, "after", page.after),
        "downloads": _downloads(request.project, run, urlencode(filters)),
        **_near_context(request, run),
    }
    return page_or_part(request, "mining_run_candidates", "mining_run_candidate_rows", context)


@require_GET
@object_view(run_or_404, Role.VIEWER)
def mining_run_download(request: MemberRequest, run: MiningRun, file_format: str) -> HttpResponseBase:
    form = _form(request, run)
    chosen = form.chosen() if form.is_valid() else selectors.EVERYTHING
    return table_response(
        format=file_format,
        filename=f"{run.dataset.slug}-mining-{run.pk}",
        columns=selectors.CANDIDATE_COLUMNS,
        rows=selectors.candidate_rows(run, chosen),
        types=selectors.CANDIDATE_TYPES,
    )


@require_POST
@object_view(run_or_404, Role.MANAGER)
def mining_run_near(request: MemberRequest, run: MiningRun) -> HttpResponse:
    """Choose the near-duplicates to add: among those ``shown`` the ones to ``take``; or all, or none."""
    project = request.project
    take = whole_numbers(request.POST, "take")
    try:
        if (every := request.POST.get("every")) in ("add", "leave"):
            near_duplicates_choose_all(run=run, left_out=every == "leave")
        else:
            near_duplicates_choose(run=run, take=take, leave_out=whole_numbers(request.POST, "shown") - take)
    except AnnotationError as error:
        if not request.htmx:
            messages.error(request, error.message)
        refusal = error.message
    else:
        refusal = ""
    if request.htmx:
        context = {"project": project, "run": run, "refusal": refusal, **_near_context(request, run)}
        return render(request, "annotation/mining/mining_run_near.html", context)
    if request.POST.get("back") == "run":
        return redirect("annotation:mining-run-detail", project.slug, run.pk)
    page = reverse("annotation:mining-run-candidates", args=[project.slug, run.pk])
    return redirect(f"{page}?{request.GET.urlencode()}" if request.GET else page)


def _page_url(request: MemberRequest, filters: list[tuple[str, Any]], name: str, position: int | None) -> str:
    return "" if position is None else f"{request.path}?{urlencode([*filters, (name, position)])}"


DOWNLOADS = {
    "csv": ("CSV table", "file-earmark-spreadsheet"),
    "json": ("JSON", "braces"),
    "jsonl": ("JSON Lines", "braces"),
    "parquet": ("Parquet", "file-earmark-spreadsheet"),
}


def _downloads(project: Project, run: MiningRun, query: str) -> list[dict[str, str]]:
    urls = {name: reverse("annotation:mining-run-download", args=[project.slug, run.pk, name]) for name in DOWNLOADS}
    return [{"url": f"{urls[name]}?{query}", "label": label, "icon": icon} for name, (label, icon) in DOWNLOADS.items()]


def _near_context(request: MemberRequest, run: MiningRun) -> dict[str, object]:
    """Return what the line about near-duplicates shows; they can be chosen until the candidates are added."""
    is_open = run.state == JobState.DONE and run.stored_at is None
    near = selectors.near_duplicates_of(run)
    here = urlencode([(name, value) for name, value in request.GET.items() if value])
    return {
        "near": near,
        "chooses": is_open and near.kept > 0 and may_manage(request.project),
        "here": here,
    }


def _form(request: HttpRequest, run: MiningRun) -> CandidateFilterForm:
    steps = list(dict.fromkeys(row["step"] for row in run.report.get("reasons", [])))
    return CandidateFilterForm(request.GET, steps=steps)
