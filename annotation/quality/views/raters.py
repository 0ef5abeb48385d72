"""Pages about raters: their measures, decisions about them, and the rules that exclude or flag them."""

from math import isnan
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.selectors import slots_unfilled
from annotation.campaigns.services.rules import rules_read, rules_register
from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme, chart_urls
from annotation.core.errors import AnnotationError, Overtaken
from annotation.core.exports import table_response
from annotation.core.parameters import whole_number, whole_numbers
from annotation.core.views import MemberRequest, object_view
from annotation.models import (
    AuditEntry,
    Campaign,
    CampaignState,
    DecisionAction,
    Participation,
    QualityRules,
    Rater,
    Role,
)
from annotation.quality import charts
from annotation.quality.forms.rules import DecisionForm, RulesForm, RulesJsonForm, addable_rules
from annotation.quality.selectors import raters as selectors
from annotation.quality.selectors.decisions import decisions, filled
from annotation.quality.selectors.measures import MEASURES
from annotation.quality.selectors.rater_work import rater_items
from annotation.quality.selectors.raters import (
    Moment,
    RaterRow,
    current_rules,
    moment,
    rater_quality_rows,
    stage_counts,
)
from annotation.quality.selectors.rule_preview import rules_preview
from annotation.quality.selectors.suspects import suspects, usual_seconds
from annotation.quality.services.decisions import ACTS, Act, Decided, rater_decide, raters_replace
from annotation.quality.services.rules import rules_apply
from annotation.rating.selectors.questions import answer_counts, answers_of
from annotation.rating.selectors.raters import imported_names
from annotation.weighting.exclusion.measured import MedianSecondsBelow
from annotation.weighting.exclusion.registry import rules_from_data

PAGE = 100
LONGEST_ID = 19  # digits
ITEMS = 50
STATES = {
    "work": "rating",
    "training": "in training",
    "test": "in the test",
    "failed": "did not qualify",
    "flagged": "flagged",
    "excluded": "excluded",
    "imported": "imported",
}
DONE = "has rated"  # once nothing is left to rate
LINKED_STATES = ("work", "flagged", "excluded")


def _rater_or_404(campaign: Campaign, pk: int) -> Rater:
    rows = Rater.objects.filter(project=campaign.project_id, pk=pk)
    took_part = rows.filter(participations__campaign=campaign) | rows.filter(presentations__campaign=campaign)
    rater = took_part.distinct().first()
    if rater is None:
        raise Http404("No such rater in this campaign.")
    return rater


