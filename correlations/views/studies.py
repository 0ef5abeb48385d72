"""Studies: list, create, watch, read, cancel, repeat."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.access import may_manage
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import JobState, Role
from annotation.references.releases.selectors.releases import finished_releases
from correlations import tasks
from correlations.forms import StudyForm
from correlations.models import Study
from correlations.results.study import NO_REFERENCES, PairUnits, RowSystem
from correlations.selectors import reports
from correlations.selectors.lists import study_page
from correlations.selectors.methods import study_methods
from correlations.services.studies import study_create as create
from correlations.views.creating import study_from_form
from correlations.views.finding import finished_study_or_404, study_or_404
from metrics.templatetags.report import references
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
        study, created = study_from_form(form, create, tasks.execute, project=project, by=request.user)
        if study is not None:
            if not created:
                messages.info(request, "Opened the existing study with these settings.")
            return redirect("correlations:study-detail", project.slug, study.pk)
    context = {"project": project, "releases": releases, "release": release, "form": form}
    return render(request, "correlations/study_create.html", context)


@require_GET
@object_view(study_or_404, Role.VIEWER)
def study_detail(request: MemberRequest, study: Study) -> HttpResponse:
    context: dict[str, Any] = {"project": request.project, "study": study, "may_manage": may_manage(request.project)}
    if request.htmx:
        return job_part(request, study, "correlations/_study_status.html", context)
    if study.state == JobState.DONE:
        context |= _report(study)
    return render(request, "correlations/study_detail.html", context)


def _report(study: Study) -> dict[str, Any]:
    result = study.read_result()
    return {
        "result": result,
        "spec": study.specification,
        "rows": [(row, reports.estimates(result, row)) for row in result.rows],
        "cards": reports.summary_cards(study, result),
        "methods": study_methods(study, result),
        "best": reports.best_row(result),
        "few_units": reports.few_units(result),
        "comparisons": reports.comparisons_worth_showing(result),
        "any_negated": any(row.negated for row in result.rows),
        "any_without_references": any(row.subset == NO_REFERENCES for row in result.rows),
        "many_metrics": len(study.specification["metrics"]) > reports.IN_COLOUR,
        "clamped": reports.clamped_rows(result),
        "forest_caption": reports.FOREST_CAPTION,
        "sweeps": reports.sweeps_to_draw(result),
    }


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_row(request: MemberRequest, study: Study, row: int) -> HttpResponse:
    result = study.read_result()
    if row >= len(result.rows):
        raise Http404(f"No row {row}; there are {len(result.rows)}.")
    shown = result.rows[row]
    pks = dict(study.dataset.systems.values_list("name", "pk"))
    by_name = {entry.system: entry for entry in shown.systems}
    systems = sorted(shown.systems, key=lambda entry: -(entry.rating or 0))
    context = {
        "project": request.project,
        "study": study,
        "result": result,
        "row": shown,
        "title": f"{shown.label} · {references(shown.subset_label)}",
        "estimates": reports.estimates(result, shown),
        "systems": [(entry, pks[entry.system]) for entry in systems],
        "pairs": [_compared(pair, by_name[pair.a], by_name[pair.b], negated=shown.negated) for pair in result.pairs],
        "figure_name": f"row-{row}",
        "has_figure": reports.figure(result, f"row-{row}", theme="light") is not None,
        "previous": row - 1 if row else None,
        "next": row + 1 if row + 1 < len(result.rows) else None,
    }
    return render(request, "correlations/study_row.html", context)


class PairDifference(NamedTuple):
    """Which system of a pair the metric prefers over the whole corpus, and which the raters prefer."""

    pair: PairUnits
    metric: float | None = None
    human: float | None = None
    agree: bool | None = None


def _compared(pair: PairUnits, a: RowSystem, b: RowSystem, *, negated: bool) -> PairDifference:
    if a.score is None or b.score is None or a.rating is None or b.rating is None:
        return PairDifference(pair)
    metric, human = a.score - b.score, a.rating - b.rating
    return PairDifference(pair, metric, human, metric * human < 0 if negated else metric * human > 0)


study_cancel = cancel_view(study_or_404, "correlations:study-detail")
study_retry = retry_view(study_or_404, tasks.execute, "correlations:study-detail")
