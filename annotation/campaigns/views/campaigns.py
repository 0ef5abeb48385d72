"""The pages of campaigns for their managers: the list, the design, the log of ratings, launch and close."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_GET, require_POST

from annotation.campaigns import selectors, services
from annotation.campaigns.design import BLANK, TEMPLATES
from annotation.campaigns.fields.table import RATERS, SCREEN, WORDS
from annotation.campaigns.forms import StartForm
from annotation.campaigns.forms.quality import KIND_LABELS
from annotation.campaigns.lookups import campaign_or_404, counted_campaign_or_404
from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.markdown import markdown
from annotation.core.pages import newest_page
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Campaign, CampaignState, Role, SourceKind

PAGE = 50
CLOSE_TEXT = (
    "No more ratings are accepted, not even of items that raters have on screen. You cannot undo this. "
    "To stop for a while, pause the campaign."
)


@require_GET
@project_view(Role.VIEWER)
def campaign_list(request: MemberRequest) -> HttpResponseBase:
    project = request.project
    state = request.GET.get("state", "")
    campaigns: QuerySet[Any] = selectors.campaigns_of(project)
    if state in CampaignState.values:
        campaigns = campaigns.filter(state=state)
    if wanted := request.GET.get("format"):
        columns = ["campaign", "state", "imported", "dataset", "presentation", "units", "k", "done", "raters"]
        rows = (
            (
                c.name,
                c.state,
                c.imported,
                c.dataset.slug,
                c.presentation,
                c.n_units,
                c.ratings_per_unit,
                c.n_done,
                c.n_raters,
            )
            for c in campaigns
        )
        return table_response(format=wanted, filename=f"{project.slug}-campaigns", columns=columns, rows=rows)
    before = whole_number(request, "before")
    page, older = newest_page(campaigns, before=before, size=PAGE)
    context: dict[str, Any] = {
        "project": project,
        "campaigns": page,
        "older": older,
        "before": before,
        "state": state,
        "states": selectors.campaigns_by_state(project),
    }
    if not sum(context["states"].values()) and may_manage(project):
        context |= {"form": StartForm(project), "templates": TEMPLATES, "blank": BLANK}
    return render(request, "annotation/campaigns/campaign_list.html", context)


def launch_text(report: services.LaunchReport) -> str:
    units, slots = report.units, report.slots
    return (
        f"The launch plans {units:,} unit{pluralize(units)} with {slots:,} slot{pluralize(slots)} to fill, and freezes "
        "the design: what is rated, the scale, the instructions and the checks cannot be changed afterwards."
    )


@require_GET
@object_view(counted_campaign_or_404, Role.VIEWER)
def campaign_design(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show the whole design, frozen from the launch on, and the amendments since."""
    quality, qualification = campaign.quality, campaign.qualification
    context = {
        "project": request.project,
        "campaign": campaign,
        "may_manage": may_manage(request.project),
        "settings": {step: selectors.design_settings(campaign, step) for step in (SCREEN, WORDS, RATERS)},
        "times": _times(campaign),
        "criteria": campaign.criteria.all(),
        "systems": [system.name for system in campaign.systems.all()],
        "list": campaign.response_list,
        "instructions": markdown(campaign.instructions),
        "consent": markdown(campaign.consent),
        "reference_kinds": [SourceKind(kind).label for kind in campaign.reference_kinds],
        "mix": ", ".join(f"{KIND_LABELS[kind].lower()} ({n})" for kind, n in quality.get("mix", {}).items()),
        "prepared": [
            (title, group.get(kind, []))
            for kind, title, group in [
                ("training", "Training", qualification),
                ("test", "Qualification test", qualification),
                ("gold", "Gold", quality),
                ("attention", "Attention checks", quality),
            ]
            if may_manage(request.project) and group.get(kind)
        ],
        "n_prepared": {kind: len(quality.get(kind, [])) for kind in ("gold", "attention")}
        | {kind: len(qualification.get(kind, [])) for kind in ("training", "test")},
        "rules": campaign.rule_versions.last(),
        "amendments": campaign.amendments.select_related("made_by"),
    }
    return render(request, "annotation/campaigns/campaign_design.html", context)


def _times(campaign: Campaign) -> list[tuple[str, datetime]]:
    """Return the labels and times of what happened to a campaign."""
    if campaign.imported:
        times = [("Drafted", campaign.created_at), ("Imported", campaign.launched_at)]
    else:
        times = [
            ("Drafted", campaign.created_at),
            ("Launched", campaign.launched_at),
            ("Closed", campaign.closed_at),
        ]
    return [(label, time) for label, time in times if time is not None]


def _action(request: MemberRequest, campaign: Campaign, service: Callable[..., Campaign], done: str) -> HttpResponse:
    try:
        service(campaign=campaign, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, done)
    return redirect("annotation:campaign-detail", request.project.slug, campaign.pk)


@require_POST
@object_view(campaign_or_404, Role.MANAGER)
def campaign_launch(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    done = "Launched: the design is frozen. Send the link below to your raters."
    return _action(request, campaign, services.campaign_launch, done)


@require_POST
@object_view(campaign_or_404, Role.MANAGER)
def campaign_pause(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    done = "Paused: nothing more is handed out; raters may still send the item they have."
    return _action(request, campaign, services.campaign_pause, done)


@require_POST
@object_view(campaign_or_404, Role.MANAGER)
def campaign_resume(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    return _action(request, campaign, services.campaign_resume, "Running again.")


@require_POST
@object_view(campaign_or_404, Role.MANAGER)
def campaign_close(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    return _action(request, campaign, services.campaign_close, "Closed: no more ratings are accepted.")


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_ratings(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    """Show the log of every rating that was sent, with corrections and late ratings."""
    if wanted := request.GET.get("format"):
        return table_response(
            format=wanted,
            filename=f"{request.project.slug}-campaign-{campaign.pk}-ratings",
            columns=selectors.RATING_COLUMNS,
            rows=selectors.rating_rows(campaign),
        )
    ratings, older = selectors.ratings_page(campaign, before=whole_number(request, "before"), size=PAGE)
    context = {"project": request.project, "campaign": campaign, "ratings": ratings, "older": older}
    return render(request, "annotation/quality/campaign_ratings.html", context)
