"""A campaign as it goes: a page, the fragments it polls, its charts."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation import charts
from annotation.access import get_in_project_or_404, get_project_or_404
from annotation.exports import table_response
from annotation.models import Campaign, Project
from annotation.selectors.monitoring import (
    AGREEMENT_COLUMNS,
    POSITION_COLUMNS,
    Figures,
    Monitor,
    agreement_rows,
    campaign_monitor,
    position_rows,
)
from annotation.views.figures import chart_theme, picture_response

CHARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "values": charts.value_distribution,
    "hours": charts.ratings_per_hour,
    "responses": charts.ratings_per_response,
}
PARTS: dict[str, Callable[[Monitor], str]] = {
    "live": lambda monitor: monitor.version,
    "figures": lambda monitor: monitor.figures_version,
}


@login_required
@require_GET
def campaign_monitor_fragment(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    """The monitor as a page, as a fragment, or the part of it that polls; 204 where it has ``seen`` all there is."""
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    monitor = campaign_monitor(campaign)
    context = {"project": project, "campaign": campaign, "monitor": monitor}
    if not request.htmx:
        return render(request, "annotation/campaign_monitor_page.html", context)
    part = request.GET.get("part")
    if part not in PARTS:
        return render(request, "annotation/campaign_monitor.html", context)
    if request.GET.get("seen") == PARTS[part](monitor):
        return HttpResponse(status=204)
    return render(request, f"annotation/campaign_{part}.html", context)


@login_required
@require_GET
def campaign_chart(request: HttpRequest, project_slug: str, pk: int, name: str, file_format: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    if name not in CHARTS:
        raise Http404(f"No chart {name!r}; there are {', '.join(CHARTS)}.")
    figures = campaign_monitor(campaign).figures
    theme, picture = chart_theme(request), file_format != "json"
    specification = CHARTS[name](_numbers(name, figures), theme=theme, picture=picture)
    if not picture:
        return JsonResponse(specification)
    return picture_response(specification, file_format, f"campaign-{campaign.pk}-{name}")


@login_required
@require_GET
def campaign_agreement_download(
    request: HttpRequest, project_slug: str, pk: int, file_format: str
) -> StreamingHttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    rows = agreement_rows(campaign_monitor(campaign).figures)
    name = f"campaign-{campaign.pk}-agreement"
    return table_response(format=file_format, filename=name, columns=AGREEMENT_COLUMNS, rows=rows)


@login_required
@require_GET
def campaign_places_download(
    request: HttpRequest, project_slug: str, pk: int, file_format: str
) -> StreamingHttpResponse:
    project = get_project_or_404(request.user, project_slug)
    campaign = _campaign_or_404(project, pk)
    rows = position_rows(campaign_monitor(campaign).figures)
    name = f"campaign-{campaign.pk}-places"
    return table_response(format=file_format, filename=name, columns=POSITION_COLUMNS, rows=rows)


def _campaign_or_404(project: Project, pk: int) -> Campaign:
    return get_in_project_or_404(Campaign.objects.select_related("dataset"), project, pk=pk)


def _numbers(name: str, figures: Figures) -> Any:
    if name == "values":
        return {criterion.name: criterion.values for criterion in figures.criteria}
    return figures.per_hour if name == "hours" else figures.per_response
