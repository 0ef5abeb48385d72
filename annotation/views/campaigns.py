"""Campaigns, for their managers: the list, drafting, launching, watching, the log of ratings."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation.access import get_in_project_or_404, get_project_or_404, may_manage
from annotation.design import BLANK, TEMPLATES
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.forms.campaigns import StartForm
from annotation.forms.campaigns.quality import KIND_LABELS
from annotation.markdown import markdown
from annotation.models import Campaign, CampaignState, Project, Role, SourceKind
from annotation.parameters import whole_number
from annotation.rating.languages import language_label
from annotation.selectors import campaigns as selectors
from annotation.selectors.screens import preview_screen
from annotation.selectors.sent_back import set_to_join
from annotation.services import campaigns as services

PAGE = 50


def _campaign_or_404(project: Project, pk: int) -> Campaign:
    return get_in_project_or_404(selectors.plain_campaigns(project), project, pk=pk)


@login_required
@require_GET
def campaign_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    state = request.GET.get("state", "")
    campaigns = selectors.campaigns_of(project)
    if state in CampaignState.values:
        campaigns = campaigns.filter(state=state)
    if wanted := request.GET.get("format"):
        columns = ["campaign", "state", "imported", "dataset", "presentation", "units", "k", "done", "raters"]
        rows = (
            (c.name, c.state, c.imported, c.dataset.slug, c.presentation, c.n_units, c.ratings_per_unit, c.n_done,
             c.n_raters)
            for c in campaigns
        )  # fmt: skip
        return table_response(format=wanted, filename=f"{project.slug}-campaigns", columns=columns, rows=rows)
    before = whole_number(request, "before")
    found = list((campaigns.filter(pk__lt=before) if before else campaigns)[: PAGE + 1])
    context = {
        "project": project,
        "campaigns": found[:PAGE],
        "older": found[PAGE - 1].pk if len(found) > PAGE else None,
        "before": before,
        "state": state,
        "states": selectors.campaigns_by_state(project),
    }
    if not sum(context["states"].values()) and may_manage(project):
        context |= {"form": StartForm(project), "templates": TEMPLATES, "blank": BLANK}
    return render(request, "annotation/campaign_list.html", context)


@login_required
@require_GET
def campaign_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    context: dict[str, Any] = {"project": project, "campaign": campaign, "may_manage": may_manage(project)}
    if campaign.state == CampaignState.DRAFT:
        report = services.launch_report(campaign)
        context |= {"report": report, "launch_text": launch_text(report)}
    if context["may_manage"]:  # whoever has the link can rate
        landing = reverse("annotation:rater-landing", args=[campaign.link_token])
        context["rater_link"] = request.build_absolute_uri(landing)
        context["set_to_join"] = set_to_join(campaign)
    return render(request, "annotation/campaign_detail.html", context)


def launch_text(report: services.LaunchReport) -> str:
    units, places = report.units, report.places
    return (
        f"It plans {units:,} unit{pluralize(units)} with {places:,} place{pluralize(places)} to fill. Its design is "
        "frozen from then on: what is rated, the scale, the instructions and the checks can no longer be changed."
    )


@login_required
@require_GET
def campaign_design(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    """The whole design, to read; frozen from launch on, with what was changed since."""
    project = get_project_or_404(request.user, project_slug)
    campaign = get_in_project_or_404(selectors.campaigns_of(project), project, pk=pk)
    quality, qualification = campaign.quality, campaign.qualification
    context = {
        "project": project,
        "campaign": campaign,
        "may_manage": may_manage(project),
        "criteria": campaign.criteria.all(),
        "systems": campaign.systems.all(),
        "instructions": markdown(campaign.instructions),
        "consent": markdown(campaign.consent),
        "reference_kinds": [SourceKind(kind).label for kind in campaign.reference_kinds],
        "mix": [(KIND_LABELS[kind], n) for kind, n in quality.get("mix", {}).items() if kind in KIND_LABELS],
        "prepared": [
            (title, group.get(kind, []))
            for kind, title, group in [
                ("training", "Training", qualification), ("test", "Qualification test", qualification),
                ("gold", "Gold", quality), ("attention", "Attention checks", quality),
            ]
            if may_manage(project) and group.get(kind)
        ],
        "n_prepared": {kind: len(quality.get(kind, [])) for kind in ("gold", "attention")}
        | {kind: len(qualification.get(kind, [])) for kind in ("training", "test")},
        "language": language_label(campaign.rater_language),
        "rules": campaign.rule_versions.last(),
        "amendments": campaign.amendments.select_related("made_by"),
    }  # fmt: skip
    return render(request, "annotation/campaign_design.html", context)


@login_required
@require_GET
def campaign_preview(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    """The rater's screen with the first item; nothing is handed out."""
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    context = {
        "project": project,
        "campaign": campaign,
        "screen": preview_screen(campaign),
        "instructions": markdown(campaign.instructions),
        "wide": campaign.presentation_kind.compares_systems,
    }
    return render(request, "annotation/campaign_preview.html", context)


def _action(request: HttpRequest, slug: str, pk: int, service: Callable[..., Campaign], done: str) -> HttpResponse:
    project = get_project_or_404(request.user, slug, role=Role.MANAGER)
    campaign = _campaign_or_404(project, pk)
    try:
        service(campaign=campaign, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, done)
    return redirect("annotation:campaign-detail", project.slug, campaign.pk)


@login_required
@require_POST
def campaign_launch(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    done = "Launched: the design is frozen. Send the link below to your raters."
    return _action(request, project_slug, pk, services.campaign_launch, done)


@login_required
@require_POST
def campaign_pause(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    done = "Paused: nothing more is handed out. What raters have on screen they may still send."
    return _action(request, project_slug, pk, services.campaign_pause, done)


@login_required
@require_POST
def campaign_resume(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    return _action(request, project_slug, pk, services.campaign_resume, "Running again.")


@login_required
@require_POST
def campaign_close(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    return _action(request, project_slug, pk, services.campaign_close, "Closed: no more ratings are accepted.")


@login_required
@require_GET
def campaign_ratings(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    """The raw log: every rating ever sent, corrections and late ones included."""
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    if wanted := request.GET.get("format"):
        return table_response(
            format=wanted,
            filename=f"{project.slug}-campaign-{campaign.pk}-ratings",
            columns=selectors.RATING_COLUMNS,
            rows=selectors.rating_rows(campaign),
        )
    ratings, older = selectors.ratings_page(campaign, before=whole_number(request, "before"), size=PAGE)
    context = {"project": project, "campaign": campaign, "ratings": ratings, "older": older}
    return render(request, "annotation/campaign_ratings.html", context)
