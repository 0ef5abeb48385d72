"""How many raters did we need?"""

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.core.access import may_manage
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Role
from correlations.models import Study
from correlations.results.study import StudyResult
from correlations.selectors.held import DRAWS_NOTE
from correlations.selectors.sensitivity import sensitivity_report
from correlations.services.studies import study_create
from correlations.views.kinds import StudyPage, finished_study_or_404
from correlations.views.metrics import QUESTIONS

SUFFIX = ": how many raters"  # of the name of a study that was computed again for this page


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_sensitivity(request: MemberRequest, page: StudyPage[Study, StudyResult]) -> HttpResponse:
    project, kind, study = request.project, page.kind, page.study
    report = sensitivity_report(page.result, whole_number(request, "pair"))
    if report is None and page.result.sensitivity is not None:
        n_pairs = len(page.result.sensitivity.pairs)
        raise Http404(f"Pair: found {request.GET.get('pair')!r}; accepted: 0 to {n_pairs - 1}.")
    context = {
        "draws_note": DRAWS_NOTE,
        "project": project,
        "study": study,
        "question": QUESTIONS["sensitivity"][0],
        "result": page.result,
        "report": report,
        "may_manage": may_manage(project),
        "here": "How many raters",
        "trail": [(kind.title, kind.url("list", project)), (study.name, kind.url("detail", project, study.pk))],
    }
    return render(request, "correlations/study_sensitivity.html", context)


@require_POST
@object_view(finished_study_or_404, Role.MANAGER)
def study_sensitivity_create(request: MemberRequest, page: StudyPage[Study, StudyResult]) -> HttpResponse:
    """Create the same study with its sensitivity, over the ratings of today."""
    specification = page.study.specification | {"sensitivity": True}
    name = f"{page.study.name[: 120 - len(SUFFIX)]}{SUFFIX}"
    study, created = study_create(project=request.project, name=name, specification=specification, by=request.user)
    if created:
        page.kind.task.delay_on_commit(study.pk)
    return redirect(page.kind.url("detail", request.project, study.pk))
