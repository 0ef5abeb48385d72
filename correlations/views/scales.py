"""State the scale of imported scores after their import, and compute studies with it again."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.core.errors import AnnotationError
from annotation.core.views import MemberRequest, object_view
from annotation.models import Project, Role
from correlations import tasks
from correlations.models import Study
from correlations.selectors.stated_scales import studies_of_run
from correlations.services.rescaling import study_with_run
from metrics.forms.score_imports import chosen_scales
from metrics.models import ScoreRun
from metrics.selectors.score_scales import RunScale
from metrics.services.score_rescaling import may_rescale, run_column_scale, run_rescale
from metrics.views.runs import finished_run_or_404

MOST_STUDIES = 10  # that the page offers to compute again, newest first


def imported_run_or_404(project: Project, number: int) -> ScoreRun:
    run = finished_run_or_404(project, number)
    if not may_rescale(run):
        raise Http404("This run holds no imported scores of segments.")
    return run


@require_http_methods(["GET", "POST"])
@object_view(imported_run_or_404, Role.MANAGER)
def run_scale(request: MemberRequest, run: ScoreRun) -> HttpResponse:
    """Show the scale that was assumed; store a corrected run, and start the ticked studies with it."""
    studies = studies_of_run(run)[:MOST_STUDIES]
    named = {str(study.pk) for study in studies[:1]}
    if "study" in request.GET:
        named = {request.GET["study"]}
    refusal = ""
    if request.method == "POST":
        named = set(request.POST.getlist("study"))
        texts = list(chosen_scales(request.POST).values())
        try:
            corrected, created = run_rescale(run=run, scale=texts[0] if texts else "", by=request.user)
            return _corrected(request, run, corrected, created, [each for each in studies if str(each.pk) in named])
        except AnnotationError as error:
            refusal = error.message
    context = {
        "project": request.project,
        "run": run,
        "scale": run_column_scale(run),
        "assumed": RunScale.of(run),
        "studies": [(study, str(study.pk) in named) for study in studies],
        "refusal": refusal,
    }
    return render(request, "correlations/run_scale.html", context)


def _corrected(
    request: MemberRequest, run: ScoreRun, corrected: ScoreRun, created: bool, studies: list[Study]
) -> HttpResponse:
    """Start the studies with the corrected run, and lead to the only one, else to the run."""
    project = request.project
    if corrected == run:
        messages.info(request, "Nothing changed: these scores have this scale.")
        return redirect("metrics:run-detail", project.slug, run.number)
    again = [study_with_run(study=study, run=run, corrected=corrected, by=request.user) for study in studies]
    for study, is_new in again:
        if is_new:
            tasks.execute.delay_on_commit(study.pk)
    done = "Stored these scores on the stated scale" if created else "Opened the run with these scores on this scale"
    messages.success(request, f"{done} as run {corrected.number}. Run {run.number} stays as it was.")
    if len(again) == 1:
        return redirect(reverse("correlations:study-detail", args=[project.slug, again[0][0].pk]))
    return redirect("metrics:run-detail", project.slug, corrected.number)
