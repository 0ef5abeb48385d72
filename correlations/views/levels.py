"""Metrics against raters, by system and by output."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Role
from correlations.models import Study
from correlations.results.study import StudyResult
from correlations.selectors.level_answers import FIGURE, chart_caption, level_answers
from correlations.selectors.levels import levels_report
from correlations.selectors.system_ranges import ranges_report
from correlations.views.kinds import StudyPage, finished_study_or_404


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_levels(request: MemberRequest, page: StudyPage[Study, StudyResult]) -> HttpResponse:
    project, kind, study = request.project, page.kind, page.study
    report = levels_report(page.result, whole_number(request, "row"))
    if report is None:
        raise Http404(f"Row: found {request.GET.get('row')!r}; accepted: 0 to {len(page.result.rows) - 1}.")
    key = request.GET.get("coefficient")
    try:
        ranges = ranges_report(page.result, report, key)
    except KeyError:
        accepted = ", ".join(report.chosen.system.coefficients)
        raise Http404(f"Coefficient: found {key!r}; accepted: {accepted}.") from None
    context = {
        "project": project,
        "study": study,
        "question": "Which metric agrees with the raters, by system and by output?",
        "report": report,
        "answers": level_answers(study, page.result, report),
        "levels_figure": FIGURE,
        "chart_caption": chart_caption(report),
        "lead": page.result.lead,
        "row_open": "row" in request.GET and key is None,
        "ranges": ranges,
        "ranges_open": key is not None,
        "figure_name": f"systems-{report.chosen.index}",
        "here": "By system and by output",
        "trail": [(kind.title, kind.url("list", project)), (study.name, kind.url("detail", project, study.pk))],
    }
    return render(request, "correlations/study_levels.html", context)
