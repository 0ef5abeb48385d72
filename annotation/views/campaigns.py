"""Campaigns, for their managers: the list, drafting, launching, watching, the log of ratings, the raters."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import get_in_project_or_404, get_project_or_404, may_manage
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.forms.campaigns import CampaignForm, CampaignForms
from annotation.markdown import markdown
from annotation.models import Campaign, CampaignState, PresentationKind, Project, Role
from annotation.parameters import whole_number
from annotation.selectors import campaigns as selectors
from annotation.selectors.screens import preview_screen
from annotation.services import campaigns as services
from annotation.services.launch import units_planned

PAGE = 50
RATERS_PAGE = 100


def _campaign_or_404(project: Project, pk: int) -> Campaign:
    return get_in_project_or_404(selectors.campaigns_of(project), project, pk=pk)


@login_required
@require_GET
def campaign_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaigns = selectors.campaigns_of(project)
    if wanted := request.GET.get("format"):
        columns = ["campaign", "state", "imported", "dataset", "presentation", "units", "k", "done", "raters"]
        rows = (
            (c.name, c.state, c.imported, c.dataset.slug, c.presentation, c.n_units, c.ratings_per_unit, c.n_done,
             c.n_raters)
            for c in campaigns
        )  # fmt: skip
        return table_response(format=wanted, filename=f"{project.slug}-campaigns", columns=columns, rows=rows)
    return render(request, "annotation/campaign_list.html", {"project": project, "campaigns": list(campaigns)})


@login_required
@require_http_methods(["GET", "POST"])
def campaign_create(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    if request.htmx:
        return _systems_offered(request, project)
    forms = CampaignForms(project, request.POST or None, dataset_slug=request.GET.get("dataset", ""))
    if request.method == "POST" and forms.is_valid():
        try:
            campaign = services.campaign_create(project=project, draft=forms.draft())
        except AnnotationError as error:
            forms.add_errors(error.fields, error.message)
        else:
            return redirect("annotation:campaign-detail", project.slug, campaign.pk)
    return render(request, "annotation/campaign_form.html", {"project": project, "forms": forms})


@login_required
@require_http_methods(["GET", "POST"])
def campaign_edit(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    campaign = _campaign_or_404(project, pk)
    if campaign.state != CampaignState.DRAFT:
        messages.error(request, "The design was frozen at launch: only a draft can be edited.")
        return redirect("annotation:campaign-detail", project.slug, campaign.pk)
    if request.htmx:
        return _systems_offered(request, project)
    forms = CampaignForms(project, request.POST or None, campaign)
    if request.method == "POST" and forms.is_valid():
        try:
            services.campaign_update(campaign=campaign, draft=forms.draft())
        except AnnotationError as error:
            forms.add_errors(error.fields, error.message)
        else:
            return redirect("annotation:campaign-detail", project.slug, campaign.pk)
    context = {"project": project, "campaign": campaign, "forms": forms}
    return render(request, "annotation/campaign_form.html", context)


def _systems_offered(request: HttpRequest, project: Project) -> HttpResponse:
    """What the form lists once another data set is chosen in it."""
    form = CampaignForm(project, initial={"dataset": request.GET.get("dataset")})
    return render(request, "annotation/campaign_systems.html", {"form": form})


@login_required
@require_GET
def campaign_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    context: dict[str, Any] = {
        "project": project,
        "campaign": campaign,
        "criteria": campaign.criteria.all(),
        "systems": campaign.systems.all(),
        "may_manage": may_manage(project),
    }
    if campaign.state == CampaignState.DRAFT and (units := units_planned(campaign)):
        context |= {"planned_units": units, "planned_places": units * campaign.ratings_per_unit}
    context["launch_text"] = _launch_text(context)
    if context["may_manage"]:  # whoever has the link can rate
        landing = reverse("annotation:rater-landing", args=[campaign.link_token])
        context["rater_link"] = request.build_absolute_uri(landing)
    return render(request, "annotation/campaign_detail.html", context)


@login_required
@require_GET
def campaign_design(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    context = {
        "project": project,
        "campaign": campaign,
        "criteria": campaign.criteria.all(),
        "systems": campaign.systems.all(),
    }
    return render(request, "annotation/campaign_design.html", context)


def _launch_text(planned: dict[str, Any]) -> str:
    frozen = (
        "Its design is frozen from then on: what is rated, the scale, the number of ratings and the instructions can "
        "no longer be changed."
    )
    if "planned_units" not in planned:
        return frozen
    units, places = planned["planned_units"], planned["planned_places"]
    return f"It plans {units:,} unit{pluralize(units)} with {places:,} place{pluralize(places)} to fill. {frozen}"


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
        "wide": campaign.presentation == PresentationKind.PAIR,
    }
    return render(request, "annotation/campaign_preview.html", context)


def _action(request: HttpRequest, slug: str, pk: int, service: Callable[..., Campaign], done: str) -> HttpResponse:
    project = get_project_or_404(request.user, slug, role=Role.MANAGER)
    campaign = _campaign_or_404(project, pk)
    try:
        service(campaign=campaign)
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


@login_required
@require_GET
def campaign_raters(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    if wanted := request.GET.get("format"):
        return table_response(
            format=wanted,
            filename=f"{project.slug}-campaign-{campaign.pk}-raters",
            columns=selectors.RATER_COLUMNS,
            rows=(row[1:] for row in selectors.rater_rows(campaign)),
        )
    after = whole_number(request, "after") or 0
    raters = selectors.rater_rows(campaign, after=after, size=RATERS_PAGE + 1)
    context = {
        "project": project,
        "campaign": campaign,
        "raters": raters[:RATERS_PAGE],
        "next": raters[RATERS_PAGE - 1].rater_id if len(raters) > RATERS_PAGE else None,
        "after": after,
    }
    return render(request, "annotation/campaign_raters.html", context)
