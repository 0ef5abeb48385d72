"""Results by raters: of a campaign, and of chosen campaigns of a project, with their charts, files and items."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.rated import rated_by, weights_url
from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme, chart_urls
from annotation.core.errors import AnnotationError
from annotation.core.exports import file_response, table_response
from annotation.core.numbers import counted, finite_or_none
from annotation.core.prose import enumerated
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import Campaign, CampaignState, Project, Role
from annotation.quality.selectors.monitoring.live import is_large
from annotation.quality.selectors.monitoring.stored import plain
from annotation.quality.selectors.suspects import Suspects, suspects
from annotation.results.attributes import (
    ATTRIBUTES,
    FILTER_REFUSED,
    NONE,
    RATER,
    Attribute,
    filters_from,
    in_address,
    rater_answers,
)
from annotation.results.charts import CHARTS
from annotation.results.registry import companions
from annotation.results.selectors.agreement import rater_agreement
from annotation.results.selectors.campaigns import headline, rated_campaigns
from annotation.results.selectors.counted import filter_choices, rater_choices
from annotation.results.selectors.deciding import deciding_items
from annotation.results.selectors.notes import ends_notes, rank_note
from annotation.results.selectors.sentences import few_raters_sentence, width_sentence
from annotation.results.selectors.stored import Read, read_results
from annotation.results.selectors.tables import TABLES, latex_table, paragraph, plain_results
from annotation.results.selectors.verdicts import CriterionVerdict, PairVerdict, Results
from annotation.results.services.snapshots import snapshot_request
from annotation.results.tasks import results_compute

TITLES = {"estimates": "Means", "distribution": "Ratings given", "differences": "Differences"}
TITLES_OF_COMPARISONS = TITLES | {"estimates": "Strengths", "distribution": "Comparisons won, tied and lost"}
MOST_DRAWN = 15  # differences that are drawn before the table is opened
MOST_READ = 12  # campaigns whose verdict stands on the project's page, newest first
WAIT = "A worker is still computing these results; try again in a minute."


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_results(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    context = _context(request, [campaign]) | {"campaign": campaign, "companions": []}
    of_references = campaign.ratings.exists() and not rated_by(campaign).outputs
    context["weights_url"] = weights_url(campaign) if of_references and may_manage(request.project) else ""
    context["of_references"] = of_references
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    if request.htmx:
        return render(request, "annotation/results/results_content.html", context)
    if context["results"]:
        context["companions"] = list(companions(campaign, manages=may_manage(request.project)))
    return render(request, "annotation/results/campaign_results.html", context)


@require_GET
@project_view(Role.VIEWER)
def results(request: MemberRequest) -> HttpResponse:
    """Show the results of chosen campaigns together; their systems are told apart by name."""
    rated = list(rated_campaigns(request.project))
    chosen = [campaign for campaign in rated if str(campaign.pk) in request.GET.getlist("campaign")]
    together = enumerated([f"“{campaign.name}”" for campaign in chosen]) if chosen else ""
    context: dict[str, Any] = {"project": request.project, "chosen": chosen, "together": together}
    if chosen:
        context |= _context(request, chosen)
        if request.GET.get("seen") == context["seen"]:
            return HttpResponse(status=204)
    if request.htmx:
        return render(request, "annotation/results/results_content.html", context)
    found = {campaign.pk: headline(campaign) for campaign in rated[:MOST_READ]}
    rows = [(campaign, found.get(campaign.pk), campaign in chosen, campaign.pk in found) for campaign in rated]
    context["rows"] = sorted(rows, key=lambda row: row[1] is None)  # those that compare systems first
    return render(request, "annotation/results/results.html", context)


@require_GET
@project_view(Role.VIEWER)
def results_chart(request: MemberRequest, criterion: str, name: str, file_format: str) -> HttpResponse:
    campaigns = _campaigns_or_404(request)
    verdict = _verdict_or_404(_results_or_404(request, campaigns), criterion)
    if name not in CHARTS:
        raise Http404(f"No chart {name!r}; there are {', '.join(CHARTS)}.")
    specification = CHARTS[name](verdict, theme=chart_theme(request))
    return chart_response(specification, file_format, f"results-{_stem(request, campaigns)}-{criterion}-{name}")


@require_GET
@project_view(Role.VIEWER)
def results_download(request: MemberRequest, name: str, file_format: str) -> HttpResponseBase:
    """Return a table of the results, all of them as JSON, the LaTeX table, or the paragraph."""
    campaigns = _campaigns_or_404(request)
    found = _results_or_404(request, campaigns)
    stem = f"results-{_stem(request, campaigns)}"
    if (name, file_format) == ("all", "json"):
        answer = JsonResponse(plain_results(found, campaigns, plain(found)))
        answer["Content-Disposition"] = f'attachment; filename="{stem}.json"'
        return answer
    if (name, file_format) == ("systems", "tex"):
        return file_response(latex_table(found), "application/x-tex", f"{stem}.tex")
    if (name, file_format) == ("paragraph", "txt"):
        return file_response(paragraph(found, campaigns) + "\n", "text/plain; charset=utf-8", f"{stem}.txt")
    if name not in TABLES:
        raise Http404(f"No results as {name!r}; there are {', '.join(TABLES)}, all.json and paragraph.txt.")
    columns, rows = TABLES[name]
    return table_response(format=file_format, filename=f"{stem}-{name}", columns=columns, rows=rows(found))


@require_GET
@project_view(Role.VIEWER)
def results_items(request: MemberRequest) -> HttpResponse:
    """Show the items on which two systems differ most, or raters of one disagree most."""
    campaigns = _campaigns_or_404(request)
    criterion, systems = request.GET.get("criterion", ""), request.GET.getlist("system")[:2]
    filters = _filters(request)
    context = {
        "project": request.project,
        "campaigns": campaigns,
        "campaign": campaigns[0],
        "criterion": criterion,
        "systems": systems,
        "items": deciding_items(campaigns, criterion, systems, filters=filters),
        "back_url": _page_url(request.project, campaigns, filters),
    }
    return render(request, "annotation/results/results_items.html", context)


def _context(request: MemberRequest, campaigns: Sequence[Campaign]) -> dict[str, Any]:
    filters = _filters(request)
    error, read = "", Read(None, "")
    try:
        read = _read(campaigns, filters)
    except AnnotationError as problem:
        error = problem.message
    query = _query(campaigns, filters)
    running = any(campaign.state == CampaignState.RUNNING for campaign in campaigns)
    choices = filter_choices(campaigns)
    return {
        "project": request.project,
        "campaigns": campaigns,
        "error": error,
        "read": read,
        "results": read.results,
        "seen": f"{read.version}-{read.computed_at:%s}" if read.computed_at else read.version,
        "live": running or not read.is_current,
        "self_url": request.path + "?" + urlencode(_parameters(request.GET)),
        "filters": [
            (key, attribute.label, [_choice(attribute, value, filters.get(key)) for value in choices[key]])
            for key, attribute in ATTRIBUTES.items()
            if key in choices
        ],
        "rater_filters": _rater_filters(campaigns, filters) if may_manage(request.project) else [],
        "filtered": filters,
        "filtered_by": _filtered_by(campaigns, filters),
        "unfiltered_url": _page_url(request.project, campaigns, {}),
        "criteria": _shown_verdicts(request.project, read.results, query) if read.results else [],
        "downloads": _downloads(request.project, query),
        "paragraph": paragraph(read.results, campaigns) if read.results else "",
        "suspected": _suspected(campaigns) if read.results else [],
        "agreement": [(campaign, rater_agreement(campaign)) for campaign in campaigns]
        if read.results and read.results.raters_known
        else [],
        "may_manage": may_manage(request.project),
    }


def _suspected(campaigns: Sequence[Campaign]) -> list[tuple[Campaign, Suspects]]:
    """Return the raters who stand out in each campaign; of a large one the list of raters shows them."""
    found = [(campaign, suspects(campaign)) for campaign in campaigns if not is_large(campaign)]
    return [(campaign, each) for campaign, each in found if each.rows]


def _filters(request: MemberRequest) -> dict[str, Any]:
    """Return the filters of the address; those by raters' answers are for managers."""
    filters = filters_from(request.GET)
    if rater_answers(filters) and not may_manage(request.project):
        raise PermissionDenied(FILTER_REFUSED)
    return filters


