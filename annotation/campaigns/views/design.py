"""Design a campaign in steps, with a preview beside them; write prepared screens."""

import json
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.design.quality import PREPARED, PreparedKind
from annotation.campaigns.fields.table import QUALITY
from annotation.campaigns.forms import STEPS
from annotation.campaigns.forms.quality import QualityStep
from annotation.campaigns.forms.screens import LinesForm, PreparedForm
from annotation.campaigns.forms.steps import WORK_SETTINGS, RatersStep, ScreenStep, WhatStep
from annotation.campaigns.lookups import campaign_or_404
from annotation.campaigns.questions import READY_MADE
from annotation.campaigns.scales import fewest_responses
from annotation.campaigns.selectors import items_found, screen_of
from annotation.campaigns.services.readiness import LaunchReport, launch_report, speaks_of_another
from annotation.campaigns.services.screens import screen_mark, screen_remove, screen_save, screens_replace
from annotation.campaigns.services.usual_rules import usual_rules_set
from annotation.campaigns.services.writing import campaign_change, instructions_follow, question_add
from annotation.core.errors import AnnotationError, Overtaken
from annotation.core.exports import CONTENT_TYPES, file_response
from annotation.core.numbers import counted
from annotation.core.parameters import whole_numbers
from annotation.core.uploads import takes_uploads
from annotation.core.views import MemberRequest, object_view, perform
from annotation.models import Campaign, CampaignState, Project, Role

REVIEW = "review"
ORDER = [*STEPS, REVIEW]
IDS_OFFERED = 300
ITEMS_FOUND, RESPONSES_FOUND = 10, 6
OVERTAKEN_SCREEN = (
    "Yours is not saved yet. Save again to add it as a new item, or go back without saving and open the item as it "
    "is now."
)


def _if_frozen(request: MemberRequest, campaign: Campaign) -> HttpResponse | None:
    if campaign.state == CampaignState.DRAFT:
        return None
    messages.error(request, "The design was frozen at launch: only a draft can be edited.")
    return redirect("annotation:campaign-design", request.project.slug, campaign.pk)


