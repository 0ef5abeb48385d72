"""The front pages of a project and of a campaign, which show data of every room."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.selectors import slots_unfilled, unfilled
from annotation.campaigns.services.readiness import launch_report
from annotation.campaigns.views.campaigns import CLOSE_TEXT
from annotation.core.access import may_manage
from annotation.core.numbers import counted
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Campaign, CampaignState, Role
from annotation.overview.closing import ways_heading, ways_on
from annotation.overview.jobs import project_jobs
from annotation.overview.selectors import front_page
from annotation.projects.navigation import TASKS
from annotation.quality.views.operations import OPERATIONS
from annotation.references.sets.selectors import set_to_join


@require_GET
@project_view(Role.VIEWER)
def project_detail(request: MemberRequest) -> HttpResponse:
    all_findings = request.GET.get("findings") == "all"
    context = {
        "project": request.project,
        "may_manage": may_manage(request.project),
        "all_findings": all_findings,
        "front": front_page(request.project, all_findings=all_findings),
        "tasks": TASKS,
    }
    return render(request, "annotation/projects/project_detail.html", context)


@require_GET
@project_view(Role.VIEWER)
def project_jobs_page(request: MemberRequest) -> HttpResponse:
    project, jobs = request.project, project_jobs(request.project)
    context = {
        "project": project,
        "may_manage": may_manage(project),
        "jobs": jobs,
        "under_way": [(job, job.url(project)) for job in [*jobs.running, *jobs.waiting]],
        "failed": [(job, job.url(project), job.retry_url(project)) for job in jobs.failed],
        "ended": [(job, job.url(project)) for job in jobs.ended],
    }
    return render(request, "annotation/projects/project_jobs.html", context)


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_detail(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    context: dict[str, Any] = {
        "project": request.project,
        "campaign": campaign,
        "may_manage": may_manage(request.project),
        "close_text": _close_text(campaign),
        "operations": [(name, operation) for name, operation in OPERATIONS.items() if operation.is_offered(campaign)],
    }
    if campaign.state == CampaignState.DRAFT:
        context["report"] = launch_report(campaign)
    if context["may_manage"]:  # anyone with the link can rate
        landing = reverse("annotation:rater-landing", args=[campaign.link_token])
        context["rater_link"] = request.build_absolute_uri(landing)
        context["set_to_join"] = set_to_join(campaign)
        context |= {"ways_on": ways_on(campaign), "ways_heading": ways_heading(campaign)}
    return render(request, "annotation/campaigns/campaign_detail.html", context)


def _close_text(campaign: Campaign) -> str:
    """Return what closing means, and first what would stay unfilled."""
    if campaign.state not in (CampaignState.RUNNING, CampaignState.PAUSED) or campaign.imported:
        return CLOSE_TEXT
    n = slots_unfilled(campaign)
    left = unfilled(campaign, n)
    stays = [f"{counted(n, 'slot')} {'stays' if n == 1 else 'stay'} unfilled."] if n else []
    return " ".join([*stays, *(left.sentences if left and left.skipped else []), CLOSE_TEXT])
