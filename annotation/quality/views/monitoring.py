"""The monitor of a campaign: its page, the fragments that it polls, its charts and tables."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.defaultfilters import floatformat
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.rated import compares_systems, rated_by, weights_url
from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.exports import table_response
from annotation.core.numbers import card, counted, decimals
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, CampaignState, JobState, ReferenceSet, Role
from annotation.quality import charts
from annotation.quality.selectors.decisions import reopened_slots
from annotation.quality.selectors.monitoring.certainty import TARGETS, Enough, Target
from annotation.quality.selectors.monitoring.forecast import CriterionForecast
from annotation.quality.selectors.monitoring.live import Monitor, campaign_monitor, campaign_statistics
from annotation.quality.selectors.monitoring.statistics import Statistics
from annotation.quality.selectors.monitoring.tables import TABLES
from annotation.quality.selectors.raters import moment
from annotation.quality.selectors.suspects import suspects
from annotation.quality.selectors.topping_up import Question


@dataclass(frozen=True)
class Chart:
    """A chart of the monitor: how it is drawn, from which numbers, and whether the page shows it."""

    title: str
    draw: Callable[..., dict[str, Any]]
    numbers: Callable[[Statistics], Any]
    caption: str = ""
    is_shown: Callable[[Statistics], object] = bool


def _by_criterion(attribute: str) -> Callable[[Statistics], dict[str, Any]]:
    return lambda statistics: {criterion.name: getattr(criterion, attribute) for criterion in statistics.criteria}


DRIFT_CAPTION = "Difference from the rater's mean; 95% intervals."
CHARTS = {
    "values": Chart(
        "Values given",
        charts.value_distribution,
        _by_criterion("values"),
    ),
    "responses": Chart(
        "Judgements per response",
        charts.ratings_per_response,
        attrgetter("per_response"),
        is_shown=lambda statistics: len(statistics.per_response) > 1,  # one bar says what a card does
    ),
    "hours": Chart(
        "Ratings per hour",
        charts.ratings_per_hour,
        attrgetter("per_hour"),
        is_shown=attrgetter("per_hour"),
    ),
    "drift-hours": Chart(
        "Ratings over time",
        partial(charts.drift, over="Hours since the first rating"),
        _by_criterion("over_hours"),
        DRIFT_CAPTION,
        attrgetter("has_hours"),
    ),
    "drift-screens": Chart(
        "Ratings in the order of each rater's work",
        partial(charts.drift, over="Position in the rater's sequence of items"),
        _by_criterion("over_places"),
        DRIFT_CAPTION,
        attrgetter("has_screens"),
    ),
}
PARTS: dict[str, Callable[[Monitor], str]] = {
    "live": attrgetter("version"),
    "figures": attrgetter("figures_version"),
}
USUAL_TARGET = 0.25
HARDLY_AGREE = 0.2  # Krippendorff's alpha below which ratings are mostly noise


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_monitor_fragment(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Return the monitor as a page, as a fragment, or the part that polls; 204 if ``seen`` names its version."""
    monitor = campaign_monitor(campaign)
    target = _target(request)
    enough = [
        (certainty, next((goal for goal in certainty.targets if goal.half_width == target), None))
        for certainty in (monitor.figures.enough if monitor.figures else [])
    ]
    answers = _answers(monitor)
    context = {
        "project": request.project,
        "campaign": campaign,
        "may_manage": may_manage(request.project),
        "monitor": monitor,
        "suspects": suspects(campaign) if monitor.figures and monitor.computed_at is None else None,
        "statistics": monitor.figures,
        "reopened": reopened_slots(campaign) if monitor.slots_done < monitor.slots_total else 0,
        "cards": _cards(monitor, reverse("annotation:campaign-raters", args=[request.project.slug, campaign.pk])),
        "charts": _shown_charts(monitor.figures),
        "target": target,
        "targets": TARGETS,
        "enough": enough if _weights_wanted(campaign) else [],
        "is_over": _is_over(campaign),
        "of_references": not (rated_by(campaign).outputs or compares_systems(campaign)),
        "weights_url": weights_url(campaign),
        "enough_text": _enough_text(monitor, *enough[0]) if enough else "",
        "answers": answers,
        "has_pairs": any(answer["pairs"] for answer in answers),
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
    specification = chart.draw(chart.numbers(_statistics_or_404(campaign)), theme=chart_theme(request))
    return chart_response(specification, file_format, f"campaign-{campaign.pk}-{name}")


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_table(request: MemberRequest, campaign: Campaign, name: str, file_format: str) -> StreamingHttpResponse:
    table, filename = TABLES[name], f"campaign-{campaign.pk}-{name}"
    rows = table.rows(_statistics_or_404(campaign))
    return table_response(format=file_format, filename=filename, columns=table.columns, rows=rows)


def _shown_charts(statistics: Statistics | None) -> dict[str, Chart]:
    if statistics is None or not statistics.n_ratings:
        return {}
    return {name: chart for name, chart in CHARTS.items() if chart.is_shown(statistics)}


def _raters(campaign: Campaign, n: int, activity: str) -> tuple[int | str, str]:
    """Return the number of raters and a hint; of imported medians or means that it is not known."""
    return ("–", campaign.unknown_raters) if campaign.unknown_raters else (n, activity)


def _cards(monitor: Monitor, raters_url: str) -> list[dict[str, str]]:
    """Return the monitor's numbers as statistic cards: label, value, hint and link."""
    n, cards = monitor.figures, []
    if n:
        plan = f"{n.n_fewer:,} still need ratings" if n.n_fewer else "all have their planned ratings"
        if n.n_fewer and (n.n_excluded_raters or _is_over(monitor.campaign)):
            plan = f"{n.n_fewer:,} have fewer counted ratings than planned"
            if n.n_excluded_raters:
                plan += ", as those of excluded raters do not count"
        if n.n_more:
            plan += f", {n.n_more:,} have more than planned"
        is_closed = monitor.campaign.state == CampaignState.CLOSED
        now = f"{monitor.raters_active:,} active now, {counted(monitor.slots_leased, 'open item')}"
        activity = "the campaign is closed" if is_closed else now
        if monitor.campaign.imported:
            plan, activity = _times_each(n), "imported"
        elif monitor.raters_joined != n.n_raters:
            joined = f"whose ratings count, of {monitor.raters_joined:,} who joined"
            activity = joined if is_closed else f"{joined}; {activity}"
        cards = [
            card("Counted ratings", n.n_ratings, f"in {counted(n.n_answers, 'answer')}"),
            card("Responses judged", n.n_responses, plan),
            card("Raters", *_raters(monitor.campaign, n.n_raters, activity), raters_url),
            card("Extra ratings", n.n_extra, f"{n.n_superseded:,} corrected later"),
        ]
        if n.n_excluded_raters:
            hint = f"{counted(n.n_excluded_ratings, 'rating')} left out of all statistics"
            cards.append(card("Excluded raters", n.n_excluded_raters, hint, raters_url))
    if monitor.pace and monitor.campaign.state != CampaignState.CLOSED:
        cards.append(card("Items per hour", floatformat(monitor.pace.per_hour, "0g"), monitor.pace.rests_on))
    return cards


def _times_each(statistics: Statistics) -> str:
    """Return how often each response was judged."""
    if len(statistics.per_response) != 1:
        return "at least once"
    times = statistics.per_response[0][0]
    return "once each" if times == 1 else f"{counted(times, 'time')} each"


def _answers(monitor: Monitor) -> list[dict[str, Any]]:
    """Return what the campaign asks, how many more ratings answer it, and the change that adds them."""
    if monitor.figures is None:
        return []
    campaign = monitor.campaign
    if _is_over(campaign):
        return []
    alpha = {criterion.name: criterion.alpha.alpha for criterion in monitor.figures.criteria}
    answers = [_about_systems(campaign, known, alpha.get(known.criterion)) for known in monitor.figures.forecasts]
    if not answers and rated_by(campaign).mostly_outputs:
        return [] if campaign.imported else [_about_studies(campaign)]
    answers = answers or [_about_weights(campaign, certainty) for certainty in monitor.figures.enough]
    can_change = not campaign.imported and campaign.state in (CampaignState.RUNNING, CampaignState.PAUSED)
    return [answer | {"url": answer["url"] if can_change else ""} for answer in answers if answer["sentence"]]


def _weights_wanted(campaign: Campaign) -> bool:
    """Return whether references are rated, or a reference set takes weights from the campaign."""
    return not rated_by(campaign).mostly_outputs or ReferenceSet.objects.filter(campaigns=campaign).exists()


def _is_over(campaign: Campaign) -> bool:
    """Return whether the campaign can get no more ratings; the plan of an imported one is not known."""
    return campaign.state == CampaignState.CLOSED and not campaign.imported


def _about_systems(campaign: Campaign, known: CriterionForecast, alpha: float | None) -> dict[str, Any]:
    pair, url, button = known.nearest, "", ""
    if pair and pair.ratings:
        question = Question(known.criterion, (pair.first, pair.second)).label
        url = _change_url(campaign, "top-up", {"ratings": pair.ratings, "question": question})
        button = f"Add {counted(pair.ratings, 'answer')} where they decide"
    elif pair and pair.ratings is None and pair.items and campaign.item_limit:
        url = _change_url(campaign, "add-items", {"item_limit": campaign.item_limit + pair.items})
        button = f"Add {counted(pair.items, 'item')}"
    return {
        "about": known.criterion,
        "sentence": f"{known.sentence}{_hardly_agree(alpha) if known.pairs else ''}",
        "pairs": known.pairs,
        "planned": known.planned,
        "url": url,
        "button": button,
    }


def _hardly_agree(alpha: float | None) -> str:
    """Return a caution where ratings are mostly noise, of which no forecast can be made."""
    if alpha is None or not alpha < HARDLY_AGREE:
        return ""
    return f" The raters hardly agree so far (α = {decimals(alpha)}): look at them before you add anything."


def _about_weights(campaign: Campaign, certainty: Enough) -> dict[str, Any]:
    goal, url, button = certainty.signs.next, "", ""
    if goal and goal.ratings_per_unit:
        url = _change_url(campaign, "extend", {"ratings_per_unit": goal.ratings_per_unit})
        button = f"Add {counted(goal.more, 'rating')}"
    return {"about": certainty.what, "sentence": certainty.signs.sentence, "pairs": [], "url": url, "button": button}


def _about_studies(campaign: Campaign) -> dict[str, Any]:
    """Return where ratings of outputs alone are judged: weights, which are of references, say nothing about them.

    The study that says it, or else the form that starts one.
    """
    answer = {"about": "", "pairs": []}
    slug = campaign.project.slug
    rated: Any = campaign  # the app above holds studies
    done = rated.studies.filter(state=JobState.DONE, specification__sensitivity=True).order_by("-pk").first()
    if done is not None:
        sentence = f"How many raters it takes to tell metrics apart, the study “{done.name}” says."
        url = reverse("correlations:study-sensitivity", args=[slug, done.pk])
        return answer | {"sentence": sentence, "url": url, "button": "How many raters did we need?"}
    sentence = (
        "Whether these ratings of outputs are enough to tell metrics apart, a study says: tick “Also compute how many "
        "raters were needed” in its form."
    )
    query = urlencode({"dataset": campaign.dataset_id, "campaign": campaign.pk})
    url = f"{reverse('correlations:study-create', args=[slug])}?{query}"
    return answer | {"sentence": sentence, "url": url, "button": "Start a study"}


def _change_url(campaign: Campaign, operation: str, choices: dict[str, Any]) -> str:
    address = reverse("annotation:campaign-operation", args=[campaign.project.slug, campaign.pk, operation])
    return f"{address}?{urlencode(choices)}"


def _enough_text(monitor: Monitor, certainty: Enough, goal: Target | None) -> str:
    """Say in words whether planned ratings are missing, and what further ones would bring; of the first row alone."""
    if certainty.reason or goal is None or monitor.figures is None:
        return ""
    margin = f"±{certainty.half_width:.2f}"
    if monitor.campaign.imported:
        now = f"The ratings give weights a margin of error of {margin} on average."
    elif _is_over(monitor.campaign):
        return f"The ratings give weights a margin of error of {margin} on average."
    elif monitor.figures.n_fewer:
        now = f"So far the margin of error is {margin} on average, ±{certainty.at_plan:.2f} once all is rated."
    else:
        now = f"All planned ratings are in. They give weights a margin of error of {margin} on average."
    if not goal.more:
        return f"{now} That is enough for ±{goal.half_width:.2f}."
    takes = f"takes {counted(goal.more, 'rating')} from now on, planned ones included"
    return f"{now} To bring each weight to ±{goal.half_width:.2f}, whatever its sign, {takes}."


def _statistics_or_404(campaign: Campaign) -> Statistics:
    statistics, _ = campaign_statistics(campaign, moment(campaign))
    if statistics is None:
        raise Http404("A worker is still computing this campaign's statistics; try again in a minute.")
    return statistics


def _target(request: HttpRequest) -> float:
    """Return the half-width that the address names, if it is among the choices."""
    text = request.GET.get("target", "")
    return next((target for target in TARGETS if text in (f"{target:g}", f"{target:.2f}")), USUAL_TARGET)
