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
from correlations.selectors.stated_scales import studies_of_run
from correlations.services.rescaling import Rescaled, scale_state
from metrics.forms.score_imports import chosen_scales
from metrics.models import ScoreRun
from metrics.selectors.score_scales import STATED, RunScale
from metrics.services.score_rescaling import may_rescale, run_column_scale
from metrics.views.runs import finished_run_or_404

MOST_STUDIES = 10  # that the page offers to compute again, newest first


def imported_run_or_404(project: Project, number: int) -> ScoreRun:
    run = finished_run_or_404(project, number)
    if not may_rescale(run):
        raise Http404("This run holds no imported scores of items.")
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
        ticked = [each for each in studies if str(each.pk) in named]
        before = RunScale.of(run).source
        try:
            stated = scale_state(run=run, scale=texts[0] if texts else "", studies=ticked, by=request.user)
            return _corrected(request, run, stated, is_confirmed=before != STATED)
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


def _corrected(request: MemberRequest, run: ScoreRun, stated: Rescaled, *, is_confirmed: bool) -> HttpResponse:
    """Start the studies with the corrected run, and lead to the only one, else to the run."""
    project, corrected = request.project, stated.run
    if corrected == run:
        noted = "Noted that this scale is stated: it was assumed, or not known."
        messages.info(request, noted if is_confirmed else "Nothing changed: these scores have this scale.")
        return redirect("metrics:run-detail", project.slug, run.number)
    for study, is_new in stated.studies:
        if is_new:
            tasks.execute.delay_on_commit(study.pk)
    done = (
        "Stored these scores on the stated scale" if stated.is_new else "Opened the run with these scores on this scale"
    )
    messages.success(request, f"{done} as run {corrected.number}. Run {run.number} stays as it was.")
    if len(stated.studies) == 1:
        return redirect(reverse("correlations:study-detail", args=[project.slug, stated.studies[0][0].pk]))
    return redirect("metrics:run-detail", project.slug, corrected.number)
