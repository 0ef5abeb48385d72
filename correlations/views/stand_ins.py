"""Can a judge stand in for raters here?"""

from collections.abc import Sequence
from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.core.access import may_manage
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Project, Role
from annotation.rating.selectors.raters import imported_names
from correlations.models import Study
from correlations.results.study import StudyResult
from correlations.selectors.methods import provenance
from correlations.selectors.printed import imported_notes
from correlations.selectors.stand_in_charts import AGREEMENT, agreement_caption, has_agreement
from correlations.selectors.stand_in_kinds import kinds_by_row
from correlations.selectors.stand_in_words import stand_in_answer, stand_in_methods
from correlations.selectors.worth import IN_PLACE_OF, WHOM, Candidate, stand_in_report
from correlations.stats.worth import MARGINS
from correlations.views.kinds import StudyPage, finished_study_or_404
from correlations.views.metrics import QUESTIONS
from metrics.models import ScoreRun
from metrics.services.score_rescaling import may_rescale


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_stand_in(request: MemberRequest, page: StudyPage[Study, StudyResult]) -> HttpResponse:
    project, kind, study = request.project, page.kind, page.study
    whom = request.GET.get("raters", "")
    report = stand_in_report(project, page.result, whom or IN_PLACE_OF, whole_number(request, "row"))
    if report is None:
        raise Http404(f"Raters: found {whom!r}; accepted: {', '.join(WHOM)}. Rows: as in the study.")
    if may_manage(project):
        report = replace(report, names=imported_names([rater.pk for rater in report.raters.values()]))
    context = {
        "project": project,
        "study": study,
        "question": QUESTIONS["stand-in"][0],
        "report": report,
        "answer": stand_in_answer(report, whom),
        "figure": AGREEMENT if has_agreement(page.result) else "",
        "figure_caption": agreement_caption(page.result),
        "candidates": list(zip(report.candidates, _able(page.result, report.candidates), strict=True)),
        "any_tested": any(each.margin is not None for each in report.candidates),
        "chosen_raters": whom,
        "scale_url": _scale_url(project, study, report.chosen),
        "note": dict(imported_notes(study, page.result)).get(report.chosen.row.label, ""),
        "methods": stand_in_methods(report, provenance(study, page.result.seed, page.result.versions.assay)),
        "whom": [(name, label, MARGINS[name]) for name, label in WHOM.items()],
        "may_manage": may_manage(project),
        "here": "Stand-ins",
        "trail": [(kind.title, kind.url("list", project)), (study.name, kind.url("detail", project, study.pk))],
    }
    return render(request, "correlations/study_stand_in.html", context)


def _able(result: StudyResult, candidates: Sequence[Candidate]) -> list[str]:
    """Return for whom each row is shown to stand in; empty words if for no one."""
    rows = kinds_by_row(result)
    return [rows[candidate.index].able_in_words for candidate in candidates]


def _scale_url(project: Project, study: Study, chosen: Candidate) -> str:
    """Return where the scale of a row's imported scores is stated anew, for this study too; empty for other rows."""
    if not chosen.is_judge or chosen.row.run is None:
        return ""
    run = ScoreRun.objects.filter(project=project, number=chosen.row.run).first()
    if run is None or not may_rescale(run):
        return ""
    return f"{reverse('correlations:run-scale', args=[project.slug, run.number])}?study={study.pk}"