@require_GET
@object_view(campaign_or_404, Role.MANAGER)
def campaign_edit(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Redirect to the first step."""
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, ORDER[0])


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_step(request: MemberRequest, campaign: Campaign, step: str) -> HttpResponse:
    project = request.project
    if frozen := _if_frozen(request, campaign):
        return frozen
    if step == REVIEW:
        return _review(request, campaign)
    form_class = STEPS.get(step)
    if form_class is None:
        raise Http404(f"No step {step!r}; there are {', '.join(ORDER)}.")
    if request.htmx and form_class is WhatStep and request.method == "GET":
        choice = WhatStep(campaign, dataset=request.GET.get("dataset", ""))
        return render(request, "annotation/campaigns/campaign_systems.html", {"form": choice})
    if request.htmx and form_class is RatersStep and request.method == "GET":
        return render(
            request, "annotation/campaigns/campaign_work_ahead.html", {"report": _report_with(request, campaign)}
        )
    form = form_class(campaign, request.POST or None)
    seen = max(whole_numbers(request.POST, "version"), default=None)
    is_complete = form.is_valid()
    if changed := form.submit(campaign_change, campaign=campaign, seen=seen, by=request.user):
        if isinstance(form, QualityStep) and "usual_rules" in form.fields:
            usual_rules_set(campaign=changed, is_on=form.cleaned_data["usual_rules"], by=request.user)
        if isinstance(form, ScreenStep) and changed.instructions:
            _say_of_instructions(request, form, changed, is_rewritten=changed.instructions != campaign.instructions)
        return _next_page(request, changed, step)
    # A form with mistakes was not compared with what others saved: the next attempt is.
    version = campaign.draft_version if seen is None or is_complete else seen
    context = {**_page(project, campaign, step), "form": form, "version": version}
    if form_class is RatersStep:
        context["report"] = launch_report(campaign)
    return render(request, "annotation/campaigns/campaign_form.html", context)


def _say_of_instructions(request: MemberRequest, form: ScreenStep, changed: Campaign, *, is_rewritten: bool) -> None:
    """Say what a new scale or question has changed in the instructions, and what it has not."""
    parts = []
    if is_rewritten:
        parts.append("The scale in the instructions now shows the new points: add when to choose each.")
    if form.questions != [criterion.question for criterion in changed.criteria.all()]:
        parts.append("The question is new; all other words of the instructions are as before: read them again.")
    if speaks_of_another(changed.presentation, changed.instructions):
        parts.append("The instructions still speak of what raters saw before: change them in the step “Words”.")
    if parts:
        messages.info(request, " ".join(parts))


def _report_with(request: MemberRequest, campaign: Campaign) -> LaunchReport:
    """Return the report as if the numbers in the address had been saved, without the invalid ones."""
    form = RatersStep(campaign, request.GET)
    form.is_valid()
    for name in WORK_SETTINGS:
        if name in form.cleaned_data:
            setattr(campaign, name, form.cleaned_data[name])
    return launch_report(campaign)


def _next_page(request: MemberRequest, campaign: Campaign, step: str) -> HttpResponse:
    """Redirect to the step or the prepared screens that the pressed button names, else to the next step."""
    then = request.POST.get("then", "")
    if then == "scale":
        perform(request, instructions_follow, "The instructions describe the scale as it is now.", campaign=campaign)
        return redirect("annotation:campaign-step", request.project.slug, campaign.pk, step)
    kind, _, page = then.partition("/")
    if kind == "ready" and page in READY_MADE:
        perform(request, question_add, f"Added “{READY_MADE[page].label}”.", campaign=campaign, name=page)
        return redirect("annotation:campaign-step", request.project.slug, campaign.pk, step)
    if kind in PREPARED and page in ("new", "lines"):
        return redirect(f"annotation:campaign-screen-{page}", request.project.slug, campaign.pk, kind)
    following = then if then in ORDER else ORDER[ORDER.index(step) + 1]
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, following)


def _page(project: Project, campaign: Campaign, step: str) -> dict[str, Any]:
    index = ORDER.index(step)
    return {
        "project": project,
        "campaign": campaign,
        "step": step,
        "steps": [*((name, form.title) for name, form in STEPS.items()), (REVIEW, "Review")],
        "before": ORDER[index - 1] if index else "",
    }


def _review(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    report = launch_report(campaign)
    context = {
        **_page(request.project, campaign, REVIEW),
        "report": report,
        "problems": [(remark, *step_of(remark.field)) for remark in report.problems],
        "hints": [(remark, *step_of(remark.field)) for remark in report.hints],
    }
    return render(request, "annotation/campaigns/campaign_review.html", context)


def step_of(path: str) -> tuple[str, str, str]:
    """Return name and title of the step that sets a field, and the field's id there; the first step for one of none."""
    root = path.split(".")[0]
    name = next((name for name, form in STEPS.items() if root in form.settles), ORDER[0])
    return name, STEPS[name].title, STEPS[name].anchor_of(path)


# --- Prepared screens -------------------------------------------------------------------------------------------------


def _kind_or_404(kind: str) -> PreparedKind:
    if kind not in PREPARED:
        raise Http404(f"No items of the kind {kind!r}; there are {', '.join(PREPARED)}.")
    return PREPARED[kind]


def _kind_page(project: Project, campaign: Campaign, kind: PreparedKind) -> dict[str, Any]:
    return {**_page(project, campaign, QUALITY), "kind": kind.key, "title": kind.title}


def _to_quality(request: MemberRequest, campaign: Campaign, kind: PreparedKind) -> HttpResponse:
    """Redirect to the items of a kind, in the part of the step that holds them."""
    step = reverse("annotation:campaign-step", args=[request.project.slug, campaign.pk, QUALITY])
    return redirect(f"{step}#prepared-{kind.key}")


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_screen(request: MemberRequest, campaign: Campaign, kind: str, number: int = 0) -> HttpResponse:
    """Edit a prepared screen; number 0 is a new screen."""
    if frozen := _if_frozen(request, campaign):
        return frozen
    prepared = _kind_or_404(kind)
    screens = prepared.screens(campaign)
    if number > len(screens) and request.method == "GET":
        raise Http404(f"No item {number}; there are {len(screens)}.")
    screen = screens[number - 1] if 1 <= number <= len(screens) else None
    if request.htmx and "q" in request.GET:
        return render(request, "annotation/campaigns/campaign_found_texts.html", _found_texts(request, campaign))
    chosen = None if screen else screen_of(campaign.dataset, whole_numbers(request.GET, "response"))
    form = PreparedForm(campaign, kind, request.POST or None, screen=screen or chosen)
    seen = request.POST.get("seen", "") if request.method == "POST" else screen_mark(screen) if screen else ""

    def save(screen: dict[str, Any]) -> int:
        nonlocal seen
        try:
            return screen_save(campaign=campaign, kind=prepared, screen=screen, seen=seen, by=request.user)
        except Overtaken as error:
            seen = ""
            raise AnnotationError(f"{error.message} {OVERTAKEN_SCREEN}") from error

    if stored := form.submit(save):
        if "another" not in request.POST:
            return _to_quality(request, campaign, prepared)
        messages.success(request, f"Saved item {stored}.")
        return redirect("annotation:campaign-screen-new", request.project.slug, campaign.pk, kind)
    removal = reverse("annotation:campaign-screen-remove", args=[request.project.slug, campaign.pk, kind, number])
    context = {
        **_kind_page(request.project, campaign, prepared),
        "form": form,
        "number": number if seen else 0,
        "seen": seen,
        "remove_url": f"{removal}?{urlencode({'seen': seen})}",
        "items": list(campaign.dataset.items.order_by("position")[:IDS_OFFERED]),
        "chosen": chosen,
        **_found_texts(request, campaign),
    }
    return render(request, "annotation/campaigns/campaign_form_prepared.html", context)


def _found_texts(request: MemberRequest, campaign: Campaign) -> dict[str, Any]:
    """Return the search for texts of the data set, and the items that it found; none before a search."""
    search = request.GET.get("q", "").replace("\x00", "").strip()
    found = (
        items_found(campaign.dataset, search, size=ITEMS_FOUND, responses=RESPONSES_FOUND)
        if "q" in request.GET
        else None
    )
    return {"search": search, "found": found, "is_single": campaign.presentation_kind.texts[1] == 1}


@require_POST
@object_view(campaign_or_404, Role.MANAGER)
def campaign_screen_remove(request: MemberRequest, campaign: Campaign, kind: str, number: int) -> HttpResponse:
    """Remove the screen whose mark is in the address; its number may have changed since the page was opened."""
    prepared, seen = _kind_or_404(kind), request.GET.get("seen", "")
    try:
        screen_remove(campaign=campaign, kind=prepared, seen=seen, by=request.user)
    except Overtaken as error:
        messages.error(request, f"{error.message} Nothing was deleted; the items are listed below as they are now.")
    except AnnotationError as error:
        messages.error(request, error.message)
    return _to_quality(request, campaign, prepared)


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
@takes_uploads
def campaign_screen_lines(request: MemberRequest, campaign: Campaign, kind: str) -> HttpResponseBase:
    """Edit all prepared screens of a kind as JSON Lines."""
    if frozen := _if_frozen(request, campaign):
        return frozen
    prepared = _kind_or_404(kind)
    lines = LinesForm.written(prepared.screens(campaign))
    if request.method == "GET" and "download" in request.GET:
        return file_response(lines + "\n", CONTENT_TYPES["jsonl"], f"campaign-{campaign.pk}-{kind}.jsonl")
    form = LinesForm(request.POST or None, request.FILES or None, initial={"lines": lines})
    problems: list[dict[str, Any]] = []
    present = screen_mark(prepared.screens(campaign))
    seen = request.POST.get("seen", "") if request.method == "POST" else present
    if form.is_valid():
        problems = form.problems
        if not problems:
            problems, seen = _lines_stored(request, campaign, prepared, form, seen), present
        if not problems:
            messages.success(request, f"Saved {counted(len(form.screens), 'item')}.")
            return _to_quality(request, campaign, prepared)
    context = {
        **_kind_page(request.project, campaign, prepared),
        "form": form,
        "problems": problems,
        "seen": seen,
        "example": _example_line(campaign, prepared),
    }
    return render(request, "annotation/campaigns/campaign_form_lines.html", context)


def _lines_stored(
    request: MemberRequest, campaign: Campaign, kind: PreparedKind, form: LinesForm, seen: str
) -> list[dict[str, Any]]:
    """Store the screens, or return what is wrong with them, by line."""
    screens = list(form.screens.values())
    try:
        screens_replace(campaign=campaign, kind=kind, screens=screens, seen=seen, by=request.user)
    except AnnotationError as error:
        lines = dict(enumerate(form.screens, start=1))
        problems = []
        for path, texts in (error.fields or {"": [error.message]}).items():
            number, *field = path.removeprefix(f"{kind.field}.{kind.key}").strip(".").split(".")
            line = lines.get(int(number), "") if number.isdecimal() else ""
            problems += [{"line": line, "field": ".".join(field), "text": text} for text in texts]
        return sorted(problems, key=lambda problem: problem["line"] or 0)
    return []


def _example_line(campaign: Campaign, kind: PreparedKind) -> str:
    """Return a screen that would be accepted."""
    criterion = campaign.criteria.first()
    expected = {criterion.name: [criterion.scale_max - 1, criterion.scale_max]} if criterion else {}
    item = campaign.dataset.items.order_by("position").first()
    n_texts = max(campaign.presentation_kind.texts[0], fewest_responses(campaign.criteria.all()))
    texts = [{"text": "A text to rate", "expected": {} if number else expected} for number in range(n_texts)]
    screen: dict[str, Any] = {"item": item.external_id if item else "", "texts": texts}
    if kind.has_feedback:
        screen["feedback"] = "Why this is so."
    return json.dumps(screen, ensure_ascii=False)
