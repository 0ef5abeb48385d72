"""Studies: list, create, watch, read, cancel, repeat."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import get_project_or_404, may_manage
from annotation.models import JobState, Role, User
from annotation.parameters import whole_number
from annotation.selectors.releases import finished_releases
from annotation.services.jobs import job_request_cancel
from annotation.views.jobs import start_over
from correlations import tasks
from correlations.forms import StudyForm
from correlations.models import Study
from correlations.selectors import reports
from correlations.selectors.lists import study_page
from correlations.services.studies import study_create as create
from correlations.views.asking import study_asked_for
from correlations.views.finding import get_result_or_404, get_study_or_404
from metrics.views.runs import chosen_release


@login_required
@require_GET
def study_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    before = whole_number(request, "before")
    studies, more = study_page(Study, project, before=before)
    context = {
        "project": project,
        "studies": studies,
        "older_url": f"?before={studies[-1].pk}" if more else "",
        "newest_url": "" if before is None else "?",
        "may_create": may_manage(project),
    }
    return render(request, "correlations/study_list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def study_create(request: HttpRequest, project_slug: str) -> HttpResponse:
    user = cast(User, request.user)
    project = get_project_or_404(user, project_slug, role=Role.MANAGER)
    releases = list(finished_releases(project)[:50])
    release = chosen_release(request, releases)
    if release is None:
        return render(request, "correlations/study_create.html", {"project": project, "releases": releases})
    form = StudyForm(request.POST or None, release=release)
    if form.is_valid():
        study, created = study_asked_for(form, create, tasks.execute, project=project, by=user)
        if study is not None:
            if not created:
                messages.info(request, "This very study had been computed before: here it is.")
            return redirect("correlations:study-detail", project.slug, study.pk)
    context = {"project": project, "releases": releases, "release": release, "form": form}
    return render(request, "correlations/study_create.html", context)


@login_required
@require_GET
def study_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_study_or_404(Study, project, pk)
    context: dict[str, Any] = {"project": project, "study": study, "may_manage": may_manage(project)}
    if request.htmx:  # type: ignore[attr-defined] # set by django_htmx's middleware
        # Finished while watched: the whole page has more to show now.
        if study.is_finished:
            return HttpResponseClientRefresh()
        return render(request, "correlations/_study_status.html", context)
    if study.state == JobState.DONE and study.result:
        context |= {
            "result": study.result,
            "spec": study.specification,
            "best": reports.best_row(study.result),
            "few_units": reports.few_units(study.result),
            "comparisons": reports.comparisons_worth_showing(study.result),
            "any_negated": any(row.get("negated") for row in study.result["rows"]),
            "any_without_references": any(row["subset"] == "none" for row in study.result["rows"]),
            "any_order": any("max_order" in entry.get("parameters", {}) for entry in study.specification["metrics"]),
            "many_metrics": len(study.specification["metrics"]) > reports.IN_COLOUR,
            "clamped": reports.clamped_rows(study.result),
            "left_out": sum(entry["count"] for entry in study.result["items"]["dropped"]),
            "sweeps": [
                (name, title, study.result["sweeps"][name])
                for name, title in reports.SWEEPS.items()
                if reports.has_sweep(study.result, name)
            ],
        }
    return render(request, "correlations/study_detail.html", context)


@login_required
@require_GET
def study_row(request: HttpRequest, project_slug: str, pk: int, row: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug)
    study = get_result_or_404(Study, project, pk)
    rows = study.result["rows"]
    if row >= len(rows):
        raise Http404(f"No row {row}; there are {len(rows)}.")
    found = rows[row]
    pks = dict(study.dataset.systems.values_list("name", "pk"))
    systems = [entry | {"pk": pks[entry["system"]]} for entry in found["systems"]]
    by_name = {entry["system"]: entry for entry in systems}
    context = {
        "project": project,
        "study": study,
        "row": found,
        "place": row,
        "coefficients": [("Spearman's ρ", found["rho"]), ("Kendall's τ", found["tau"])],
        "systems": sorted(systems, key=lambda entry: -(entry["rating"] or 0)),
        "pairs": [_compared(pair, by_name, negated=found.get("negated", False)) for pair in study.result["pairs"]],
        "figure_name": f"row-{row}",
        "has_figure": reports.figure(study, f"row-{row}", theme="light") is not None,
        "previous": row - 1 if row else None,
        "next": row + 1 if row + 1 < len(rows) else None,
    }
    return render(request, "correlations/study_row.html", context)


def _compared(pair: dict[str, Any], systems: dict[str, dict[str, Any]], *, negated: bool) -> dict[str, Any]:
    """Which system of a pair the metric prefers over the whole corpus, and which the raters."""
    a, b = systems[pair["a"]], systems[pair["b"]]
    if None in (a["score"], b["score"], a["rating"], b["rating"]):
        return pair | {"metric": None, "human": None, "agree": None}
    metric, human = a["score"] - b["score"], a["rating"] - b["rating"]
    agree = metric * human < 0 if negated else metric * human > 0
    return pair | {"metric": metric, "human": human, "agree": agree}


@login_required
@require_POST
def study_cancel(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
    study = get_study_or_404(Study, project, pk)
    job_request_cancel(study)
    return redirect("correlations:study-detail", project.slug, study.pk)


@login_required
@require_POST
def study_retry(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(cast(User, request.user), project_slug, role=Role.MANAGER)
    study = get_study_or_404(Study, project, pk)
    start_over(study, tasks.execute)
    return redirect("correlations:study-detail", project.slug, study.pk)
