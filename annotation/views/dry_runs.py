"""Dry runs of a campaign: asked for, watched, read, compared."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import charts_dry_runs, tasks
from annotation.access import get_in_project_or_404, get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.forms.dry_runs import DryRunForm
from annotation.models import Campaign, DryRun, JobState, Project, Role
from annotation.parameters import whole_number
from annotation.selectors.dry_runs import LABELS, comparison, dry_run_report, dry_runs_of, specified
from annotation.services import dry_runs as services
from annotation.services import jobs
from annotation.views.figures import chart_response, chart_theme
from annotation.views.jobs import start_over

LISTED = 50


@login_required
@require_http_methods(["GET", "POST"])
def campaign_dry_runs(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    """All dry runs, and the form for another; ``?like=`` fills it in as an earlier one was."""
    project, campaign = _campaign_or_404(request, project_slug, pk)
    if request.method == "POST" and not may_manage(project):
        raise PermissionDenied("This needs the role manager.")
    suggestion = _suggestion(request, campaign)
    form = DryRunForm(suggestion, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                made = services.dry_run_create(campaign=campaign, specification=form.specification(), by=request.user)
                tasks.dry_run_execute.delay_on_commit(made.pk)
        except AnnotationError as error:
            form.add_refusals(error.fields, error.message)
        else:
            return redirect("annotation:campaign-dry-run", project.slug, campaign.pk, made.pk)
    context = {
        "project": project,
        "campaign": campaign,
        "form": form,
        "runs": list(dry_runs_of(campaign)[:LISTED]),
        "may_manage": may_manage(project),
        "estimate": services.estimate(campaign, suggestion),
    }
    return render(request, "annotation/dry_run_list.html", context, status=400 if form.errors else 200)


@login_required
@require_GET
def campaign_dry_run(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    """A dry run, or how far it is."""
    project, campaign = _campaign_or_404(request, project_slug, pk)
    run = _run_or_404(campaign, number)
    context: dict[str, Any] = {"project": project, "campaign": campaign, "run": run, "may_manage": may_manage(project)}
    if request.htmx and "progress" in request.GET:
        response = render(request, "annotation/dry_run_progress.html", context)
        if run.is_finished:
            response.headers["HX-Refresh"] = "true"
        return response
    others = dry_runs_of(campaign).filter(state=JobState.DONE).exclude(pk=run.pk)
    context |= {
        "report": dry_run_report(run),
        "result": run.result,
        "asked": [(label, specified(name, run.specification.get(name))) for name, label in LABELS.items()],
        "others": list(others[:20]),
    }
    return render(request, "annotation/dry_run_detail.html", context)


@login_required
@require_GET
def campaign_dry_run_compare(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project, campaign = _campaign_or_404(request, project_slug, pk)
    runs = list(dry_runs_of(campaign).filter(state=JobState.DONE)[:LISTED])
    known = {run.pk: run for run in runs}
    chosen = [known.get(whole_number(request, side) or 0) for side in ("left", "right")]
    rows = comparison([run for run in chosen if run]) if all(chosen) else []
    context = {
        "project": project,
        "campaign": campaign,
        "runs": runs,
        "left": chosen[0],
        "right": chosen[1],
        "asked": [row for row in rows if row.of == "asked"],
        "found": [row for row in rows if row.of == "found"],
    }
    return render(request, "annotation/dry_run_compare.html", context)


@login_required
@require_POST
def campaign_dry_run_cancel(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    _, campaign = _campaign_or_404(request, project_slug, pk, role=Role.MANAGER)
    run = _run_or_404(campaign, number)
    jobs.job_request_cancel(run)
    return redirect("annotation:campaign-dry-run", project_slug, pk, run.pk)


@login_required
@require_POST
def campaign_dry_run_retry(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    _, campaign = _campaign_or_404(request, project_slug, pk, role=Role.MANAGER)
    run = _run_or_404(campaign, number)
    start_over(run, tasks.dry_run_execute)
    return redirect("annotation:campaign-dry-run", project_slug, pk, run.pk)


@login_required
@require_POST
def campaign_dry_run_delete(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    _, campaign = _campaign_or_404(request, project_slug, pk, role=Role.MANAGER)
    run = _run_or_404(campaign, number)
    try:
        services.dry_run_delete(dry_run=run, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:campaign-dry-run", project_slug, pk, run.pk)
    messages.success(request, f"Dry run {number} was deleted.")
    return redirect("annotation:campaign-dry-runs", project_slug, pk)


@login_required
@require_GET
def campaign_dry_run_download(request: HttpRequest, project_slug: str, pk: int, number: int) -> HttpResponse:
    """Everything, as data: what was asked and what was found."""
    _, campaign = _campaign_or_404(request, project_slug, pk)
    run = _run_or_404(campaign, number, state=JobState.DONE)
    body = {"dry_run": run.pk, "campaign": campaign.name, "specification": run.specification, "result": run.result}
    response = JsonResponse(body, json_dumps_params={"indent": 1, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="dry-run-{run.pk}.json"'
    return response


@login_required
@require_GET
def campaign_dry_run_chart(
    request: HttpRequest, project_slug: str, pk: int, number: int, name: str, file_format: str
) -> HttpResponse:
    _, campaign = _campaign_or_404(request, project_slug, pk)
    run = _run_or_404(campaign, number, state=JobState.DONE)
    theme = chart_theme(request)
    if name == "places":
        specification = charts_dry_runs.places_filled(run.result["curve"], theme=theme)
    else:
        row = next((row for row in run.result["certainty"] if f"weights-{row['criterion']}" == name), None)
        if row is None:
            raise Http404(f"No chart {name!r}.")
        specification = charts_dry_runs.widths_by_ratings(
            row["expected"],
            row["expected_kept"],
            target=row["target"],
            planned=run.result["ratings_per_unit"],
            theme=theme,
        )
    return chart_response(specification, file_format, f"dry-run-{run.pk}-{name}")


# --- Parts ------------------------------------------------------------------------------------------------------------


def _campaign_or_404(request: HttpRequest, slug: str, pk: int, *, role: Role = Role.VIEWER) -> tuple[Project, Campaign]:
    project = get_project_or_404(request.user, slug, role=role)
    found = Campaign.objects.select_related("project", "dataset").filter(imported=False)
    return project, get_in_project_or_404(found, project, pk=pk)


def _run_or_404(campaign: Campaign, number: int, **lookup: object) -> DryRun:
    return get_object_or_404(dry_runs_of(campaign), pk=number, **lookup)


def _suggestion(request: HttpRequest, campaign: Campaign) -> services.Specification:
    like = dry_runs_of(campaign).filter(pk=whole_number(request, "like") or 0).first()
    return services.Specification.from_dict(like.specification) if like else services.suggested(campaign)
