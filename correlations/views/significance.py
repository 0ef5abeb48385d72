"""Metric against metric."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.views import MemberRequest, object_view
from annotation.models import Role
from correlations.models import Study
from correlations.results.study import StudyResult
from correlations.selectors.significance import LEVELS, METHODS, contest
from correlations.selectors.significance_words import (
    answer,
    in_ranges,
    matrix_caption,
    pairs_summary,
    places_beaten,
    ranking_caption,
    ranking_name,
    verdict,
)
from correlations.views.kinds import StudyPage, finished_study_or_404
from correlations.views.metrics import QUESTIONS


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_significance(request: MemberRequest, page: StudyPage[Study, StudyResult]) -> HttpResponse:
    project, kind, study = request.project, page.kind, page.study
    shown = contest(page.result, request.GET.get("over"), request.GET.get("test"))
    if shown is None:
        accepted = "; ".join(f"over={level}, test={' or '.join(methods)}" for level, methods in METHODS.items())
        raise Http404(f"Found {request.GET.urlencode()!r}; accepted: {accepted}.")
    context = {
        "project": project,
        "study": study,
        "question": QUESTIONS["significance"][0],
        "shown": shown,
        "verdict": verdict(shown),
        "answer": answer(page.result, shown),
        "ranking_name": ranking_name(shown),
        "ranking_caption": ranking_caption(shown),
        "matrix_caption": matrix_caption(shown),
        "pairs_summary": pairs_summary(shown),
        "contestants": [(each, in_ranges(places_beaten(shown, each))) for each in shown.contestants],
        "levels": list(LEVELS.items()),
        "methods": list(METHODS[shown.level].items()),
        "figure_name": f"matrix-{shown.level}-{shown.method}",
        "here": "Metric against metric",
        "trail": [(kind.title, kind.url("list", project)), (study.name, kind.url("detail", project, study.pk))],
    }
    return render(request, "correlations/study_significance.html", context)
