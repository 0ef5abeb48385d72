"""The pages of campaigns: the list, the design, the log of ratings; launch, pause, resume, close."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.campaigns import selectors
from annotation.campaigns.design.quality import PREPARED
from annotation.campaigns.design.templates import BLANK, TEMPLATES
from annotation.campaigns.fields.table import QUALITY, RATERS, SCREEN, WHAT, WORDS
from annotation.campaigns.forms.copies import StartForm
from annotation.campaigns.lookups import campaign_or_404, counted_campaign_or_404
from annotation.campaigns.services import lifecycle
from annotation.core.access import may_manage
from annotation.core.exports import Column, objects_response, table_response
from annotation.core.markdown import markdown
from annotation.core.numbers import counted
from annotation.core.pages import newest_page
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.models import Campaign, CampaignState, QualityRules, Role

PAGE = 50
COLUMNS: dict[str, Column] = {
    "campaign": "name",
    "state": "state",
    "imported": "imported",
    "dataset": "dataset.slug",
    "presentation": "presentation",
    "items": "n_items",
    "responses": "n_responses",
    "units": "n_units",
    "k": "ratings_per_unit",
    "done": "n_done",
    "raters": lambda campaign: None if campaign.unknown_raters else campaign.n_raters,
}
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
    if file_format := request.GET.get("format"):
        return objects_response(file_format, f"{project.slug}-campaigns", campaigns, COLUMNS)
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


@require_GET
@object_view(counted_campaign_or_404, Role.VIEWER)
def campaign_design(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show the whole design, frozen from the launch on, and the amendments since."""
    rules = campaign.rule_versions.last()
    facts = {step: selectors.design_facts(campaign, step) for step in (WHAT, SCREEN, WORDS, RATERS, QUALITY)}
    facts[QUALITY][""].append(("Exclusion rules", _rules_text(rules)))
    context = {
        "project": request.project,
        "campaign": campaign,
        "may_manage": may_manage(request.project),
        "facts": facts,
        "times": _times(campaign),
        "criteria": campaign.criteria.all(),
        "list": campaign.response_list,
        "texts": [(field, markdown(text)) for field, text in selectors.design_texts(campaign)],
        "prepared": [
            (kind.title, screens)
            for kind in PREPARED.values()
            if may_manage(request.project) and (screens := kind.screens(campaign))
        ],
        "amendments": campaign.amendments.select_related("made_by"),
    }
    return render(request, "annotation/campaigns/campaign_design.html", context)


def _rules_text(rules: QualityRules | None) -> str:
    if rules is None:
        return "none registered"
    before = ", registered before the launch" if rules.before_launch else ""
    return f"version {rules.version}, {counted(len(rules.rules), 'rule')}{before}"


def _times(campaign: Campaign) -> list[tuple[str, datetime]]:
    """Return the labels and times of what happened to a campaign."""
    then = "Imported" if campaign.imported else "Launched"
    closed_at = None if campaign.imported else campaign.closed_at
    times = [("Drafted", campaign.created_at), (then, campaign.launched_at), ("Closed", closed_at)]
    return [(label, time) for label, time in times if time is not None]


def _action(service: Callable[..., Campaign], done: str) -> Callable[..., HttpResponseBase]:
    """Return the view that calls a service for a campaign."""

    @require_POST
    @object_view(campaign_or_404, Role.MANAGER)
    def action(request: MemberRequest, campaign: Campaign) -> HttpResponse:
        perform(request, service, done, campaign=campaign)
        return redirect("annotation:campaign-detail", request.project.slug, campaign.pk)

    return action


campaign_launch = _action(
    lifecycle.campaign_launch, "Launched: the design is frozen. Send the link below to your raters."
)
campaign_pause = _action(
    lifecycle.campaign_pause, "Paused: nothing more is handed out; raters may still send the item they have."
)
campaign_resume = _action(lifecycle.campaign_resume, "Running again.")
campaign_close = _action(lifecycle.campaign_close, "Closed: no more ratings are accepted.")


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_ratings(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    """Show the log of every rating that was sent, with corrections and late ratings."""
    if file_format := request.GET.get("format"):
        return table_response(
            format=file_format,
            filename=f"{request.project.slug}-campaign-{campaign.pk}-ratings",
            columns=selectors.RATING_COLUMNS,
            rows=selectors.rating_rows(campaign),
        )
    ratings, older = selectors.ratings_page(campaign, before=whole_number(request, "before"), size=PAGE)
    context = {"project": request.project, "campaign": campaign, "ratings": ratings, "older": older}
    return render(request, "annotation/quality/campaign_ratings.html", context)
