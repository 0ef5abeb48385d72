"""Studies: list, create, watch, read, cancel, repeat."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import may_manage
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import JobState, Role
from annotation.parameters import whole_number
from annotation.selectors.releases import finished_releases
from annotation.services.jobs import job_request_cancel
from annotation.views.jobs import job_part, start_over
from correlations import tasks
from correlations.forms import StudyForm
from correlations.models import Study
from correlations.selectors import reports
from correlations.selectors.lists import study_page
from correlations.services.studies import study_create as create
from correlations.views.asking import study_asked_for
from correlations.views.finding import finished_study_or_404, study_or_404
from metrics.views.runs import chosen_release


@require_GET
@project_view(Role.VIEWER)
def study_list(request: MemberRequest) -> HttpResponse:
    before = whole_number(request, "before")
    studies, older = study_page(Study, request.project, before=before)
    context = {
        "project": request.project,
        "studies": studies,
        "older_url": f"?before={older}" if older else "",
        "newest_url": "" if before is None else "?",
        "may_create": may_manage(request.project),
    }
    return render(request, "correlations/study_list.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def study_create(request: MemberRequest) -> HttpResponse:
    project = request.project
    releases = list(finished_releases(project)[:50])
    release = chosen_release(request, releases)
    if release is None:
        return render(request, "correlations/study_create.html", {"project": project, "releases": releases})
    form = StudyForm(request.POST or None, release=release)
    if form.is_valid():
        study, created = study_asked_for(form, create, tasks.execute, project=project, by=request.user)
        if study is not None:
            if not created:
                messages.info(request, "This very study had been computed before: here it is.")
            return redirect("correlations:study-detail", project.slug, study.pk)
    context = {"project": project, "releases": releases, "release": release, "form": form}
    return render(request, "correlations/study_create.html", context)


@require_GET
@object_view(study_or_404, Role.VIEWER)
def study_detail(request: MemberRequest, study: Study) -> HttpResponse:
    context: dict[str, Any] = {"project": request.project, "study": study, "may_manage": may_manage(request.project)}
    if request.htmx:
        return job_part(request, study, "correlations/_study_status.html", context)
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


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_row(request: MemberRequest, study: Study, row: int) -> HttpResponse:
    rows = study.result["rows"]
    if row >= len(rows):
        raise Http404(f"No row {row}; there are {len(rows)}.")
    found = rows[row]
    pks = dict(study.dataset.systems.values_list("name", "pk"))
    systems = [entry | {"pk": pks[entry["system"]]} for entry in found["systems"]]
    by_name = {entry["system"]: entry for entry in systems}
    context = {
        "project": request.project,
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


@require_POST
@object_view(study_or_404, Role.MANAGER)
def study_cancel(request: MemberRequest, study: Study) -> HttpResponse:
    job_request_cancel(study)
    return redirect("correlations:study-detail", request.project.slug, study.pk)


@require_POST
@object_view(study_or_404, Role.MANAGER)
def study_retry(request: MemberRequest, study: Study) -> HttpResponse:
    start_over(study, tasks.execute)
    return redirect("correlations:study-detail", request.project.slug, study.pk)
