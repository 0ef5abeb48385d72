"""Mining runs: start, show, cancel, retry and delete them, and add their candidates to a data set."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.datasets.lookups import chosen_dataset
from annotation.mining.forms import MiningRunForm
from annotation.mining.selectors import SeedChoice, near_duplicates_of
from annotation.mining.services import runs, storing
from annotation.mining.services.report import RunReport, run_report
from annotation.mining.tasks import mining_run_execute
from annotation.mining.views.common import run_or_404
from annotation.models import JobState, MiningRun, Role

REPORT_COLUMNS = ("what", "kind_or_step", "fate", "count")


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def mining_run_create(request: MemberRequest) -> HttpResponseBase:
    """Choose the data set first: it decides what can be a seed."""
    project = request.project
    datasets, dataset = chosen_dataset(request)
    has_corpus = project.corpora.filter(state=JobState.DONE).exists()
    context = {"project": project, "datasets": datasets, "has_corpus": has_corpus}
    if dataset is None or not has_corpus:
        return render(request, "annotation/mining/mining_run_form.html", context)
    corpus = project.corpora.filter(slug=request.GET.get("corpus", "")).only("pk").first()
    form = MiningRunForm(request.POST or None, dataset=dataset, initial={"corpus": corpus and corpus.pk})
    if run := form.submit(runs.mining_run_create, project=project, dataset=dataset, by=request.user):
        mining_run_execute.delay_on_commit(run.pk)
        return redirect("annotation:mining-run-detail", project.slug, run.pk)
    return render(request, "annotation/mining/mining_run_form.html", context | {"dataset": dataset, "form": form})


@require_GET
@object_view(run_or_404, Role.VIEWER)
def mining_run_detail(request: MemberRequest, run: MiningRun) -> HttpResponseBase:
    context: dict[str, object] = {"project": request.project, "run": run, "may_manage": may_manage(request.project)}
    if request.htmx and "progress" in request.GET:
        return job_part(request, run, "annotation/mining/mining_run_progress.html", context)
    if run.state == JobState.DONE:
        report = run_report(run)
        if file_format := request.GET.get("format"):
            return _report_download(run, report, file_format)
        took = (run.finished_at - run.started_at).total_seconds() if run.finished_at and run.started_at else 0.0
        context |= {
            "report": report,
            "fewer_hint": f"than {run.specification['mining']['n']} mined texts",
            "seeds": SeedChoice.of(run.specification["seeds"]),
            "took": took,
        }
        if run.stored_at is None:
            context |= {"preview": storing.store_preview(run), "near": near_duplicates_of(run)}
    return render(request, "annotation/mining/mining_run_detail.html", context)


def _report_download(run: MiningRun, report: RunReport, file_format: str) -> HttpResponseBase:
    rows: list[tuple[object, ...]] = [
        *(("candidates", row.kind, fate, n) for row in report.kinds for fate, n in row.fates.items()),
        *(("reason", row.step, row.fate, row.n) for row in report.steps),
        *(("seeds by mined texts kept", kept, "", n) for kept, n in report.kept),
    ]
    return table_response(format=file_format, filename=f"mining-{run.pk}", columns=REPORT_COLUMNS, rows=rows)


mining_run_cancel = cancel_view(run_or_404, "annotation:mining-run-detail")
mining_run_retry = retry_view(run_or_404, mining_run_execute, "annotation:mining-run-detail")  # done shards stay done


@require_POST
@object_view(run_or_404, Role.MANAGER)
def mining_run_delete(request: MemberRequest, run: MiningRun) -> HttpResponseBase:
    if perform(request, runs.mining_run_delete, f"{run} and its candidates were deleted.", run=run):
        return redirect("annotation:corpus-list", request.project.slug)
    return redirect("annotation:mining-run-detail", request.project.slug, run.pk)


@require_POST
@object_view(run_or_404, Role.MANAGER)
def mining_run_store(request: MemberRequest, run: MiningRun) -> HttpResponseBase:
    try:
        stored = storing.mining_run_store(run=run, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        messages.success(
            request,
            f"Added {stored.sources:,} candidates to “{run.dataset}” as references: {stored.new_responses:,} new "
            f"responses, and {stored.known_responses:,} existing ones that got a further source.",
        )
    return redirect("annotation:mining-run-detail", request.project.slug, run.pk)


@require_POST
@project_view(Role.MANAGER)
def mining_run_rate(request: MemberRequest, pk: int) -> HttpResponseBase:
    """Create a draft campaign that rates the added references."""
    try:
        campaign = storing.mining_run_rate(run=run_or_404(request.project, pk), by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:mining-run-detail", request.project.slug, pk)
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, "what")