def _rater_filters(campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> list[tuple[str, str, list[Any]]]:
    return [
        (key, label, [(value, f"{value} ({counted(n, 'rater')})", filters.get(key) == value) for value, n in answers])
        for key, (label, answers) in rater_choices(campaigns).items()
    ]


def _filtered_by(campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> list[str]:
    """Return the filters in words."""
    named = [
        f"{ATTRIBUTES[key].label.lower()}: {ATTRIBUTES[key].shown(value)}"
        for key, value in filters.items()
        if key in ATTRIBUTES
    ]
    answers = rater_answers(filters)
    labels = rater_choices(campaigns) if answers else {}
    return named + [
        f"raters who answered “{value}” to “{labels[key][0] if key in labels else name}”"
        for name, value in answers.items()
        for key in [f"{RATER}{name}"]
    ]


def _choice(attribute: Attribute, value: Any, chosen: Any) -> tuple[Any, str, bool]:
    """Return a value as its address and the page write it, and whether it is chosen."""
    return NONE if value == "" else value, attribute.shown(value), value == chosen


def _read(campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> Read:
    """Return the results, and hand them to a worker if they are due."""
    read = read_results(campaigns, filters)
    if read.is_due:
        results_compute.delay_on_commit(snapshot_request(campaigns=campaigns, filters=filters).pk)
    return read


def _shown_verdicts(project: Project, results: Results, query: str) -> list[dict[str, Any]]:
    """Return what the page shows of each criterion; what several have in common stands with the first."""
    shown = [_shown_verdict(project, verdict, query) for verdict in results.criteria]
    said: set[str] = set()
    for each in shown:
        each["width"] = "" if each["width"] in said else each["width"]
        said.add(each["width"])
    return shown


def _shown_verdict(project: Project, verdict: CriterionVerdict, query: str) -> dict[str, Any]:
    titles = TITLES if verdict.by_means else TITLES_OF_COMPARISONS
    items = f"{reverse('annotation:results-items', args=[project.slug])}{query}&criterion={verdict.criterion}"
    names = [each.name for each in verdict.systems]
    charts = {
        name: (titles[name], chart_urls("annotation:results-chart", [project.slug, verdict.criterion, name], query))
        for name in CHARTS
        if len(names) > 1
    }
    of_pairs = charts.pop("differences", None)
    if all(isnan(pair.difference) for pair in verdict.pairs):
        of_pairs = None
    is_short, width = len(verdict.pairs) <= MOST_DRAWN, width_sentence(verdict)
    return {
        "verdict": verdict,
        "charts": [*charts.values(), *([of_pairs] if of_pairs and is_short else [])],
        "folded_chart": None if is_short else of_pairs,
        "systems": [(each, f"{items}&{urlencode({'system': each.name})}") for each in verdict.systems],
        "matrix": [(row, [_cell(verdict, row, column, items) for column in names]) for row in names],
        "names": names,
        "rank_note": rank_note(verdict),
        "width": width or few_raters_sentence(verdict),
        "notes": list(ends_notes(verdict, of_differences=not width)),
        "certain": sum(pair.is_certain for pair in verdict.pairs),
    }


def _cell(verdict: CriterionVerdict, row: str, column: str, items: str) -> dict[str, Any] | None:
    """Return the difference of the row's system less the column's; None on the diagonal."""
    pair = verdict.pair(row, column) if row != column else None
    if pair is None:
        return None
    sign = 1 if pair.first == row else -1
    return {
        "difference": sign * pair.difference,
        "low": finite_or_none(pair.low if sign > 0 else -pair.high),
        "high": finite_or_none(pair.high if sign > 0 else -pair.low),
        "single_low": finite_or_none(pair.single_low if sign > 0 else -pair.single_high),
        "single_high": finite_or_none(pair.single_high if sign > 0 else -pair.single_low),
        "pair": pair,
        "url": f"{items}&{urlencode([('system', row), ('system', column)])}",
        "side": _side(sign * pair.difference, pair),
        "won": (pair.wins, pair.shown_ties, pair.losses)[::sign] if verdict.by_pairs else (),
    }


def _side(difference: float, pair: PairVerdict) -> str:
    """Return the class of a cell: which system is ahead, if that is certain."""
    if not pair.is_certain:
        return ""
    return "ahead" if difference > 0 else "behind"


def _downloads(project: Project, query: str) -> dict[str, str]:
    def at(name: str, file_format: str) -> str:
        return reverse("annotation:results-download", args=[project.slug, name, file_format]) + query

    return {
        "csv_url": at("systems", "csv"),
        "json_url": at("all", "json"),
        "pairs_url": at("pairs", "csv"),
        "tex_url": at("systems", "tex"),
        "txt_url": at("paragraph", "txt"),
    }


def _query(campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> str:
    return "?" + urlencode([*(("campaign", campaign.pk) for campaign in campaigns), *in_address(filters).items()])


def _page_url(project: Project, campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> str:
    if len(campaigns) == 1:
        query = f"?{urlencode(in_address(filters))}" if filters else ""
        return reverse("annotation:campaign-results", args=[project.slug, campaigns[0].pk]) + query
    return reverse("annotation:results", args=[project.slug]) + _query(campaigns, filters)


def _parameters(given: Any) -> list[tuple[str, str]]:
    return [(key, value) for key in given for value in given.getlist(key) if key != "seen"]


def _campaigns_or_404(request: MemberRequest) -> list[Campaign]:
    wanted = request.GET.getlist("campaign")
    chosen = [campaign for campaign in rated_campaigns(request.project) if str(campaign.pk) in wanted]
    if not chosen:
        raise Http404("No rated campaign of this project is chosen: name some as campaign=….")
    return chosen


def _results_or_404(request: MemberRequest, campaigns: Sequence[Campaign]) -> Results:
    try:
        read = _read(campaigns, _filters(request))
    except AnnotationError as problem:
        raise Http404(problem.message) from problem
    if read.results is None:
        raise Http404(WAIT)
    return read.results


def _verdict_or_404(found: Results, criterion: str) -> CriterionVerdict:
    verdict = next((each for each in found.criteria if each.criterion == criterion), None)
    if verdict is None:
        raise Http404(f"No criterion {criterion!r}; there are {', '.join(each.criterion for each in found.criteria)}.")
    return verdict


def _stem(request: MemberRequest, campaigns: Sequence[Campaign]) -> str:
    """Return what names a file of these results."""
    numbers = [str(campaign.pk) for campaign in campaigns[:5]]
    return "-".join(["campaign", *numbers, *(["filtered"] if _filters(request) else [])])