def _render(
    request: MemberRequest, campaign: Campaign, template: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    context |= {"project": request.project, "campaign": campaign}
    return render(request, f"annotation/quality/{template}.html", context, status=status)


# --- Raters -----------------------------------------------------------------------------------------------------------


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_raters(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    at = moment(campaign)
    rows = rater_quality_rows(campaign, at)
    if file_format := request.GET.get("format"):
        name = f"{request.project.slug}-campaign-{campaign.pk}-raters"
        columns, table = selectors.QUALITY_COLUMNS, selectors.quality_table(rows)
        return table_response(format=file_format, filename=name, columns=columns, rows=table)
    has_chart = bool(_marks(rows))
    suspected = suspects(campaign, rows)
    state = request.GET.get("state", "")
    if state in STATES:
        rows = [row for row in rows if row.state == state]
    sort, rows = _sorted(request.GET.get("sort", ""), rows)
    page = max(whole_number(request, "page") or 1, 1)
    # A measure without any answer takes no column.
    words = _state_words(campaign)
    shown = rows[(page - 1) * PAGE : page * PAGE]
    imported = imported_names([row.rater.pk for row in shown]) if may_manage(request.project) else {}
    listed = [name for name, kind in MEASURES.items() if kind.is_listed]
    names = [name for name in listed if any(row.measures[name].n for row in rows)] or ["n"]
    context = {
        "rows": [
            (
                row,
                imported.get(row.rater.pk, ""),
                words[row.state],
                [row.measures[name] for name in names],
                suspected.reasons.get(row.rater.pk, []),
            )
            for row in shown
        ],
        "columns": [_column(name, sort) for name in names],
        "n_rows": len(rows),
        "sort": sort,
        "state": state,
        "state_links": [(name, words[name]) for name in STATES if name in (*LINKED_STATES, state)],
        "counts": stage_counts(campaign),
        "page": page,
        "previous_page": page - 1,
        "next_page": page + 1 if len(rows) > page * PAGE else None,
        "chart": _chart_urls(campaign, at) if has_chart else None,
        "suspects": suspected,
        "may_manage": may_manage(request.project),
        "about_raters": answer_counts(campaign),
    }
    return _render(request, campaign, "campaign_raters", context)


def _state_words(campaign: Campaign) -> dict[str, str]:
    """Return the words for states: in a closed or completely rated campaign no one is rating."""
    is_over = campaign.state == CampaignState.CLOSED or not slots_unfilled(campaign)
    return STATES | {"work": DONE} if is_over else STATES


def _column(name: str, sort: str) -> dict[str, str]:
    """Return a sortable column's head: a click sorts the lowest first, a second click the highest first."""
    direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
    return {"label": MEASURES[name].label, "direction": direction, "sort": f"-{name}" if sort == name else name}


def _sorted(sort: str, rows: list[RaterRow]) -> tuple[str, list[RaterRow]]:
    """Sort by a measure, lowest first, or highest first after a minus, undefined last; else by joining."""
    name = sort.removeprefix("-")
    if name not in MEASURES:
        return "", rows
    known = [row for row in rows if not isnan(row.measures[name].estimate)]
    unknown = [row for row in rows if isnan(row.measures[name].estimate)]
    known.sort(key=lambda row: row.measures[name].estimate, reverse=sort.startswith("-"))
    return sort, known + unknown


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_raters_chart(request: MemberRequest, campaign: Campaign, file_format: str) -> HttpResponse:
    marks = _marks(rater_quality_rows(campaign, _moment_of_page(request, campaign)))
    specification = charts.raters_by_time(marks, theme=chart_theme(request))
    return chart_response(specification, file_format, f"campaign-{campaign.pk}-raters")


def _chart_urls(campaign: Campaign, at: Moment) -> dict[str, str]:
    return chart_urls("annotation:campaign-raters-chart", [campaign.project.slug, campaign.pk], f"?at={at.version}")


def _moment_of_page(request: MemberRequest, campaign: Campaign) -> Moment:
    """Return the moment whose table the page shows, so that the chart shows the same; now without one."""
    now = moment(campaign)
    given = request.GET.get("at", "").split("-")
    if len(given) != len(now) or not all(part.isdecimal() and len(part) < LONGEST_ID for part in given):
        return now
    return Moment(*(min(int(part), newest) for part, newest in zip(given, now, strict=True)))


def _marks(rows: list[RaterRow]) -> list[dict[str, Any]]:
    """Return the chart's points: raters with known time and agreement."""
    return [
        {
            "rater": row.rater.pseudonym,
            "seconds": row.measures["seconds"].estimate,
            "agreement": row.measures["agreement"].estimate,
            "ratings": row.measures["n"].n,
            "state": row.state if row.state in ("flagged", "excluded") else "at work",
        }
        for row in rows
        if row.measures["seconds"].is_defined and row.measures["agreement"].is_defined
    ]


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_rater(request: MemberRequest, campaign: Campaign, rater: int) -> HttpResponse:
    return _render_rater(request, campaign, _rater_or_404(campaign, rater), DecisionForm())


def _render_rater(
    request: MemberRequest, campaign: Campaign, rater: Rater, form: DecisionForm, status: int = 200
) -> HttpResponse:
    row = next(row for row in rater_quality_rows(campaign) if row.rater.pk == rater.pk)
    after = whole_number(request, "after") or 0
    items, more = rater_items(campaign, rater, after=after, size=ITEMS)
    measures = [row.measures[name] for name in selectors.IN_FILES]
    context = {
        "rater": rater,
        "row": row,
        "state": _state_words(campaign)[row.state],
        "imported_as": _imported_as(rater) if may_manage(request.project) else "",
        "measures": measures,
        "unknown": [measure for measure in measures if isnan(measure.estimate)],
        "decisions": decisions(campaign, rater),
        "stands_out": "; ".join(suspects(campaign).reasons.get(rater.pk, [])),
        "n_filled": filled(campaign).filter(rater=rater).count(),
        "items": items,
        "after": after,
        "more": more,
        "acts": _acts(row.participation) if may_manage(request.project) and row.participation else [],
        "may_replace": _may_replace(campaign),
        "form": form,
        "about": answers_of(campaign, rater) if may_manage(request.project) else [],
    }
    return _render(request, campaign, "campaign_rater", context, status)


def _imported_as(rater: Rater) -> str:
    """Return what a file of ratings calls the rater; empty for others."""
    return imported_names([rater.pk]).get(rater.pk, "")


def _acts(participation: Participation) -> list[tuple[str, Act]]:
    """Return the decisions that change something for this rater."""
    return [(action.value, act) for action, act in ACTS.items() if bool(getattr(participation, act.field)) != act.sets]


def _may_replace(campaign: Campaign) -> bool:
    return not campaign.imported and campaign.state in (CampaignState.RUNNING, CampaignState.PAUSED)


@require_POST
@object_view(campaign_or_404, Role.MANAGER)
def campaign_rater_decide(request: MemberRequest, campaign: Campaign, rater: int, act: str) -> HttpResponse:
    concerned = _rater_or_404(campaign, rater)
    if act == DecisionAction.REOPEN:
        return _replace(request, campaign, concerned)
    if act not in DecisionAction:
        raise Http404(f"No decision {act!r}; accepted: {', '.join(DecisionAction)}.")
    action, form = DecisionAction(act), DecisionForm(request.POST)

    def decide(reason: str, replace: bool) -> Decided:
        options: Any = {"reason": reason, "replace": replace and action == DecisionAction.EXCLUDE, "by": request.user}
        return rater_decide(action, campaign=campaign, rater=concerned, **options)

    decided = form.submit(decide)
    if decided is None:
        return _render_rater(request, campaign, concerned, form, status=400)
    unchanged = "" if decided.decision else " Nothing has changed."
    messages.success(request, f"{concerned.pseudonym} is {ACTS[action].done}.{_reopened(decided.reopened)}{unchanged}")
    return redirect("annotation:campaign-rater", request.project.slug, campaign.pk, concerned.pk)


def _replace(request: MemberRequest, campaign: Campaign, rater: Rater) -> HttpResponse:
    """Reopen the slots that an excluded rater has filled."""
    try:
        reopened = raters_replace(campaign=campaign, rater=rater, by=request.user)
    except AnnotationError as refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, _reopened(reopened).strip() or "Nothing has changed.")
    return redirect("annotation:campaign-rater", request.project.slug, campaign.pk, rater.pk)


def _reopened(n: int) -> str:
    if not n:
        return ""
    slots, filled = ("1 slot is", "it is filled") if n == 1 else (f"{n:,} slots are", "they are filled")
    return f" {slots} open for other raters: the campaign collects ratings until {filled}."


# --- Rules ------------------------------------------------------------------------------------------------------------


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_quality(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show the current rules, the decisions and earlier versions."""
    rules = current_rules(campaign)
    if request.GET.get("format") == "json":
        return JsonResponse({"version": rules.version if rules else 0, "rules": rules.rules if rules else []})
    applications = selectors.applications(campaign)
    context = {
        "may_manage": may_manage(request.project),
        "rules": rules,
        "applied": next((entry for entry in applications if rules and entry.data["rules"] == rules.version), None),
        "sentences": [rule.sentence for rule in rules_from_data(rules.rules)] if rules else [],
        "versions": [
            (version, [rule.sentence for rule in rules_from_data(version.rules)])
            for version in campaign.rule_versions.select_related("created_by").order_by("-version")
        ],
        "applications": applications,
        "replay": _replay(request, campaign),
        "decisions": decisions(campaign)[:PAGE],
        "counts": stage_counts(campaign),
        "mix": campaign.quality.get("mix", {}),
        "every": campaign.quality.get("every", 0),
    }
    return _render(request, campaign, "campaign_quality", context)


def _replay(request: HttpRequest, campaign: Campaign) -> Any:
    number = whole_number(request, "replay")
    if number is None:
        return None
    return selectors.replay(get_object_or_404(AuditEntry, pk=number, campaign=campaign, verb=selectors.APPLIED))


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_quality_rules(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Edit the rules row by row: add, change, remove, preview, register."""
    if request.method == "GET":
        return _suggested_rules(request, campaign) if "suggested" in request.GET else _render_rules(request, campaign)
    do = request.POST.get("do", "")
    if do == "json":
        return _rules_from_json(request, campaign)
    form = RulesForm(request.POST)
    if do == "add":
        added = request.POST.get("add", "")
        form.add(added, **({"seconds": usual_seconds(campaign)[0]} if added == MedianSecondsBelow.name else {}))
        return _render_rules(request, campaign, form)
    if form.drop_removed():  # shown again, so that nothing is registered unseen
        return _render_rules(request, campaign, form)
    if not form.is_valid():
        return _render_rules(request, campaign, form, status=400)
    return _register_or_preview(request, campaign, form, register=do == "register")


def _suggested_rules(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Show the rules that would exclude the raters who stand out, and their effects; nothing is registered yet."""
    found = suspects(campaign)
    if not found.rules or found.version:
        return _render_rules(request, campaign)
    preview = rules_preview(campaign, rules_from_data(found.excluding))
    return _render_rules(request, campaign, RulesForm(records=found.excluding), preview=preview)


def _register_or_preview(
    request: MemberRequest, campaign: Campaign, form: RulesForm, *, register: bool
) -> HttpResponse:
    try:
        if register:
            seen = max(whole_numbers(request.POST, "version"), default=None)
            version = rules_register(campaign=campaign, records=form.records(), seen=seen, by=request.user)
            messages.success(request, f"Version {version.version} of the rules is registered.")
            return redirect("annotation:campaign-quality", request.project.slug, campaign.pk)
        rules = rules_read(campaign=campaign, records=form.records())
    except Overtaken as error:
        return _render_rules(request, campaign, form, error=error.message, status=409, again=True)
    except AnnotationError as error:
        return _render_rules(request, campaign, form, error=error.message, status=400)
    return _render_rules(request, campaign, form, preview=rules_preview(campaign, rules))


def _rules_from_json(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Load rules from JSON into the rows; nothing is registered yet."""
    json_form = RulesJsonForm(request.POST)
    rules = json_form.submit(rules_read, campaign=campaign)
    if rules is None:
        return _render_rules(request, campaign, json_form=json_form, status=400)
    return _render_rules(request, campaign, RulesForm(records=[rule.to_dict() for rule in rules]))


def _render_rules(
    request: MemberRequest,
    campaign: Campaign,
    form: RulesForm | None = None,
    *,
    status: int = 200,
    again: bool = False,
    **more: Any,
) -> HttpResponse:
    """Render the page with the form, or with the current rules.

    The page is based on the version that it was opened with, until a refusal has named a newer one.
    """
    rules = current_rules(campaign)
    records = rules.rules if rules else []
    newest = rules.version if rules else 0
    form = form or RulesForm(records=records)
    if any(row.kind is MedianSecondsBelow for row in form.rows):
        form.explain(MedianSecondsBelow, "seconds", f"Usual here: {usual_seconds(campaign)[1]}")
    context = {
        "form": form,
        "addable": addable_rules(),
        "version": newest if again else max(whole_numbers(request.POST, "version"), default=newest),
        "next_version": newest + 1,
        "json_form": RulesJsonForm(initial={"rules": records}),
        **more,
    }
    return _render(request, campaign, "campaign_quality_rules", context, status)


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_quality_apply(request: MemberRequest, campaign: Campaign, version: int) -> HttpResponse:
    """Preview what a registered version changes; a POST applies it."""
    rules = get_object_or_404(QualityRules, campaign=campaign, version=version)
    error = ""
    if request.method == "POST":
        try:
            options: Any = {"replace": "replace" in request.POST, "seen": _previewed(request)}
            applied = rules_apply(campaign=campaign, rules=rules, by=request.user, **options)
        except AnnotationError as refused:
            error = refused.message
        else:
            summary = f"{applied.excluded:,} excluded, {applied.flagged:,} flagged.{_reopened(applied.reopened)}"
            messages.success(request, summary)
            return redirect("annotation:campaign-quality", request.project.slug, campaign.pk)
    context = {
        "rules": rules,
        "preview": rules_preview(campaign, rules_from_data(rules.rules)),
        "may_replace": _may_replace(campaign),
        "error": error,
    }
    return _render(request, campaign, "campaign_quality_apply", context, 400 if error else 200)


def _previewed(request: MemberRequest) -> Moment | None:
    """Return the moment of the preview that the manager saw."""
    parts = request.POST.get("seen", "").split("-")
    if len(parts) != len(Moment._fields) or not all(part.isdecimal() and len(part) <= 18 for part in parts):
        return None
    return Moment(*map(int, parts))
