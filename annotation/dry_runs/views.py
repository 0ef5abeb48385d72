"""Dry runs of a campaign: request, progress, result, comparison."""

from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.lookups import rated_here_or_404
from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.job_views import cancel_view, job_part, retry_view
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, perform
from annotation.dry_runs import charts, tasks
from annotation.dry_runs.forms import DryRunForm
from annotation.dry_runs.selectors import comparison, dry_run_report, dry_runs_of, settings_rows
from annotation.dry_runs.services import running
from annotation.dry_runs.services.extent import estimate, suggested
from annotation.dry_runs.specification import DryRunSpecification
from annotation.models import Campaign, DryRun, JobState, Project, Role

LISTED = 50


@require_http_methods(["GET", "POST"])
@object_view(rated_here_or_404, Role.VIEWER, post=Role.MANAGER)
def campaign_dry_runs(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """List all dry runs, with the form for another; ``?like=`` takes the settings of an earlier one."""
    project = request.project
    suggestion = _suggestion(request, campaign)
    form = DryRunForm(suggestion, request.POST or None)
    if request.method == "POST":
        with transaction.atomic():
            run = form.submit(running.dry_run_create, campaign=campaign, by=request.user)
            if run is not None:
                tasks.dry_run_execute.delay_on_commit(run.pk)
                return _to_dry_run(request, run)
    context = {
        "project": project,
        "campaign": campaign,
        "form": form,
        "runs": list(dry_runs_of(campaign)[:LISTED]),
        "may_manage": may_manage(project),
        "estimate": estimate(campaign, suggestion),
    }
    return render(request, "annotation/dry_runs/dry_run_list.html", context, status=400 if form.errors else 200)


def _dry_run_or_404(project: Project, pk: int, number: int) -> DryRun:
    campaign = rated_here_or_404(project, pk)
    run = get_object_or_404(dry_runs_of(campaign), pk=number)
    run.campaign = campaign
    return run


def _finished_dry_run_or_404(project: Project, pk: int, number: int) -> DryRun:
    run = _dry_run_or_404(project, pk, number)
    if run.state != JobState.DONE:
        raise Http404("This dry run has no result yet.")
    return run


@require_GET
@object_view(_dry_run_or_404, Role.VIEWER)
def campaign_dry_run(request: MemberRequest, run: DryRun) -> HttpResponse:
    """Show a dry run, or its progress."""
    campaign = run.campaign
    context: dict[str, Any] = {
        "project": request.project,
        "campaign": campaign,
        "run": run,
        "may_manage": may_manage(request.project),
    }
    if request.htmx and "progress" in request.GET:
        return job_part(request, run, "annotation/dry_runs/dry_run_progress.html", context)
    others = dry_runs_of(campaign).filter(state=JobState.DONE).exclude(pk=run.pk)
    context |= {
        "report": dry_run_report(run),
        "result": run.result,
        "settings": settings_rows(run),
        "others": list(others[:20]),
    }
    return render(request, "annotation/dry_runs/dry_run_detail.html", context)


@require_GET
@object_view(rated_here_or_404, Role.VIEWER)
def campaign_dry_run_compare(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    runs = list(dry_runs_of(campaign).filter(state=JobState.DONE)[:LISTED])
    known = {run.pk: run for run in runs}
    chosen = [known.get(whole_number(request, side) or 0) for side in ("left", "right")]
    compared = [run for run in chosen if run]
    settings, results = comparison(compared if all(chosen) else [])
    context = {
        "project": request.project,
        "campaign": campaign,
        "runs": runs,
        "left": chosen[0],
        "right": chosen[1],
        "compared": compared,
        "settings": settings,
        "results": results,
    }
    return render(request, "annotation/dry_runs/dry_run_compare.html", context)


campaign_dry_run_cancel = cancel_view(_dry_run_or_404, "annotation:campaign-dry-run")
campaign_dry_run_retry = retry_view(_dry_run_or_404, tasks.dry_run_execute, "annotation:campaign-dry-run")


@require_POST
@object_view(_dry_run_or_404, Role.MANAGER)
def campaign_dry_run_delete(request: MemberRequest, run: DryRun) -> HttpResponse:
    number = run.pk
    if perform(request, running.dry_run_delete, f"Dry run {number} was deleted.", dry_run=run):
        return redirect("annotation:campaign-dry-runs", request.project.slug, run.campaign_id)
    return _to_dry_run(request, run)


@require_GET
@object_view(_finished_dry_run_or_404, Role.VIEWER)
def campaign_dry_run_download(request: MemberRequest, run: DryRun) -> HttpResponse:
    """Download the settings and the results as JSON."""
    body = {"dry_run": run.pk, "campaign": run.campaign.name, "specification": run.specification, "result": run.result}
    response = JsonResponse(body, json_dumps_params={"indent": 1, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="dry-run-{run.pk}.json"'
    return response


@require_GET
@object_view(_finished_dry_run_or_404, Role.VIEWER)
def campaign_dry_run_chart(request: MemberRequest, run: DryRun, name: str, file_format: str) -> HttpResponse:
    theme = chart_theme(request)
    if name == "places":
        specification = charts.slots_filled(run.result["curve"], theme=theme)
    else:
        row = next((row for row in run.result["certainty"] if f"weights-{row['criterion']}" == name), None)
        if row is None:
            raise Http404(f"No chart {name!r}.")
        specification = charts.widths_by_ratings(
            row["expected"],
            row["expected_kept"],
            target=row["target"],
            planned=run.result["ratings_per_unit"],
            theme=theme,
        )
    return chart_response(specification, file_format, f"dry-run-{run.pk}-{name}")


# --- Parts ------------------------------------------------------------------------------------------------------------


def _to_dry_run(request: MemberRequest, run: DryRun) -> HttpResponse:
    return redirect("annotation:campaign-dry-run", request.project.slug, run.campaign_id, run.pk)


def _suggestion(request: HttpRequest, campaign: Campaign) -> DryRunSpecification:
    like = dry_runs_of(campaign).filter(pk=whole_number(request, "like") or 0).first()
    return DryRunSpecification.from_dict(like.specification) if like else suggested(campaign)
