"""A campaign as it goes: a page, the fragments it polls, its charts, its tables."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, Role
from annotation.quality import charts
from annotation.quality.selectors import monitoring as selectors
from annotation.quality.selectors.monitoring import Figures, Monitor, campaign_figures, campaign_monitor
from annotation.quality.selectors.raters import moment

CHARTS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[[Figures], Any]]] = {
    "values": (charts.value_distribution, lambda figures: {one.name: one.values for one in figures.criteria}),
    "hours": (charts.ratings_per_hour, lambda figures: figures.per_hour),
    "responses": (charts.ratings_per_response, lambda figures: figures.per_response),
    "drift-hours": (charts.drift_over_hours, lambda figures: {one.name: one.over_hours for one in figures.criteria}),
    "drift-screens": (
        charts.drift_over_screens,
        lambda figures: {one.name: one.over_places for one in figures.criteria},
    ),
}
TABLES: dict[str, tuple[tuple[str, ...], Callable[[Figures], list[tuple[Any, ...]]]]] = {
    "agreement": (selectors.AGREEMENT_COLUMNS, selectors.agreement_rows),
    "places": (selectors.POSITION_COLUMNS, selectors.position_rows),
    "drift": (selectors.DRIFT_COLUMNS, selectors.drift_rows),
    "enough": (selectors.ENOUGH_COLUMNS, selectors.enough_rows),
}
PARTS: dict[str, Callable[[Monitor], str]] = {
    "live": lambda monitor: monitor.version,
    "figures": lambda monitor: monitor.figures_version,
}
USUAL_TARGET = 0.25


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_monitor_fragment(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """The monitor as a page, as a fragment, or the part of it that polls; 204 where it has ``seen`` all there is."""
    monitor = campaign_monitor(campaign)
    target = _target(request)
    context = {
        "project": request.project,
        "campaign": campaign,
        "may_manage": may_manage(request.project),
        "monitor": monitor,
        "figures": monitor.figures,
        "target": target,
        "targets": selectors.TARGETS,
        "enough": [
            (one, next((found for found in one.targets if found.half_width == target), None))
            for one in (monitor.figures.enough if monitor.figures else [])
        ],
    }
    if not request.htmx:
        return render(request, "annotation/quality/campaign_monitor_page.html", context)
    part = request.GET.get("part")
    if part not in PARTS:
        return render(request, "annotation/quality/campaign_monitor.html", context)
    if request.GET.get("seen") == PARTS[part](monitor):
        return HttpResponse(status=204)
    return render(request, f"annotation/quality/campaign_{part}.html", context)


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_chart(request: MemberRequest, campaign: Campaign, name: str, file_format: str) -> HttpResponse:
    if name not in CHARTS:
        raise Http404(f"No chart {name!r}; there are {', '.join(CHARTS)}.")
    draw, numbers = CHARTS[name]
    specification = draw(numbers(_figures_or_404(campaign)), theme=chart_theme(request))
    return chart_response(specification, file_format, f"campaign-{campaign.pk}-{name}")


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_table(request: MemberRequest, campaign: Campaign, name: str, file_format: str) -> StreamingHttpResponse:
    """One of the monitor's tables as a file."""
    columns, rows = TABLES[name]
    found = rows(_figures_or_404(campaign))
    return table_response(format=file_format, filename=f"campaign-{campaign.pk}-{name}", columns=columns, rows=found)


def _figures_or_404(campaign: Campaign) -> Figures:
    figures, _ = campaign_figures(campaign, moment(campaign))
    if figures is None:
        raise Http404("A worker is still computing this campaign's figures; try again in a minute.")
    return figures


def _target(request: HttpRequest) -> float:
    """The half-width that the address asks about, if it is one of those offered."""
    asked = request.GET.get("target", "")
    return next((target for target in selectors.TARGETS if asked in (f"{target:g}", f"{target:.2f}")), USUAL_TARGET)
