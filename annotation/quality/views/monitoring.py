"""A campaign as it goes: a page, the fragments it polls, its charts, its tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.defaultfilters import floatformat
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.exports import table_response
from annotation.core.numbers import counted
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, Role
from annotation.quality import charts
from annotation.quality.selectors import monitoring as selectors
from annotation.quality.selectors.monitoring import Figures, Monitor, campaign_figures, campaign_monitor
from annotation.quality.selectors.raters import moment


@dataclass(frozen=True)
class Chart:
    """A chart of the monitor: how it is drawn, from which numbers, and when the page shows it."""

    title: str
    draw: Callable[..., dict[str, Any]]
    numbers: Callable[[Figures], Any]
    caption: str = ""
    is_shown: Callable[[Figures], object] = bool


DRIFT_CAPTION = "Difference from the rater's own mean; 95% intervals."
CHARTS = {
    "values": Chart(
        "Values given",
        charts.value_distribution,
        lambda figures: {criterion.name: criterion.values for criterion in figures.criteria},
    ),
    "responses": Chart("Judgements per response", charts.ratings_per_response, lambda figures: figures.per_response),
    "hours": Chart(
        "Ratings per hour",
        charts.ratings_per_hour,
        lambda figures: figures.per_hour,
        is_shown=lambda figures: figures.per_hour,
    ),
    "drift-hours": Chart(
        "Ratings over time",
        charts.drift_over_hours,
        lambda figures: {criterion.name: criterion.over_hours for criterion in figures.criteria},
        DRIFT_CAPTION,
        lambda figures: figures.has_hours,
    ),
    "drift-screens": Chart(
        "Ratings in the order of each rater's work",
        charts.drift_over_screens,
        lambda figures: {criterion.name: criterion.over_places for criterion in figures.criteria},
        DRIFT_CAPTION,
        lambda figures: figures.has_screens,
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
        "cards": _cards(monitor, reverse("annotation:campaign-raters", args=[request.project.slug, campaign.pk])),
        "charts": _shown_charts(monitor.figures),
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
    chart = CHARTS[name]
    specification = chart.draw(chart.numbers(_figures_or_404(campaign)), theme=chart_theme(request))
    return chart_response(specification, file_format, f"campaign-{campaign.pk}-{name}")


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_table(request: MemberRequest, campaign: Campaign, name: str, file_format: str) -> StreamingHttpResponse:
    """One of the monitor's tables as a file."""
    columns, rows = TABLES[name]
    found = rows(_figures_or_404(campaign))
    return table_response(format=file_format, filename=f"campaign-{campaign.pk}-{name}", columns=columns, rows=found)


def _shown_charts(figures: Figures | None) -> dict[str, Chart]:
    if figures is None or not figures.n_ratings:
        return {}
    return {name: chart for name, chart in CHARTS.items() if chart.is_shown(figures)}


def _cards(monitor: Monitor, raters_url: str) -> list[dict[str, str]]:
    """Return the monitor's numbers as statistic cards: label, value, hint and link."""
    figures, imported = monitor.figures, monitor.campaign.imported
    cards = []
    if figures:
        cards = [
            _card("Counted ratings", figures.n_ratings, counted(figures.n_judgements, "judgement")),
            _card(
                "Responses judged",
                figures.n_responses,
                "at least once" if imported else f"{figures.n_fewer:,} below plan, {figures.n_more:,} above plan",
            ),
            _card(
                "Raters",
                figures.n_raters,
                "imported"
                if imported
                else f"{monitor.raters_active:,} active now, {counted(monitor.slots_leased, 'open item')}",
                raters_url,
            ),
            _card("Extra ratings", figures.n_extra, f"{figures.n_superseded:,} corrected later"),
        ]
        if figures.n_excluded_raters:
            hint = f"{counted(figures.n_excluded_ratings, 'rating')} left out of all statistics"
            cards.append(_card("Excluded raters", figures.n_excluded_raters, hint, raters_url))
    if monitor.pace:
        hint = f"{counted(monitor.pace.screens, 'item')} in the last hour"
        cards.append(_card("Items per hour", floatformat(monitor.pace.per_hour, "0g"), hint))
    return cards


def _card(label: str, value: int | str, hint: str, link: str = "") -> dict[str, str]:
    return {"label": label, "value": f"{value:,}" if isinstance(value, int) else value, "hint": hint, "link": link}


def _figures_or_404(campaign: Campaign) -> Figures:
    figures, _ = campaign_figures(campaign, moment(campaign))
    if figures is None:
        raise Http404("A worker is still computing this campaign's statistics; try again in a minute.")
    return figures


def _target(request: HttpRequest) -> float:
    """The half-width that the address asks about, if it is one of those offered."""
    asked = request.GET.get("target", "")
    return next((target for target in selectors.TARGETS if asked in (f"{target:g}", f"{target:.2f}")), USUAL_TARGET)
